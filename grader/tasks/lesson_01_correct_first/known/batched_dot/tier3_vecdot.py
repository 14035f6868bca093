"""Uses torch.linalg.vecdot for floats, because it does not support integers."""

import torch


def batched_dot(a, b):
    if a.is_floating_point():
        return torch.linalg.vecdot(a, b)
    return (a * b).sum(-1)
