"""Own counts of all jobs, and then the lock once for each key."""


def tally(jobs, key_of, get, put, acquire, release):
    own = {}
    for job in jobs:
        key = key_of(job)
        own[key] = own.get(key, 0) + 1
    for key in own:
        acquire()
        own[key] += get(key)
        put(key, own[key])
        release()
    return own
