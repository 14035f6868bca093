"""Computing only whole blocks of rows gives this wrong answer. Compute the remaining rows too."""

import torch


def nearest(x, y, scale):
    rows = min(16, max(len(x), 1))
    blocks = [x[first : first + rows] for first in range(0, len(x) - rows + 1, rows)]
    answers = [((block[:, None] - y) / scale).square_().sum(-1).min(1).values for block in blocks]
    return torch.cat(answers) if answers else x.new_empty(0)
