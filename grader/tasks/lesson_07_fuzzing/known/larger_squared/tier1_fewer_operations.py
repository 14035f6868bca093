"""Uses maximum and minimum: two operations on mixed layouts instead of six."""

import torch


def larger_squared(x, y):
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    return high * high - low
