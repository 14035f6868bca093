"""The mean of the blocks gives these wrong answers in time_hash. The mean includes every interruption. Interruptions
only add time, so return the smallest block.
"""

from baseline import time_matmul, time_multiply, time_sort, time_sum


def time_hash(hash_text, clock):
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    return sum(times) / blocks
