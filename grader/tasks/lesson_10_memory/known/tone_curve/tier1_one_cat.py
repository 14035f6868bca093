"""Keeps the strips in a list, and joins them once.

Trade: The number of strips need not be known before. The answer is copied once more than with a tensor made at the start.
"""

import torch

STRIP = 1 << 13


def tone_curve(x):
    strips = []
    for strip in x.reshape(-1).split(STRIP):
        t = (strip * 1.5).sub_(0.25).clamp_(0.0, 1.0)
        strips.append(t * t * (t * -2.0 + 3.0) * 255.0 + 16.0)
    return torch.cat(strips).view(x.shape)
