from statistics import fmean


def time_per_call(fn, clock):
    """Time a hundred calls, ten times over, and take the mean."""
    fn()
    fn()
    fn()
    times = []
    for _ in range(10):
        before = clock()
        for _ in range(100):
            fn()
        times.append((clock() - before) / 100)
    return fmean(times)
