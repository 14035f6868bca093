"""All keys first, and then the lock once, with a get and a put for each job."""


def tally(jobs, key_of, get, put, acquire, release):
    keys = list(map(key_of, jobs))
    last = {}
    acquire()
    for key in keys:
        last[key] = get(key) + 1
        put(key, last[key])
    release()
    return last
