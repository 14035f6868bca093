"""Passes the formula for one number to numba.vectorize, which makes the loop for all shapes and strides.

Trade: numba makes the loop for all shapes and strides. It compiles two versions when the file is imported.
"""

import numba
import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)
C = COEFFICIENTS


@numba.vectorize(["float32(float32)", "float64(float64)"])
def formula(x):
    high = (((((C[11] * x + C[10]) * x + C[9]) * x + C[8]) * x + C[7]) * x + C[6]) * x + C[5]
    return ((((high * x + C[4]) * x + C[3]) * x + C[2]) * x + C[1]) * x + C[0]


def polynomial(x):
    return torch.from_numpy(formula(x.numpy()))
