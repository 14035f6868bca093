"""Larger and smaller by name: two operations between x and y instead of six, each still jumping."""

import torch


def larger_squared(x, y):
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    return high * high - low
