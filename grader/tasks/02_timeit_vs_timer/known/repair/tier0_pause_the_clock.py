"""Starts the clock before the lists are made, as the broken code did, but notes how long making them took and takes it off as a pause; matmul's clock starts at its second call."""


def time_sum(make_list, add_up, clock):
    calls = 20
    # one block of making, one block of adding: nothing else between the readings
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
