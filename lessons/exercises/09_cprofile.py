"""Exercises of lesson 09: compute own times from a call tree, and find a hidden hot spot.

Both tasks are timed. (a) `own_time` is plain Python. (b) The baseline of `scores` is the function `plain` below, so
profile `plain` first.

Check your work with      fairclock check 09_cprofile
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # task (a) needs no torch, and task (b) needs only the methods of tensors
    from torch import Tensor

Row = list[str | int]

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def own_time(stats: list[tuple[int, str, int, int]]) -> list[Row]:
    """Return a row [name, calls, own µs, cumulative µs] for each function, the largest own time first.

    `stats` is a call tree of rows (depth, name, calls, total µs). A function has one row for each path of calls that
    leads to it. The caller of a row is the nearest row above it whose depth is one less. A row at depth 0 has no
    caller. An example:

        0  main   1  100        main      1  10  100
        1  load   2   60        load      2  20   60
        2  parse  9   40   →    parse    12  70   70
        1  parse  3   30

    The own time of a row is its total minus the totals of the rows that it calls, which are one deeper. The own time of
    a function is the sum over its rows. Its cumulative time is the sum of the totals of its rows. Rows below another
    row of the same function do not count, because the total of that row includes them. Sort equal own times by name.
    All times are whole numbers. Trees may be thousands of rows deep.

    Points: 4 of 10 for right answers. The baseline searches callers and called rows among all rows, for each function
    again. You get 7 points if your function is 2.2 times as fast as the baseline, and all 10 for 6 times. Both are
    timed on trees of 400 rows, up to 100 deep.
    """
    raise NotImplementedError("Return rows of name, calls, own and cumulative time.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points
#
# These six functions are the baseline. Do not change them, because your function is compared with them.


def without_trend(x: "Tensor") -> "Tensor":
    """Return each row minus the straight line that fits it best."""
    t = x.new_tensor(range(x.shape[1]))
    t = t - t.mean()
    slope = (x * t).sum(1, keepdim=True) / (t * t).sum().clamp(min=1.0)
    return x - x.mean(1, keepdim=True) - slope * t


def smoothed(x: "Tensor") -> "Tensor":
    """Return weighted means of each number and two neighbours on each side. The last number is next to the first."""
    total = x * 0.4
    for distance, weight in ((1, 0.2), (2, 0.1)):
        for direction in (-1, 1):
            total = total + weight * x.roll(direction * distance, 1)
    return total


def spread(x: "Tensor", row: int) -> "Tensor":
    """Return the spread of one row: the median distance of its numbers from their median."""
    middle = x.median(1, keepdim=True).values
    return (x - middle).abs().median(1).values[row]


def bounded(x: "Tensor") -> "Tensor":
    """Return each row clipped to plus or minus three times its spread."""
    y = x.clone()
    for row in range(len(y)):
        limit = 3 * spread(x, row)
        y[row] = x[row].clamp(-limit, limit)
    return y


def scaled(x: "Tensor") -> "Tensor":
    """Return each row divided by (its largest absolute value + 1)."""
    return x / (x.abs().amax(1, keepdim=True) + 1)


def plain(x: "Tensor") -> "Tensor":
    """Return the scores of each row. This is the baseline, which computes them step by step."""
    return scaled(bounded(smoothed(without_trend(x))))


def scores(x: "Tensor") -> "Tensor":
    """Return the same scores as `plain`, in less time.

    `x` has a series in each row. It has shape (n, d) and dtype float32 or float64, and may be not contiguous. All
    numbers are finite. n may be 0, and d is at least 2. The answer is a new tensor of that shape and dtype. Do not
    change `x`. If d is even, a median is the lower of the two middle numbers, as in torch.

    One of the four steps of `plain` takes nearly all of the time, although it does not look expensive. So profile
    `plain` first: run `python -i lessons/exercises/09_cprofile.py`, and then

        import cProfile, torch
        cProfile.run("plain(torch.rand(48, 1024))", sort="tottime")

    The timed input is (48, 1024) float32, on one thread.

    Points: 4 of 10 for right answers, 7 when 1.35 times as fast as `plain`, all 10 at 5×.
    """
    raise NotImplementedError("Return the same as plain(x), without its hot spot.")
