# I only did the first one so far. It works, but I take fifty blocks to be on the safe side.


def time_per_call(fn, clock):
    for _ in range(5):
        fn()
    first = clock()
    while clock() == first:
        pass
    start = clock()
    while (now := clock()) == start:
        pass
    step = now - start

    n = 1
    while True:
        fastest = float("inf")
        for _ in range(50):
            start = clock()
            for _ in range(n):
                fn()
            fastest = min(fastest, clock() - start)
        if fastest > 220 * step:
            return fastest / n
        n = n * 2
