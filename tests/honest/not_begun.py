"""The exercise as the student got it.

01_correct_first earns 0, raised: still raises NotImplementedError
"""


def batched_dot(a, b, w):
    raise NotImplementedError("Replace this line.")
