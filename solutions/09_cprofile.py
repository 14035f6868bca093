"""Exercises of lesson 09: from a call tree to own times, and a hot spot that is not where it seems to be.

(a) `own_time` is plain Python. What it costs is counted: the opcodes that the interpreter executes for it.
(b) `scores` is timed. The plain way, `plain`, is written out below: profile it first.

Check your work with      python -m grader check 09_cprofile
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # (a) is counted where there is no torch, and (b) needs nothing of it but what a tensor can do
    from torch import Tensor

Row = list[str | int]

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def own_time(stats: list[tuple[int, str, int, int]]) -> list[Row]:
    """Return for each function [name, calls, own µs, cumulative µs], most own time first.

    `stats` is a call tree, a row for each place in it: (depth, name, calls, total µs). A row's caller is the nearest
    row above it that is one less deep; at depth 0 there is none. So a function has a row for each way it was come to:

        0  main   1  100        main      1  10  100
        1  load   2   60        load      2  20   60
        2  parse  9   40   →    parse    12  70   70
        1  parse  3   30

    The total of a row holds the totals of the rows that it calls, one deeper. Its own time is what remains. A
    function's own time is the sum over its rows. So is its cumulative time, but without the rows that lie below another
    row of the same function: their totals are within that one's. Equal own times come in order of name. All times are
    whole numbers. Trees may be thousands of rows deep.

    While it is counted, it is alone with the language, its builtins and a few modules that only compute: array, bisect,
    collections, dataclasses, functools, heapq, itertools, math, operator, re, string and typing. If (b) takes another,
    import that inside (b).

    Points: 4 of 10 for right answers, 6 for 1.25 times fewer opcodes than the plain way (which looks for callers and
    called among all rows, for each function anew), 8 for 4 times, all 10 for 8 times. The CPU time is read as well: a
    count is believed up to the third power of the gain that it shows.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return rows of name, calls, own and cumulative time.")
    found: dict[str, list[int]] = {}
    path: list[str] = []
    for depth, name, calls, total in stats:
        del path[depth:]  # what is open now: the callers of this row
        row = found.setdefault(name, [0, 0, 0])
        row[0] += calls
        row[1] += total
        if path:
            found[path[-1]][1] -= total
        if name not in path:
            row[2] += total
        path.append(name)
    ordered = sorted((-own, name, calls, total) for name, (calls, own, total) in found.items())
    return [[name, calls, -own, total] for own, name, calls, total in ordered]
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points
#
# These six functions are the plain way. Leave them as they are, to compare with.


def without_trend(x: "Tensor") -> "Tensor":
    """Return each row less the straight line that fits it best."""
    t = x.new_tensor(range(x.shape[1]))
    t = t - t.mean()
    slope = (x * t).sum(1, keepdim=True) / (t * t).sum().clamp(min=1.0)
    return x - x.mean(1, keepdim=True) - slope * t


def smoothed(x: "Tensor") -> "Tensor":
    """Return each row averaged with its neighbours, two on either side; the ends are neighbours."""
    total = x * 0.4
    for distance, weight in ((1, 0.2), (2, 0.1)):
        for direction in (-1, 1):
            total = total + weight * x.roll(direction * distance, 1)
    return total


def spread(x: "Tensor", row: int) -> "Tensor":
    """Return how far the numbers of one row lie from their median: the median of that."""
    middle = x.median(1, keepdim=True).values
    return (x - middle).abs().median(1).values[row]


def bounded(x: "Tensor") -> "Tensor":
    """Return each row cut off at three times its spread, below and above."""
    y = x.clone()
    for row in range(len(y)):
        limit = 3 * spread(x, row)
        y[row] = x[row].clamp(-limit, limit)
    return y


def scaled(x: "Tensor") -> "Tensor":
    """Return each row divided by one more than its largest size."""
    return x / (x.abs().amax(1, keepdim=True) + 1)


def plain(x: "Tensor") -> "Tensor":
    """Return the scores of some series, the plain way."""
    return scaled(bounded(smoothed(without_trend(x))))


def scores(x: "Tensor") -> "Tensor":
    """Return what `plain` returns, faster.

    `x` has a series in each row: (n, d) of float32 or float64, all finite, maybe not contiguous. n may be 0; d is 2 or
    more. The answer is a new tensor of that shape and dtype. Leave `x` as it is. (A median is the lower of the two in
    the middle where d is even, as it is torch's.)

    One of the steps takes nearly all of the time, and it is not the one that looks like it. Do not guess:
    `python -i lessons/exercises/09_cprofile.py`, and then

        import cProfile, torch
        cProfile.run("plain(torch.rand(64, 96))", sort="tottime")

    It is timed on (64, 96) float32, on one thread.

    Points: 4 of 10 for right answers, 7 when 1.35 times as fast as `plain`, all 10 at 5×.
    """
    # BEGIN SOLUTION
    # STUB: raise NotImplementedError("Return what plain(x) returns, without its hot spot.")
    # `spread` works out all rows and keeps one, and it is called for each row: once is enough, for all of them.
    y = smoothed(without_trend(x))
    middle = y.median(1, keepdim=True).values
    limits = 3 * (y - middle).abs_().median(1, keepdim=True).values
    return scaled(y.clamp(-limits, limits))
    # END SOLUTION
