"""The lock once, around all jobs: few calls, but the other threads wait the whole time."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    acquire()
    for job in jobs:
        key = key_of(job)
        last[key] = get(key) + 1
        put(key, last[key])
    release()
    return last
