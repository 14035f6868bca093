"""The factor was worked out after t had been squared in place: it is 3 - 2t² then, where 3 - 2t is meant. In place, the
order of steps matters in a way it does not otherwise."""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0).square_()
    u = t * -2.0
    return t.mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
