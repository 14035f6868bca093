"""The keys of ten jobs at a time, and then the lock once for their ten changes."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for start in range(0, len(jobs), 10):
        keys = [key_of(job) for job in jobs[start : start + 10]]
        acquire()
        for key in keys:
            last[key] = get(key) + 1
            put(key, last[key])
        release()
    return last
