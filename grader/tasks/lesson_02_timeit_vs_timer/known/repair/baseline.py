"""Repairs all five functions with few changes."""


def time_sum(make_list, add_up, clock):
    calls = 20
    numbers = make_list()
    start = clock()
    for _ in range(calls):
        add_up(numbers)
    return (clock() - start) / calls


def time_multiply(multiply, clock):
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    return (clock() - start) / calls


def time_matmul(matmul, clock):
    calls = 100
    matmul()
    start = clock()
    for _ in range(calls):
        matmul()
    return (clock() - start) / calls


def time_sort(make_list, sort, clock):
    calls = 20
    total = 0
    for _ in range(calls):
        numbers = make_list()
        start = clock()
        sort(numbers)
        total += clock() - start
    return total / calls


def time_hash(hash_text, clock):
    return min(block_times(hash_text, clock))


def block_times(hash_text, clock, blocks=10):
    calls = 50
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    return times
