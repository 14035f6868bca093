"""contiguous() copies only what is not contiguous yet; where it is, it gives back the very same tensor. Writing into
that spoils the caller's input."""

import torch


def larger_squared(x, y):
    x, y = x.contiguous(), y.contiguous()
    low = torch.minimum(x, y)
    return torch.maximum(x, y, out=x).square_().sub_(low)
