"""Returning the first slow case from the fuzzer gives these wrong answers. Reduce each part of that case as long as it
stays slow.
"""

from baseline import is_slow


def smallest_slow_case(f, fuzzer, measure):
    return first_slow(fuzzer, lambda case: is_slow(f, measure, case, 3))


def first_slow(fuzzer, slow):
    case = fuzzer()
    while not slow(case):
        case = fuzzer()
    return case
