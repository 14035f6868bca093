"""Sorting the same list again and again gives these wrong answers in time_sort. After the first sort the list is
already sorted. Give each sort a new list.
"""

from baseline import time_hash, time_matmul, time_multiply, time_sum


def time_sort(make_list, sort, clock):
    calls = 20
    numbers = make_list()
    start = clock()
    for _ in range(calls):
        sort(numbers)
    return (clock() - start) / calls
