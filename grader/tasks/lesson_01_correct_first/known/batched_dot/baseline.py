"""Multiplies one row by the weights, and calls torch.dot, once per row."""

import torch


def batched_dot(a, b, w):
    if len(a) == 0:
        return a.new_empty(0)
    return torch.stack([torch.dot(x * w, y) for x, y in zip(a, b)])
