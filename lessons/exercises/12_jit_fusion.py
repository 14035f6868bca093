"""Exercises of lesson 12: one pass instead of many, and the number of calls after which compiling pays.

Task (a) uses real torch. The grader first checks your function on many shapes and strides, and times it only if it is
right. Compiling is not timed: loading the file may take 30 s of CPU time, and each of the first calls 10 s. Task (b)
takes plain numbers, and every answer is either right or wrong.

Check your work with      fairclock check 12_jit_fusion
"""

import numba
import numpy as np
import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def polynomial(x: torch.Tensor) -> torch.Tensor:
    """Return COEFFICIENTS[0] + COEFFICIENTS[1] x + COEFFICIENTS[2] x² + …, element by element.

    `x` is float32 or float64, of one to three dimensions. It may be empty, transposed, expanded, or every other column
    of a wider tensor. Do not change it. Its numbers lie between -1.5 and 1.5, or are NaN. A NaN gives a NaN. The answer
    is a new tensor of the shape and dtype of `x`.

    You may use torch, NumPy and numba. numba compiles a function at the first call with each new dtype. Do not use
    torch.compile: it starts a C++ compiler, but submissions cannot start processes. x.numpy() and
    torch.from_numpy(array) do not copy.

    The function is timed on 131072 numbers in float64, on one thread.

    Points: 4 of 10 for right answers, 7 when 1.35 times as fast as the baseline, all 10 at 5.6×. The baseline computes
    a product, a sum and a power for each coefficient, in 36 passes over memory.
    """
    raise NotImplementedError("Return the polynomial of each element of x.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def break_even(compile_s: float, slow_s: float, fast_s: float) -> int | None:
    """Return the smallest number of calls for which compiling takes at most as much time in total as not compiling.

    compile_s    seconds to compile, once: zero or more
    slow_s       seconds of a call without compiling: more than zero
    fast_s       seconds of a compiled call: more than zero

    With n calls, compiling takes compile_s + n × fast_s in total, and not compiling takes n × slow_s. If the totals are
    equal, compiling pays. The answer is a whole number, at least 1. If compiling never pays, return None.

    Points: 10 for right answers in all of the planted cases.
    """
    raise NotImplementedError("Return the number of calls, or None if compiling never pays.")
