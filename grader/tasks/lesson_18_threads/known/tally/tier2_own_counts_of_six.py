"""Own counts of six jobs at a time, and then the lock for the changes of these counts."""

from collections import Counter


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for start in range(0, len(jobs), 6):
        counts = Counter(map(key_of, jobs[start : start + 6]))
        acquire()
        for key in counts:
            last[key] = get(key) + counts[key]
            put(key, last[key])
        release()
    return last
