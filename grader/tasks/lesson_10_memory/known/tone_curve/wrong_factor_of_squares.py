"""Computing the factor after t was squared in place gives this wrong answer: 3 - 2t² instead of 3 - 2t. When you work
in place, the order of the steps matters.
"""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0).square_()
    u = t * -2.0
    return t.mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
