"""Makes two tensors per call: one for the curve, and one for the factor.

Trade: Calls share no tensor, so several threads may call the function. Each call allocates two tensors.
"""


def tone_curve(x):
    t = x * 1.5
    t.sub_(0.25).clamp_(0.0, 1.0)
    u = t * -2.0
    return t.square_().mul_(u.add_(3.0)).mul_(255.0).add_(16.0)
