"""Making the list between the two readings of the clock gives these wrong answers in time_sum. The result then includes
the time to make the list. Make the list before the first reading.
"""

from baseline import time_hash, time_matmul, time_multiply, time_sort


def time_sum(make_list, add_up, clock):
    calls = 20
    start = clock()
    for _ in range(calls):
        numbers = make_list()
        add_up(numbers)
    return (clock() - start) / calls
