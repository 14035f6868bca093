"""Holding the lock only for `put` gives these wrong counts. Call `get` with the lock too, because another thread can
change the count after your `get`.
"""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for job in jobs:
        key = key_of(job)
        last[key] = get(key) + 1
        acquire()
        put(key, last[key])
        release()
    return last
