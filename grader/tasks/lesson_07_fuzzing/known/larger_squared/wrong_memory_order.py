"""Pairing the numbers in their order in memory gives this wrong answer. When x and y have different layouts, the
numbers at the same place in memory have different indices. Pair them by their indices.
"""

import torch


def larger_squared(x, y):
    flat = [t.as_strided((t.numel(),), (1,)) for t in (x, y)]
    high, low = torch.maximum(*flat), torch.minimum(*flat)
    return (high * high - low).reshape(x.shape)
