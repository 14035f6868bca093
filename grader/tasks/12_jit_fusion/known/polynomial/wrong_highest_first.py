"""The coefficients were taken from the wrong end: COEFFICIENTS[0] is the one without x. Horner's way begins with the last
of them."""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    total = torch.zeros_like(x)
    for coefficient in COEFFICIENTS:
        total = total * x + coefficient
    return total
