"""The first calls are in this number, and they are far slower than all later ones. Call fn a few times before you read
the clock."""


def time_per_call(fn, clock):
    start = clock()
    for _ in range(100):
        fn()
    return (clock() - start) / 100
