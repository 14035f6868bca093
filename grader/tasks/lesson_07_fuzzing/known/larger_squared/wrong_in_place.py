"""Writing into the result of contiguous() changes the caller's input. If the input is contiguous already, contiguous()
returns the same tensor. Write into a new tensor.
"""

import torch


def larger_squared(x, y):
    x, y = x.contiguous(), y.contiguous()
    low = torch.minimum(x, y)
    return torch.maximum(x, y, out=x).square_().sub_(low)
