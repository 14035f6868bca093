"""Uses Horner's method, (c2 x + c1) x + c0: no powers, two passes for each coefficient."""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    total = torch.full_like(x, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total = total * x
        total = total + coefficient
    return total
