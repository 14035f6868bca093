"""Exercises of lesson 10: the same answer in half of the memory, and a pipeline that asks for memory once.

(a) `nearest` is measured by the most memory that its process holds at once. Linux tells that; elsewhere it cannot be
    graded.
(b) `tone_curve` is timed.

Check your work with      python -m grader check 10_memory
"""

import torch

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def nearest(x: torch.Tensor, y: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return for each row of `x` the squared distance to the nearest row of `y`, each column measured in its own scale.

    The distance of two rows is the sum over columns of ((x - y) / scale)². `x` is (n, d), `y` is (m, d), `scale` is
    (d,) and positive; all are float32 or all float64, maybe not contiguous. The answer is a new tensor (n,) of that
    dtype. n may be 0, m and d are 1 or more. Leave the inputs as they are; rows may be far from zero and near each
    other, and a NaN in either row gives a NaN.

    It is measured on n = m = 1024, d = 24, in float32. All that your file holds counts, from its import on, for three
    calls in a row. While it is measured it can make no files, pipes or processes.

    Points: 4 of 10 for right answers, 7 for 83 % of the peak of the plain way (which gives a name to the array of all
    differences, to the scaled one and to the squared one), all 10 for 25 %.
    """
    raise NotImplementedError("Return the distance to the nearest row of y, for each row of x.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def tone_curve(x: torch.Tensor) -> torch.Tensor:
    """Return a picture with more contrast: t = 1.5x - 0.25, cut off below 0 and above 1; then 255 t² (3 - 2t) + 16.

    `x` has any shape, maybe empty or not contiguous, in float32 or float64, and the answer has that shape and dtype. A
    NaN stays one. Leave `x` as it is: it is the caller's. Everything else is yours, and may be changed in place. Your
    answer is copied as soon as you have returned it, so that you may write over it in the next call.

    It is timed on 262144 numbers in float32, on one thread, where every large tensor is new memory from the system, as
    it is anywhere beyond 32 MiB.

    Points: 4 of 10 for right answers, all 10 when 2.7 times as fast as the plain way, a new tensor for each of nine
    steps.
    """
    raise NotImplementedError("Return the picture with more contrast.")
