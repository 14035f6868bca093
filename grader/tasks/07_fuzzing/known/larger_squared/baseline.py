"""As it is written down."""

import torch


def larger_squared(x, y):
    return torch.where(x > y, x, y) * torch.where(x > y, x, y) - torch.where(x > y, y, x)
