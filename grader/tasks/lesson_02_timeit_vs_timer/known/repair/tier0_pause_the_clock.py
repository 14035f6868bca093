"""Reads the clock before the lists are made, as the broken code does. Subtracts the time that making the lists took. In
time_matmul, reads the clock after the first call.

Trade: It changes few lines. It reads the clock once more, because the clock also runs while the lists are made.
"""

from baseline import time_hash, time_multiply


def time_sum(make_list, add_up, clock):
    calls = 20
    # one block that makes the lists, and one block that adds them up
    start = clock()
    lists = [make_list() for _ in range(calls)]
    paused = clock() - start
    for numbers in lists:
        add_up(numbers)
    return (clock() - start - paused) / calls


def time_matmul(matmul, clock):
    calls = 100
    for call in range(calls + 1):
        if call == 1:
            start = clock()
        matmul()
    return (clock() - start) / calls


def time_sort(make_list, sort, clock):
    calls = 20
    start = clock()
    lists = [make_list() for _ in range(calls)]
    paused = clock() - start
    for numbers in lists:
        sort(numbers)
    return (clock() - start - paused) / calls
