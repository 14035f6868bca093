"""All keys first, and then the lock around each change of the table."""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for key in [key_of(job) for job in jobs]:
        acquire()
        try:
            count = get(key) + 1
            put(key, count)
        finally:
            release()
        last[key] = count
    return last
