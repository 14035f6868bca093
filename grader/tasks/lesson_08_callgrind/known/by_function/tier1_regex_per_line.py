"""Splits each line with a compiled regular expression, and adds up in a dict.

Trade: The pattern states the format of a line. A match takes longer than a search for a space.
"""

import re

LINE = re.compile(r"([+-]?\d+) (.*)", re.DOTALL)


def by_function(lines):
    totals = {}
    for line in lines:
        number, name = LINE.fullmatch(line).groups()
        if name in totals:
            totals[name] += int(number)
        else:
            totals[name] = int(number)
    ordered = sorted((-total, name) for name, total in totals.items() if total)
    return [[name, -minus] for minus, name in ordered]
