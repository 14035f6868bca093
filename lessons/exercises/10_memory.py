"""Exercises of lesson 10: the same answer with less peak memory, and a pipeline that allocates memory only once.

(a) `nearest` is graded by its peak memory: the most memory that its process holds at once. The grader can measure this
    only on Linux.
(b) `tone_curve` is timed.

Check your work with      fairclock check 10_memory
"""

import torch

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def nearest(x: torch.Tensor, y: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return for each row of `x` the squared distance to the nearest row of `y`, with a scale for each column.

    The squared distance of two rows is the sum over columns of ((x - y) / scale)². `x` is (n, d), `y` is (m, d), and
    `scale` is (d,) and positive. All are float32 or all float64, and may be not contiguous. The answer is a new tensor
    (n,) of that dtype. n may be 0, and m and d are at least 1. Do not change the inputs. The numbers in rows may be far
    from zero, and rows may be near each other. A NaN in either row gives a NaN.

    The grader measures n = m = 1024, d = 96, in float32. All memory that your file uses counts, during its import and
    during three calls in a row, also the code of torch and of other packages. Meanwhile your code cannot make files,
    pipes or processes.

    Points: 4 of 10 for right answers, 7 for 80 % of the baseline's peak, all 10 for 25 %. The baseline keeps three
    arrays for all pairs of rows: differences, scaled differences and their squares.
    """
    raise NotImplementedError("Return the distance to the nearest row of y, for each row of x.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def tone_curve(x: torch.Tensor) -> torch.Tensor:
    """Return a picture with more contrast: 255 t² (3 - 2t) + 16, where t is 1.5x - 0.25 clipped to 0 and 1.

    `x` has any shape, may be empty or not contiguous, and is float32 or float64. The answer has that shape and dtype. A
    NaN stays a NaN. Do not change `x`. You may change all other tensors in place. The grader copies your answer as soon
    as you return it, so the next call may overwrite it.

    The function is timed on 1048576 numbers in float32, on one thread.

    Points: 4 of 10 for right answers, all 10 when 1.65 times as fast as the baseline. The baseline computes strips of
    8192 numbers, in nine steps with a new tensor each, and appends every strip to the answer with torch.cat.
    """
    raise NotImplementedError("Return the picture with more contrast.")
