"""Changes as few lines as possible: lists made before the clock is read, division by calls, one warm-up call, min
instead of mean."""

from baseline import time_hash, time_matmul, time_multiply, time_sum


def time_sort(make_list, sort, clock):
    calls = 20
    lists = [make_list() for _ in range(calls)]
    start = clock()
    for numbers in lists:
        sort(numbers)
    return (clock() - start) / calls
