"""Making the lists while the clock runs gives these wrong answers in time_sort. Make all lists before the first
reading, or read the clock just before and after each sort.
"""

from baseline import time_hash, time_matmul, time_multiply, time_sum


def time_sort(make_list, sort, clock):
    calls = 20
    start = clock()
    for _ in range(calls):
        numbers = make_list()
        sort(numbers)
    return (clock() - start) / calls
