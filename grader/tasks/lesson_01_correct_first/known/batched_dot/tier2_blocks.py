"""Loops over blocks of 14 rows. The loop has fewer steps, but each step still costs time."""

import torch


def batched_dot(a, b, w):
    if len(a) == 0:
        return a.new_empty(0)
    return torch.cat([(x * y * w).sum(-1) for x, y in zip(a.split(14), b.split(14))])
