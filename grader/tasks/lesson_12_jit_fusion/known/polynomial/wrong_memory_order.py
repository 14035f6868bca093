"""Reading numbers in memory order and writing them row by row gives this wrong answer. A transposed tensor is not
stored row by row. Call x.contiguous() first.
"""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    flat = x.t().reshape(-1) if x.ndim == 2 and x.stride(0) < x.stride(1) else x.reshape(-1)
    total = torch.full_like(flat, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total.mul_(flat).add_(coefficient)
    return total.view(x.shape)
