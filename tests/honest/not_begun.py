"""The exercise as it was handed out.

01_correct_first earns 0, raised: still raises NotImplementedError
"""


def batched_dot(a, b):
    raise NotImplementedError("Replace this line.")
