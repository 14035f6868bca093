"""Exercises of lesson 11: compute own times from the events of a trace, and the boxes of a flame graph.

Both tasks are plain Python. The cost of task (a) is the number of processor instructions, counted by valgrind. The cost
of task (b) is the number of opcodes that the interpreter executes.

Check your work with      python -m grader check 11_torch_profiler
"""

from typing import Any

Row = list[str | int]

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def self_times(trace: list[dict[str, Any]]) -> list[Row]:
    """Return a row [name, calls, own ns] for each name, the largest own time first, as in a profiler's table.

    `trace` is the list of events of a trace in Chrome's format. Only complete events count; they have "ph": "X". The
    event

        {"ph": "X", "name": "aten::conv2d", "pid": 7, "tid": 7, "ts": 1200, "dur": 417, "cat": …}

    began at 1200 and took 417, so it ended just before 1617. It ran in thread 7 of process 7. In this exercise, times
    are whole nanoseconds. A trace file has microseconds with a fraction. pid and tid may be numbers or texts. Events
    may come in any order, and no event names its caller. Two events of the same pid and tid never overlap in part.
    These rules give the callers:

    - an event was called by the innermost event of the same pid and tid whose time contains it;
    - of two events that begin together, the longer one is the outer one;
    - of two events with the same times, the first in the list is the outer one;
    - an event that begins when another event ends is not within that event.

    The own time of an event is its duration minus the durations of the events directly within it. `calls` counts
    events. Sort equal own times by name. Events may be nested thousands deep.

    During the count, your code can import only array, bisect, collections, dataclasses, functools, heapq, itertools,
    math, operator, re, string and typing.

    Points: 4 of 10 for right answers. The baseline searches the outer event of each event among all events. You get 6
    points for 4 times fewer instructions than the baseline, 8 for 10 times fewer, and all 10 for 20 times fewer. The
    grader also measures the CPU time. The gain that counts is at most the third power of the gain in CPU time.
    """
    raise NotImplementedError("Return rows of name, calls and own time.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def fold(stacks: list[tuple[list[str], int]]) -> list[Row]:
    """Return the boxes of a flame graph as rows [depth, name, left µs, width µs].

    Each stack is a list of frames, the outermost first, with the microseconds of own time in this stack. The same stack
    may occur many times. Stacks that begin with the same frames share the boxes of these frames:

        train, forward, conv   30                                         [ conv   30 ]
        train, backward        50                 [   backward   50  ][  forward   40 ]
        train, forward         10         →     [               train   95              ]
        train                   5

        [0, "train", 0, 95], [1, "backward", 5, 50], [1, "forward", 55, 40], [2, "conv", 65, 30]

    The path of a box is its own frame and all frames below it. The width of a box is the total time of all stacks that
    begin with its path. On top of a box, the space for its own time is on the left. Then come the boxes on top, in
    order of name. The boxes at the bottom are in order of name too, and the first begins at 0. In the answer, a box
    comes before the boxes on top of it, and these come before the next box beside it. A stack without frames has no
    box, and takes no space. A name may contain any character. Times are at least 1.

    During the count, your code can import the same modules as in task (a).

    Points: 4 of 10 for right answers. The baseline goes through all boxes for each frame of each stack. You get 6
    points for 1.8 times fewer opcodes than the baseline, 8 for 5.2 times fewer, and all 10 for 13 times fewer. The
    grader also measures the CPU time. The gain that counts is at most the third power of the gain in CPU time.
    """
    raise NotImplementedError("Return rows of depth, name, left edge and width.")
