"""Computing with fewer digits gives this wrong answer. Fewer digits halve the memory, but the answer must be as exact
as its dtype allows.
"""

import torch


def nearest(x, y, scale):
    pairs = x.to(torch.bfloat16)[:, None] - y.to(torch.bfloat16)
    pairs = pairs / scale.to(torch.bfloat16)
    return pairs.square_().sum(-1).min(1).values.to(x.dtype)
