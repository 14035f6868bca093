"""Exercises of lesson 11: compute a profiler's own times and a flame graph, and find an expensive call.

All tasks are timed. Tasks (a) and (b) are plain Python. The baseline of task (c) is the function `plain` below, so
profile `plain` first.

Check your work with      fairclock check 11_torch_profiler
"""

# BEGIN SOLUTION
from itertools import takewhile
from operator import eq, itemgetter

# END SOLUTION
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # tasks (a) and (b) need no torch, and task (c) needs only the methods of tensors
    from torch import Tensor

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

    Points: 4 of 10 for right answers. The baseline searches the outer event of each event among all events. You get 6
    points if your function is 2.6 times as fast as the baseline, 8 for 9.8 times, and all 10 for 22.5 times. Both
    are timed on traces of two threads, with 250 events each.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return rows of name, calls and own time.")
    threads: dict[tuple[Any, Any], list[tuple[int, int, str]]] = {}
    for event in trace:
        if event["ph"] == "X":
            begins = event["ts"], -event["dur"], event["name"]
            threads.setdefault((event["pid"], event["tid"]), []).append(begins)
    calls: dict[str, int] = {}
    own: dict[str, int] = {}
    for events in threads.values():
        events.sort(key=itemgetter(0, 1))  # outer events first; sorting is stable
        open_names: list[str] = []
        open_ends: list[int] = []
        for start, minus, name in events:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
                open_names.pop()
            if open_ends:
                own[open_names[-1]] += minus
            calls[name] = calls.get(name, 0) + 1
            own[name] = own.get(name, 0) - minus
            open_names.append(name)
            open_ends.append(start - minus)
    return [[name, calls[name], own[name]] for name in sorted(own, key=lambda each: (-own[each], each))]
    # END SOLUTION


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

    Points: 4 of 10 for right answers. The baseline goes through all boxes for each frame of each stack. You get 7
    points if your function is 3 times as fast as the baseline, and all 10 for 8.1 times. Both are timed on 2000
    stacks, of which 60 differ.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return rows of depth, name, left edge and width.")
    times: dict[tuple[str, ...], int] = {}
    for frames, us in stacks:
        path = tuple(frames)
        times[path] = times.get(path, 0) + us
    times.pop((), None)
    rows: list[Row] = []
    lefts: list[int] = []  # left edges of the open boxes, from the bottom up; `places` holds the indices of their rows
    places: list[int] = []
    before: tuple[str, ...] = ()
    now = 0
    for path in [*sorted(times), ()]:  # stacks with the same beginning are now neighbours
        shared = sum(takewhile(bool, map(eq, before, path)))
        for depth in range(shared, len(before)):
            rows[places[depth]][3] = now - lefts[depth]
        del lefts[shared:], places[shared:]
        for depth in range(shared, len(path)):
            lefts.append(now)
            places.append(len(rows))
            rows.append([depth, path[depth], now, 0])
        now += times.get(path, 0)
        before = path
    return rows
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Task (c), 10 points
#
# These five functions are the baseline. Do not change them, because your function is compared with them.

ROUNDS = 6


def product(first: "Tensor", *others: "Tensor") -> "Tensor":
    """Return the matrix product of all arguments."""
    for other in others:
        first = first @ other
    return first


def outward(x: "Tensor", hall: "Tensor", door: "Tensor", room: "Tensor") -> "Tensor":
    """Return the sounds in the columns of `x` after their way through the hall, the door and the room."""
    return product(room, door, hall, x)


def mixed(y: "Tensor", mix: "Tensor") -> "Tensor":
    """Return `y` after `ROUNDS` rounds. In each round, a matrix product mixes the columns."""
    for _ in range(ROUNDS):
        y = 0.5 * (y + product(y, mix))
    return y


def back(y: "Tensor", hall: "Tensor", door: "Tensor", room: "Tensor") -> "Tensor":
    """Return the sounds in the columns of `y` after their way back through the room, the door and the hall."""
    return product(y.T, room, door, hall).T


def plain(x: "Tensor", hall: "Tensor", door: "Tensor", room: "Tensor", mix: "Tensor") -> "Tensor":
    """Return the sounds without their echo. This is the baseline, which computes the echo step by step."""
    echo = outward(x, hall, door, room)
    echo = mixed(echo.clamp(-1, 1), mix)
    return x - back(echo, hall, door, room)


def without_echo(x: "Tensor", hall: "Tensor", door: "Tensor", room: "Tensor", mix: "Tensor") -> "Tensor":
    """Return the same sounds as `plain`, in less time.

    `x` has shape (n, m), with a sound in each column. The filters have these shapes: hall (a, n), door (b, a), room
    (c, b). The shape of mix is (m, m). Only m may be 0. All tensors are float32, or all are float64. They may be not
    contiguous, and all numbers are finite. The answer is a new tensor with the shape and dtype of x. Do not change any
    argument.

    `plain` calls aten::mm, the operator for matrix products, 12 times. A table by operator adds up these calls. Only a
    table by shapes shows which calls are expensive. Run `python -i lessons/exercises/11_torch_profiler.py`, and then

        import torch
        from torch.profiler import profile
        torch.set_num_threads(1)
        sizes = (640, 16), (640, 640), (640, 640), (640, 640), (16, 16)
        given = [torch.randn(size) / 25 for size in sizes]
        answer = plain(*given)  # the warm-up
        found = profile(record_shapes=True)
        found.start(); answers = [plain(*given) for _ in range(10)]; found.stop()
        print(found.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=6))

    The timed input has these shapes and dtype float32, on one thread. Then profile your own function in the same way.

    Points: 4 of 10 for right answers, all 10 when 3 times as fast as `plain`.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return the same sounds as plain, without its expensive products.")
    # `product` begins with the two matrices on the left. In `outward` they are large, and the small matrix is last.
    echo = room @ (door @ (hall @ x))
    echo = mixed(echo.clamp(-1, 1), mix)
    return x - back(echo, hall, door, room)
    # END SOLUTION
