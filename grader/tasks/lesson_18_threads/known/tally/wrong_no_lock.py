"""Changing the table without the lock gives these wrong counts. Another thread changes the count between `get` and
`put`, and `put` then overwrites this change.
"""


def tally(jobs, key_of, get, put, acquire, release):
    last = {}
    for job in jobs:
        key = key_of(job)
        last[key] = get(key) + 1
        put(key, last[key])
    return last
