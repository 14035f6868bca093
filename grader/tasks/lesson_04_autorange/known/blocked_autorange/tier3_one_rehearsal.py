"""Measures once to warm up, and a second time for the result."""

from baseline import last_of


def blocked_autorange(run, clock, min_run_time):
    return last_of(run, clock, min_run_time, 2)
