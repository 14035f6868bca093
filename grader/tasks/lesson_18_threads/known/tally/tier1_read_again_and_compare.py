"""A context manager for the lock, and a get after each put to see whether the change arrived."""

from contextlib import contextmanager


def tally(jobs, key_of, get, put, acquire, release):
    @contextmanager
    def lock():
        acquire()
        try:
            yield
        finally:
            release()

    last = {}
    for job in jobs:
        key = key_of(job)
        with lock():
            put(key, get(key) + 1)
            last[key] = get(key)
    return last
