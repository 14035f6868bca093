"""Lesson 01 · A fast wrong answer is worth nothing.

Write `batched_dot` below, then check it:

    python -m grader check 01_correct_first

It is checked on many small cases first: empty ones, strided ones, three dtypes. Only a right answer is timed.
"""

import torch


def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the dot product of each row of `a` with the same row of `b`.

    `a` and `b` have the same shape (batch, n) and the same dtype: float32, float64 or int64. The answer has shape
    (batch,) and that dtype. Both may be empty, strided, or the same tensor; leave them as they are.

    Points: 4 of 10 for right answers, 6 when 1.5 times as fast as a loop of `torch.dot`, 8 at 3×, all 10 at 7×.
    """
    # BEGIN SOLUTION
    # One multiplication and one sum over whole tensors: the loop over rows runs inside torch, where a step costs
    # nanoseconds instead of microseconds. `sum` keeps int64 as it is and adds floats pairwise, which is more
    # accurate than one after the other. Empty batches and empty rows need no special case.
    return (a * b).sum(dim=-1)
    # END SOLUTION
