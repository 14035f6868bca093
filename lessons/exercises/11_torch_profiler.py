"""Exercises of lesson 11: own times from the events of a trace, and the boxes of a flame graph.

Both are plain Python. What (a) costs is counted in instructions of the processor, by valgrind, (b) in opcodes that the
interpreter executes.

Check your work with      python -m grader check 11_torch_profiler
"""

from typing import Any

Row = list[str | int]

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def self_times(trace: list[dict[str, Any]]) -> list[Row]:
    """Return for each name [name, calls, own ns], most own time first: what the table of a profiler begins with.

    `trace` is the list of events of a trace in Chrome's format. Those with "ph": "X" are complete. Only these count:

        {"ph": "X", "name": "aten::conv2d", "pid": 7, "tid": 7, "ts": 1200, "dur": 417, "cat": …}

    began at 1200 and took 417, until just before 1617, in thread 7 of process 7. (Here times are whole nanoseconds; a
    file has microseconds with a fraction.) pid and tid may be numbers or texts. Events stand in any order, and nothing
    says who called whom. But an event that lies within the time of another one of the same pid and tid was called by
    it, or by what lies within that. No two of them overlap in part. Of two that begin together the longer is the
    outer one, of two with the same times the one that stands first. What begins when another ends is not within it.

    Own time is an event's duration less the durations of those that lie directly within it. `calls` counts events.
    Equal own times come in order of name. Events may lie within thousands of others.

    While it is counted, it is alone with the language, its builtins and a few modules that only compute: array, bisect,
    collections, dataclasses, functools, heapq, itertools, math, operator, re, string and typing.

    Points: 4 of 10 for right answers, 6 for 4 times fewer instructions than the plain way (which looks for the
    outer one of each event among all), 8 for 10 times, all 10 for 25 times. The CPU time is read as well: a count
    is believed up to the third power of the gain that it shows.
    """
    raise NotImplementedError("Return rows of name, calls and own time.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def fold(stacks: list[tuple[list[str], int]]) -> list[Row]:
    """Return the boxes of a flame graph: [depth, name, left µs, width µs], from the bottom up and from left to right.

    `stacks` holds frames, the outermost first, and the microseconds of own time that were measured there. The same
    stack may come many times. Stacks that begin with the same frames share the boxes of these:

        train, forward, conv   30                                         [ conv   30 ]
        train, backward        50                 [   backward   50  ][  forward   40 ]
        train, forward         10         →     [               train   95              ]
        train                   5

        [0, "train", 0, 95], [1, "backward", 5, 50], [1, "forward", 55, 40], [2, "conv", 65, 30]

    A box is as wide as all stacks that begin with its path: its own frame and all frames below it. From left to right,
    above a box, come its own time and then the boxes on it, in order of name. At the bottom the boxes stand in order of
    name as well, the first at 0. A box comes before those that stand on it, and these before the next one beside it. A
    stack without frames has no box, and takes no place. A name may hold any character. Times are 1 or more.

    While it is counted, it is alone with the same modules as (a).

    Points: 4 of 10 for right answers, 6 for 1.8 times fewer opcodes than the plain way (which goes through all boxes
    for each frame of each stack), 8 for 5.2 times, all 10 for 13 times. The CPU time is read as well: a count is
    believed up to the third power of the gain that it shows.
    """
    raise NotImplementedError("Return rows of depth, name, left edge and width.")
