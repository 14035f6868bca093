"""Exercises of lesson 12: one pass in place of many, and the number of calls after which compiling has paid.

Task (a) is real torch: checked on many shapes and strides first, and only a right one is timed. Compiling is not:
neither what happens while the file is loaded (30 s of CPU time at most) nor the first calls (10 s each) count. Task (b)
takes plain numbers, and every answer is either right or wrong.

Check your work with      python -m grader check 12_jit_fusion
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
    of something wider; leave it as it is. Its numbers lie between -1.5 and 1.5, or are NaN, which gives NaN. The answer
    is a new tensor of its shape and dtype.

    You may use torch, NumPy and numba, which compiles what it is given at the first call with each new dtype.
    torch.compile starts a C++ compiler, and a submission can start nothing. x.numpy() and torch.from_numpy(array) copy
    nothing.

    It is timed on 262144 numbers, float32, on one thread.

    Points: 4 of 10 for right answers, 7 when 1.35 times as fast as the plain way (a product, a sum and a power for
    each coefficient, 36 passes in all), all 10 at 5×.
    """
    raise NotImplementedError("Return the polynomial of each element of x.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def break_even(compile_s: float, slow_s: float, fast_s: float) -> int | None:
    """Return the fewest calls after which compiling has taken no more time than not compiling.

    compile_s    seconds to compile, once: zero or more
    slow_s       seconds of a call as it is: more than zero
    fast_s       seconds of a call once compiled: more than zero

    With n calls that is compile_s + n × fast_s against n × slow_s. The answer is a whole number, 1 or more, for nobody
    compiles for no call at all; equal counts as paid. Where it never pays, however many calls there are, return None.

    Points: 10 for right answers in all of the planted cases.
    """
    raise NotImplementedError("Return the number of calls, or None where it never pays.")
