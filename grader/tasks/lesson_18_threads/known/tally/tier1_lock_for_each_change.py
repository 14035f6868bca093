"""The work outside the lock, and the lock around each change of the table."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for job in jobs:
        key = key_of(job)
        acquire()
        last[key] = get(key) + 1
        put(key, last[key])
        release()
    return last
