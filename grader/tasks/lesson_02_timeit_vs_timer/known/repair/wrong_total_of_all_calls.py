"""The time of all calls together gives these wrong answers in time_multiply. Divide this time by the number of calls."""

from baseline import time_hash, time_matmul, time_sort, time_sum


def time_multiply(multiply, clock):
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    return clock() - start
