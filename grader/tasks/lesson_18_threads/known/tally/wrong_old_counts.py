"""Reading the counts once at the beginning gives these wrong counts. Until your thread has the lock, other threads
change them.
"""


def tally(jobs, key_of, get, put, acquire, release):
    keys = [key_of(job) for job in jobs]
    last = {key: get(key) for key in dict.fromkeys(keys)}
    for key in keys:
        last[key] += 1
    acquire()
    for key in last:
        put(key, last[key])
    release()
    return last
