"""One operation jumps, and the rest is in order."""

import torch


def larger_squared(x, y):
    high = torch.maximum(x, y)
    low = torch.minimum(x.contiguous(), y.contiguous())
    return high.contiguous().square().sub_(low)
