"""Computes half of the steps in place."""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25)
    t.clamp_(0.0, 1.0)
    u = t * -2.0
    u = u + 3.0
    t = t * t
    t = t * u
    t = t * 255.0
    return t.add_(16.0)
