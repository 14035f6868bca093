"""Uses Horner's method with torch's fused operation a + b c, and writes each result over the last one.

Trade: It needs no compiler, and only one new tensor. Each coefficient is still a pass over the memory.
"""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    coefficients = torch.tensor(COEFFICIENTS, dtype=x.dtype)
    total = torch.full_like(x, COEFFICIENTS[-1], memory_format=torch.contiguous_format)
    for power in range(len(COEFFICIENTS) - 2, -1, -1):
        torch.addcmul(coefficients[power], total, x, out=total)
    return total
