"""Replacing a NaN by 0 gives this wrong answer. A comparison with NaN is False, so torch.where() takes its last
argument. clamp_ keeps a NaN.
"""

import torch


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25)
    t = torch.where(t > 0, t, 0.0).clamp_(max=1.0)
    u = t * -2.0
    return t.square_().mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
