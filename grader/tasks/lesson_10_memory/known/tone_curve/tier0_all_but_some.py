"""Computes all but two of the steps in place."""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = (t * -2.0).add_(3.0)
    t = t * t
    t = t * u
    return t.mul_(255.0).add_(16.0)
