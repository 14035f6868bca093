"""Exercise of lesson 07: find the smallest input that hurts, then make one hurt less.

Task (a) runs on a simulated machine, so every answer is either right or wrong. Task (b) is real torch: it is checked on
many shapes and strides first, and only a right one is timed.

Check your work with      python -m grader check 07_fuzzing
"""

from collections.abc import Callable

import torch

Case = dict[str, int | bool]

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def smallest_slow_case(f: str, fuzzer: Callable[[], Case], measure: Callable[[str, Case], float]) -> Case:
    """Return the smallest case on which the operation `f` is slow.

    f          here only its name, to be passed on
    fuzzer     fuzzer() draws a random case, as many as you like
    measure    measure(f, case) returns the seconds that f takes on a case, drawn or made up by you

    A case is a matrix, as a dict: {"rows": 300, "columns": 40, "step": 2, "transposed": True}. Rows and columns are
    whole numbers from 1 to 4096, the step between columns in memory is one from 1 to 16, and rows × columns × step is
    at most 1048576.

    A case is slow when f takes 3 times as long on it as on its plain twin, or more. The plain twin has the same rows
    and columns, step 1, and is not transposed. What is slow is clearly slow (5 times and more), and what is not is
    clearly not (below 1.5 times). A slow case stays slow with more rows, more columns, a larger step, or transposed.

    The smallest has the fewest elements, the smallest step with which those are still slow, and is transposed only if
    it must be.

    Measuring is not exact: 4 % up or down, and now and then a measurement is disturbed and takes 4 to 8 times as
    long. Never two in a row.

    Your function is tried in 48 simulated worlds.

    Points: 4 of 10 for right answers. The fewer measurements you need, the more points: 6 for 1.4 times fewer than a
    student makes who walks down step by step, 8 for 2.7 times, all 10 for 5.1 times. Drawing cases is free. In each
    world you may call fuzzer and measure 200000 times together.
    """
    raise NotImplementedError("Find a slow case, make it smaller while it stays slow, and return it.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def larger_squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the square of the larger minus the smaller, element by element: max(x, y)² - min(x, y).

    `x` and `y` have the same shape, of one to three dimensions, and the same dtype: float32, float64 or int64. The
    answer is a new tensor of that shape and dtype. Both may be empty, transposed, permuted, expanded, every other
    column of something wider, or the same tensor; leave them as they are. A NaN in either gives a NaN.

    It is timed on (1024, 1024) float32, one of the two transposed, on one thread.

    Points: 4 of 10 for right answers, 7 when 2.1 times as fast as the plain line
    `torch.where(x > y, x, y) * torch.where(x > y, x, y) - torch.where(x > y, y, x)`, all 10 at 4.2×.
    """
    raise NotImplementedError("Return max(x, y)² - min(x, y), element by element, as a new tensor.")
