"""A second name for the same tensor gives this wrong answer. An operation in place then changes the tensor under both
names. Make a new tensor, for example with t * -2.
"""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = t
    u.mul_(-2.0).add_(3.0)
    return t.square_().mul_(u).mul_(255.0).add_(16.0)
