"""The lock around all work on a job: right and slow, because the other threads wait while `key_of` runs."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for job in jobs:
        acquire()
        key = key_of(job)
        last[key] = get(key) + 1
        put(key, last[key])
        release()
    return last
