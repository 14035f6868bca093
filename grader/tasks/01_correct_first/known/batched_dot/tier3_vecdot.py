"""torch has a name for it, for floating point alone."""

import torch


def batched_dot(a, b):
    if a.is_floating_point():
        return torch.linalg.vecdot(a, b)
    return (a * b).sum(-1)
