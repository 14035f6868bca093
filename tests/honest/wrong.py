"""Wrong in a way that many are: a mean where a sum is meant.

01_correct_first earns 0, wrong: This is what a mean gives where a sum is meant.
"""


def batched_dot(a, b):
    return (a.double() * b.double()).mean(-1).to(a.dtype)
