"""This adds up in float32 whatever the inputs are: float64 inputs promise about 16 digits, and you kept 7 of them."""


def batched_dot(a, b):
    return (a.float() * b.float()).sum(-1).to(a.dtype)
