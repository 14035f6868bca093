"""Sorts the keys of all jobs, counts equal neighbours with `groupby`, and takes the lock once.

Trade: It needs no dict of own counts. Sorting takes longer than counting if there are many jobs.
"""

from itertools import groupby


def tally(jobs, key_of, get, put, acquire, release):
    groups = [(key, len(list(group))) for key, group in groupby(sorted(map(key_of, jobs)))]
    last = {}
    if groups:
        acquire()
        for key, count in groups:
            last[key] = get(key) + count
            put(key, last[key])
        release()
    return last
