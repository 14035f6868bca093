"""Lesson 01 · A fast wrong answer is worth nothing.

Two tasks: write `batched_dot`, and write what tells whether such a function is right. Then check them:

    python -m grader check 01_correct_first
"""

import math
from collections.abc import Callable
from typing import Any

import torch

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points
#
# It is checked on many small cases first: empty ones, strided ones, three dtypes. Only a right answer is timed.


def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the dot product of each row of `a` with the same row of `b`.

    `a` and `b` have the same shape (batch, n) and the same dtype: float32, float64 or int64. The answer has shape
    (batch,) and that dtype. Both may be empty, strided, or the same tensor; leave them as they are.

    Points: 4 of 10 for right answers, 6 when 1.5 times as fast as a loop of `torch.dot`, 8 at 3.5×, all 10 at 8×.
    """
    raise NotImplementedError("Return the dot product of each row of a with the same row of b.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points
#
# Somebody has written a fast batched_dot, called g. f is slow and right. You see neither's code, only what they
# answer on a list of cases. Some g are right and round differently; some are wrong, each in a way of its own.

Case = dict[str, Any]
Reference = Callable[[Case], tuple[list[float], list[float]]]


def agrees(f: Reference, g: Callable[[Case], list[float]], cases: list[Case]) -> bool:
    """Return whether g is right on all cases.

    cases   a list of dicts, such as {"number": 7, "rows": 3, "n": 64, "dtype": "float32", "about": "strided"}.
            dtype is float32, float64 or int64. The tensors are not shown: both functions look at the same ones.
    f       values, magnitudes = f(case): for each row the dot product in float64 (exact for int64), and the sum of
            the magnitudes of its products, Σ|a·b|
    g       values = g(case): for each row the dot product as g has computed it, in the case's dtype

    g is right on a case when

    - it gives one number for each row, and leaves the tensors as they were;
    - where f has a finite value, it differs from that by at most (n + 1) · eps · magnitude, which is what rounding
      can do to such a sum. eps is 2⁻²³ in float32 and 2⁻⁵² in float64; int64 does not round, so there it is 0;
    - where f has NaN it has NaN, and where f has an infinity it has the same one.

    Return True only after f and g have both seen every case, and False only after both have seen one on which g is
    wrong.

    Points: 4 of 10 for a right answer. The fewer calls of f and g you need, the more points: 6 for 1.5 times fewer
    than a baseline that asks anew in each row, 8 for 3.5 times fewer, all 10 for 11 times fewer. In each
    world you may call f and g 200000 times together.
    """
    raise NotImplementedError("Compare f(case) with g(case) on the cases, and return True or False.")
