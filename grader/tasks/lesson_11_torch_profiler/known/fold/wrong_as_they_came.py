"""Boxes in the order of occurrence give these wrong answers. This is the order of a flame chart, where time goes from
left to right. A flame graph sorts boxes by name, so that two profiles of one program can be compared.
"""

from wrong_own_time_last import placed


def fold(stacks):
    return placed(stacks, list, lambda width, above: width - sum([each[0] for each in above.values()]))
