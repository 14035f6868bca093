"""Replaces the small products in the loop by one product, and keeps the large products."""

import torch

from baseline import ROUNDS, back, outward


def without_echo(x, hall, door, room, mix):
    mean = 0.5 * (mix + torch.eye(len(mix), dtype=mix.dtype))
    echo = outward(x, hall, door, room).clamp(-1, 1) @ torch.linalg.matrix_power(mean, ROUNDS)
    return x - back(echo, hall, door, room)
