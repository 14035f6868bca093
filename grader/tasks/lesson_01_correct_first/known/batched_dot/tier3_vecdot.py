"""Uses torch.linalg.vecdot for floats, because it does not support integers.

Trade: torch has a function for dot products of rows. Integers need a second way, so there are two cases to test.
"""

import torch


def batched_dot(a, b, w):
    if a.is_floating_point():
        return torch.linalg.vecdot(a * w, b)
    return (a * b * w).sum(-1)
