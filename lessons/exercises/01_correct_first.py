"""Exercises of lesson 01: a fast and right weighted dot product, and a test of fast dot products.

There are two tasks: write `batched_dot`, and write a function that decides whether another dot product is right.
Check your work with

    fairclock check 01_correct_first
"""

import math
from collections.abc import Callable
from typing import Any

import torch

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points
#
# The grader first checks your function on many small cases: empty and strided tensors, and three dtypes. Only a
# function that is right on all cases is timed.


def batched_dot(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Return the weighted dot product of each row of `a` with the same row of `b`: the sum of a·b·w over the row.

    `a` and `b` have the same shape (batch, n). `w` has shape (n,): one weight for each column. All three have the same
    dtype: float32, float64 or int64. The answer has shape (batch,) and that dtype. The inputs may be empty or strided,
    and may share memory. Do not change the inputs.

    Points: 4 of 10 for right answers, 6 when 1.5 times as fast as a loop of `torch.dot`, 8 at 3.5×, all 10 at 8×.
    """
    raise NotImplementedError("Return the weighted dot product of each row of a with the same row of b.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points
#
# f is a slow dot product of matching rows, without weights, that is right. g is a fast one that may be wrong. You
# cannot see their code, but you can call f and g on a list of cases. Some functions g are right and round differently.
# Each wrong g has a different fault.

Case = dict[str, Any]
Reference = Callable[[Case], tuple[list[float], list[float]]]


def agrees(f: Reference, g: Callable[[Case], list[float]], cases: list[Case]) -> bool:
    """Return whether g is right on all cases.

    cases   a list of dicts, such as {"number": 7, "rows": 3, "n": 64, "dtype": "float32", "about": "strided"}.
            dtype is float32, float64 or int64. The tensors themselves are hidden: f and g read the same tensors.
    f       values, magnitudes = f(case): for each row the dot product in float64 (exact for int64), and the sum of
            the magnitudes of its products, Σ|a·b|
    g       values = g(case): for each row the dot product that g computed, in the case's dtype

    g is right on a case when

    - it returns one number for each row, and does not change the tensors;
    - where f has a finite value, g differs from it by at most (n + 1) · eps · magnitude. Rounding can cause such an
      error. eps is 2⁻²³ in float32 and 2⁻⁵² in float64. It is 0 in int64, where nothing is rounded;
    - where f has NaN, g has NaN, and where f has an infinity, g has the same infinity.

    Return True only after you have called f and g on every case. Return False only after you have called f and g on a
    case on which g is wrong.

    Points: 4 of 10 for a right answer. The baseline calls f and g again in each row. You get 6 points for 1.5 times
    fewer calls than the baseline. You get 8 points for 3.5 times fewer calls, and all 10 for 11 times fewer. In each
    simulated scenario you may call f and g 200000 times together.
    """
    raise NotImplementedError("Compare f(case) with g(case) on the cases, and return True or False.")
