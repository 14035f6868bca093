"""The subscripts say it all; what torch makes of them is a batched matrix product, which is nearly as fast."""

import torch


def batched_dot(a, b):
    return torch.einsum("bn,bn->b", a, b)
