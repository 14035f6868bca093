"""Computes one step per line, each with a new tensor."""


def tone_curve(x):
    t = x * 1.5
    t = t - 0.25
    t = t.clamp(0.0, 1.0)
    u = t * -2.0
    u = u + 3.0
    t = t * t
    t = t * u
    t = t * 255.0
    return t + 16.0
