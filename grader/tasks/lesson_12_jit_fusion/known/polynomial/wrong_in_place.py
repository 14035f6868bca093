"""Computing the powers in x itself has this effect: after the call, the caller's x has changed. Begin with a new
tensor.
"""

import torch

COEFFICIENTS = (0.5, -1.25, 0.75, 2.0, -0.125, 0.375, -0.625, 1.5, 0.25, -0.875, 0.0625, -0.3125)


def polynomial(x):
    base = x.clone()
    total = torch.full_like(x, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:-1]:
        total += coefficient * x
        if x.is_contiguous():
            x *= base
        else:
            x = x * base
    return total + COEFFICIENTS[-1] * x
