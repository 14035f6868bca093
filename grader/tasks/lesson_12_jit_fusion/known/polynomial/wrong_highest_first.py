"""Coefficients in reverse order give this wrong answer. COEFFICIENTS[0] is the constant term. Horner's method begins
with the last coefficient.
"""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    total = torch.zeros_like(x)
    for coefficient in COEFFICIENTS:
        total = total * x + coefficient
    return total
