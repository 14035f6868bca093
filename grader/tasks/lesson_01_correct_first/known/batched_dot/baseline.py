"""Calls torch.dot once per row."""

import torch


def batched_dot(a, b):
    if len(a) == 0:
        return a.new_empty(0)
    return torch.stack([torch.dot(x, y) for x, y in zip(a, b)])
