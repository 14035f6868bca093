"""Computing in float32 for every dtype gives this wrong answer. A float64 answer then has only the digits of float32.
Convert the coefficients and intermediate values to the dtype of x.
"""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    y = x.to(torch.float32)
    total = torch.full_like(y, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total.mul_(y).add_(coefficient)
    return total.to(x.dtype)
