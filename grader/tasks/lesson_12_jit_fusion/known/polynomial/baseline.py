"""Computes the formula term by term. A product, a sum and the next power for each coefficient take one pass each."""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    total, power = torch.zeros_like(x), torch.ones_like(x)
    for coefficient in COEFFICIENTS:
        term = power * coefficient
        total = total + term
        power = power * x
    return total
