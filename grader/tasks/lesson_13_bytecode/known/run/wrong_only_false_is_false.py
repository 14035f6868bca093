"""Deciding a jump by a comparison with False gives these wrong answers. 0 and 0.0 are false too. Test a value with `if
value` or `not value`.
"""

from wrong_copies_the_top import executed


def run(code, arguments):
    return executed(code, arguments, is_false=lambda value: value is False)
