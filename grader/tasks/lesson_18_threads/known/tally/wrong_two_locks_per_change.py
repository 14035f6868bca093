"""Releasing the lock between `get` and `put` gives these wrong counts. Keep the lock until the new count is in the
table.
"""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for job in jobs:
        key = key_of(job)
        acquire()
        last[key] = get(key) + 1
        release()
        acquire()
        put(key, last[key])
        release()
    return last
