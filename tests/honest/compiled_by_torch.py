"""Compiled by torch, which starts a C++ compiler at the first call. The error says that no process can be started.

01_correct_first earns 0, raised: torch.compile and load_inline start a C++ compiler, so they do not work in a submission. numba
"""

import torch


@torch.compile
def batched_dot(a, b, w):
    return (a * b * w).sum(dim=1)
