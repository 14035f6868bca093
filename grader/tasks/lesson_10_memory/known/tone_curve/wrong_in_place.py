"""Writing the first step into x itself has this effect: the caller's x is changed, but the caller may use x again. Make
a new tensor in the first step, and work in place in the new tensor.
"""


def tone_curve(x):
    t = x.mul_(1.5) if x.is_contiguous() else x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = t * -2.0
    return t.square_().mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
