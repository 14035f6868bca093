"""Replacing NaN by a number gives this wrong answer. A NaN in the input must appear in the answer. Otherwise the caller
does not notice the bug that made it.
"""

import torch


def batched_dot(a, b):
    return torch.nan_to_num(a * b).sum(-1)
