"""Counting the first call in time_matmul gives these wrong answers. That call loads a library and takes much longer
than the other calls. Call matmul once before you read the clock.
"""

from baseline import time_hash, time_multiply, time_sort, time_sum


def time_matmul(matmul, clock):
    calls = 100
    start = clock()
    for _ in range(calls):
        matmul()
    return (clock() - start) / calls
