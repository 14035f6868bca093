"""A NaN was cut off at 0, as if it were a dark pixel: no comparison with it is true, so where() takes the other side.
clamp_ lets it through."""

import torch


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25)
    t = torch.where(t > 0, t, 0.0).clamp_(max=1.0)
    u = t * -2.0
    return t.square_().mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
