"""Exercises of lesson 17: find the memory at a peak, and choose checkpoints.

(a) `at_peak` works with a simulated recording of memray. Its CPU time is measured.
(b) `checkpoints` plans the memory of a training step. Its cost is the peak of your plan.

Check your work with      fairclock check 17_peaks_and_leaks
"""

from math import inf

# ------------------------------------------------------------------------------------------------------------
# Task (a), 10 points


def at_peak(events: list[tuple[str, int, int, str]]) -> list[list[str | int]]:
    """Return a row [function, bytes] for each function with memory at the peak, the most bytes first.

    `events` are the rows (kind, address, bytes, function) of a simulated recording of memray, in order of time. An
    "alloc" allocates a block at an address. A "free" frees the block at its address. Its other fields are 0 and "". An
    example:

        alloc  7  300  load
        alloc  9  100  parse
        free   7    0                parse  500
        alloc  7  400  parse    →

    The memory in use after these events is 300, 400, 100 and 500 bytes. The peak is 500 bytes, of which `load` has
    none. The peak is the largest sum of all blocks in use. If the sum is largest at several times, use the first of
    them. After a free, a new block can get the same address. Ignore a free of an address that is not in use, because
    its block was allocated before the recording began. Sort functions with equal bytes by name. Each block has at least
    one byte.

    Points: 4 of 10 for right answers. The baseline computes the memory in use again for each event. You get 7 points
    if your function is 3.2 times as fast as the baseline, and all 10 for 62 times. Both are timed on recordings of 600
    events.
    """
    raise NotImplementedError("Return rows of function and bytes.")


# ------------------------------------------------------------------------------------------------------------
# Task (b), 10 points


def checkpoints(sizes: list[int]) -> list[list[int] | int]:
    """Return [kept, peak]: the layers whose inputs are kept, in ascending order, and the peak of the training step.

    Layer i of a network has an input of `sizes[i]` KiB, which its backward pass needs. A kept layer is a checkpoint:
    its input stays in memory during the whole step. A segment begins at a checkpoint and ends before the next one. The
    backward pass takes one segment after the other. It computes the other inputs of this segment again, and they are in
    memory together. So the peak is

        the sum of the sizes of all kept layers
        + the largest sum, over all segments, of the sizes of a segment's other layers

    Layer 0 is always kept. With `sizes` = [5, 3, 1, 4, 2] and `kept` = [0, 2], the peak is (5 + 1) + (4 + 2) = 12.
    There is at least one layer. Each size is a whole number of at least 1.

    Points: 4 of 10 for a choice with its right peak. The baseline keeps the inputs of all layers. Your ratio is
    the baseline's peak divided by your peak, in the geometric mean over the networks that the grader tries. You get 7
    points for a ratio of 2, and all 10 for a ratio of 7.
    """
    raise NotImplementedError("Return the kept layers and the peak.")
