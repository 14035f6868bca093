"""The loop works in float32 whatever it is given: a float64 answer then has the digits of a float32. Let the coefficients
and what is between them have the dtype of x."""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    y = x.to(torch.float32)
    total = torch.full_like(y, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total.mul_(y).add_(coefficient)
    return total.to(x.dtype)
