"""Writing only your own counts into the table gives these wrong counts. Add them to the counts of the other threads,
which `get` returns.
"""


def tally(jobs, key_of, get, put, acquire, release):
    own = {}
    for job in jobs:
        key = key_of(job)
        own[key] = own.get(key, 0) + 1
    acquire()
    for key in own:
        put(key, own[key])
    release()
    return own
