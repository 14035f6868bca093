"""Makes both inputs contiguous, then uses maximum and minimum, with new memory for each result.

Trade: It is shorter, and changes no tensor in place. Each operation allocates a new tensor.
"""

import torch


def larger_squared(x, y):
    x, y = x.contiguous(), y.contiguous()
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    return high * high - low
