"""Computes half of the rows at a time, with three arrays each."""

import torch


def half(x, y, scale):
    differences = x[:, None] - y
    scaled = differences / scale
    squared = scaled * scaled
    return squared.sum(-1).min(1).values


def nearest(x, y, scale):
    middle = len(x) // 2
    return torch.cat([half(x[:middle], y, scale), half(x[middle:], y, scale)])
