"""Changes as little as possible, but takes the median of the blocks for time_hash, because few blocks are interrupted.

Trade: The median ignores interruptions in fewer than half of the blocks. If most blocks are interrupted, the median is
too large.
"""

from statistics import median

from baseline import block_times, time_matmul, time_multiply, time_sort, time_sum


def time_hash(hash_text, clock):
    return median(block_times(hash_text, clock, 11))
