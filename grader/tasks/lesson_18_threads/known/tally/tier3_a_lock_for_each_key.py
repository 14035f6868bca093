"""Counts the keys of all jobs without the lock, and then takes the lock once for each key.

Trade: The other threads never wait long. It takes the lock more often, which costs time if there are many keys.
"""


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
