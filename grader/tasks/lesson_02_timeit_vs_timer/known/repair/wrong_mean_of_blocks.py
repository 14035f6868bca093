"""The mean of the blocks gives these wrong answers in time_hash. The mean includes every interruption. Interruptions
only add time, so return the smallest block.
"""

from baseline import block_times, time_matmul, time_multiply, time_sort, time_sum


def time_hash(hash_text, clock):
    times = block_times(hash_text, clock)
    return sum(times) / len(times)
