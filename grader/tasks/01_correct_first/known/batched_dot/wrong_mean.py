"""This is what a mean gives where a sum is meant."""


def batched_dot(a, b):
    return (a * b).double().mean(-1).to(a.dtype)
