"""The times of statements that are measured alternately."""

import timeit
from collections.abc import Mapping

Times = dict[str, list[float]]
"""The seconds per call of each statement, one number for each turn."""


def in_turns(statements: Mapping[str, int], names: dict[str, object], turns: int) -> Times:
    """Return the seconds per call of statements over `names`. `statements` contains the number of calls of each.

    Each turn measures each statement once: the fastest of three runs.
    """
    timers = {each: timeit.Timer(each, globals=names) for each in statements}
    times: Times = {each: [] for each in statements}
    for _ in range(turns):
        for each, calls in statements.items():
            times[each].append(min(timers[each].repeat(3, calls)) / calls)
    return times
