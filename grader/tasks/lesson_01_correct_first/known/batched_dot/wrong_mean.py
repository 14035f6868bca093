"""A mean instead of a sum gives this wrong answer."""


def batched_dot(a, b):
    return (a * b).double().mean(-1).to(a.dtype)
