"""Keeping the nearest row by a comparison gives this wrong answer. A comparison with NaN is False, so a NaN is skipped.
The distance to a row with a NaN is NaN, so the answer must be NaN.
"""

import torch


def nearest(x, y, scale):
    best = torch.full((len(x),), float("inf"), dtype=x.dtype)
    for row in y:
        distance = ((x - row) / scale).square_().sum(-1)
        best = torch.where(distance < best, distance, best)
    return best
