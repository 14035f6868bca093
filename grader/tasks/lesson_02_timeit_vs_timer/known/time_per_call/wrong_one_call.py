"""Timing one call at a time gives these wrong answers. One call is too short compared with the clock's step and the
time of a reading, however often you repeat it. Put many calls between the two readings.
"""


def time_per_call(fn, clock):
    for _ in range(3):
        fn()
    times = []
    for _ in range(20):
        start = clock()
        fn()
        times.append(clock() - start)
    return min(times)
