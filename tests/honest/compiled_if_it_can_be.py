"""Compiled by torch if that works, and not compiled otherwise. Here it does not work.

01_correct_first earns 10, passed: That is the top tier.
"""

import torch


def dots(a, b, w):
    return torch.bmm((a * w).unsqueeze(1), b.unsqueeze(2)).view(-1)


compiled = torch.compile(dots)
try:
    compiled(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3))
except Exception:
    compiled = dots


def batched_dot(a, b, w):
    return compiled(a, b, w)
