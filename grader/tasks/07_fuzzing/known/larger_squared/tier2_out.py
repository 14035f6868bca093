"""Contiguous first, then larger and smaller, each result in new memory."""

import torch


def larger_squared(x, y):
    x, y = x.contiguous(), y.contiguous()
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    return high * high - low
