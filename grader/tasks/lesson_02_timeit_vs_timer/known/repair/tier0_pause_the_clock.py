"""Reads the clock before the lists are made, as the broken code does. Subtracts the time that making the lists took. In
time_matmul, reads the clock after the first call.

Trade: It changes few lines. It reads the clock once more, because the clock also runs while the lists are made.
"""


def time_sum(make_list, add_up, clock):
    calls = 20
    # one block that makes the lists, and one block that adds them up
    start = clock()
    lists = [make_list() for _ in range(calls)]
    paused = clock() - start
    for numbers in lists:
        add_up(numbers)
    return (clock() - start - paused) / calls


def time_multiply(multiply, clock):
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    seconds = clock() - start
    return seconds / calls


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


def time_hash(hash_text, clock):
    calls, blocks = 50, 10
    least = None
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        seconds = clock() - start
        if least is None or seconds < least:
            least = seconds
    return least / calls
