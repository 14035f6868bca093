"""u was meant to be a second tensor and is the same one under another name: what is done to it in place is done to t as
well. A copy takes a new tensor, as t * -2 makes one."""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = t
    u.mul_(-2.0).add_(3.0)
    return t.square_().mul_(u).mul_(255.0).add_(16.0)
