"""Makes a stack of lists first and pops them inside the block. Discards the first block of time_matmul. time_hash
returns the mean of its three fastest blocks.

Trade: The loop needs no index, and frees each list after its call. The time of pop counts in the result.
"""


def time_sum(make_list, add_up, clock):
    calls = 20
    stack = [make_list() for _ in range(calls)]
    start = clock()
    while stack:
        add_up(stack.pop())
    return (clock() - start) / calls


def time_multiply(multiply, clock):
    calls = 100
    start = clock()
    for _ in range(calls):
        multiply()
    stop = clock()
    return (stop - start) / calls


def time_matmul(matmul, clock):
    calls = 100
    for _ in range(2):
        start = clock()
        for _ in range(calls):
            matmul()
        result = (clock() - start) / calls
    return result


def time_sort(make_list, sort, clock):
    calls = 20
    stack = [make_list() for _ in range(calls)]
    start = clock()
    while stack:
        sort(stack.pop())
    return (clock() - start) / calls


def time_hash(hash_text, clock):
    calls, blocks = 50, 10
    times = []
    for _ in range(blocks):
        start = clock()
        for _ in range(calls):
            hash_text()
        times.append((clock() - start) / calls)
    times.sort()
    return sum(times[:3]) / 3
