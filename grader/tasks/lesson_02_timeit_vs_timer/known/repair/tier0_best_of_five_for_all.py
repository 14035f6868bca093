"""One helper for all five functions: a warm-up block, then five blocks, and the smallest time per call."""


def best(block, calls, clock, prepare=lambda: None):
    times = []
    for _ in range(6):
        prepared = prepare()
        start = clock()
        block(prepared)
        times.append((clock() - start) / calls)
    return min(times[1:])  # the first block is the warm-up


def repeat(fn, calls):
    def block(_):
        for _ in range(calls):
            fn()

    return block


def for_each(fn):
    def block(lists):
        for numbers in lists:
            fn(numbers)

    return block


def time_sum(make_list, add_up, clock):
    return best(for_each(add_up), 20, clock, lambda: [make_list() for _ in range(20)])


def time_multiply(multiply, clock):
    return best(repeat(multiply, 100), 100, clock)


def time_matmul(matmul, clock):
    return best(repeat(matmul, 100), 100, clock)


def time_sort(make_list, sort, clock):
    return best(for_each(sort), 20, clock, lambda: [make_list() for _ in range(20)])


def time_hash(hash_text, clock):
    return min(best(repeat(hash_text, 50), 50, clock) for _ in range(2))
