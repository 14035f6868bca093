"""Distances were taken as x² - 2xy + y², with a matrix product: that needs little memory, and loses the digits. Rows far
from zero and near each other have large squares whose difference is nothing but rounding."""

import torch


def nearest(x, y, scale):
    x, y = x / scale, y / scale
    squares = (x * x).sum(-1)[:, None] + (y * y).sum(-1)
    return torch.addmm(squares, x, y.T, alpha=-2).clamp_(min=0).min(1).values
