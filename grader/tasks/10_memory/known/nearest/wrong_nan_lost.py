"""The nearest row so far was kept by comparing, and a comparison with NaN is false, so a NaN is passed over. A row that
has one has no distance, and that must show."""

import torch


def nearest(x, y, scale):
    best = torch.full((len(x),), float("inf"), dtype=x.dtype)
    for row in y:
        distance = ((x - row) / scale).square_().sum(-1)
        best = torch.where(distance < best, distance, best)
    return best
