"""Scaling the rows before the subtraction gives this wrong answer. Far from zero, the rounding error of scaling is
larger than the difference of near rows. Subtract first, which is exact for near numbers, and then scale.
"""

import torch


def nearest(x, y, scale):
    distances = torch.cdist(x / scale, y / scale, compute_mode="donot_use_mm_for_euclid_dist")
    return distances.square_().min(1).values
