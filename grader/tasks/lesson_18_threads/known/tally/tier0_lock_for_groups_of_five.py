"""The lock around the work on five jobs."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for start in range(0, len(jobs), 5):
        acquire()
        for job in jobs[start : start + 5]:
            key = key_of(job)
            last[key] = get(key) + 1
            put(key, last[key])
        release()
    return last
