"""This numbers the cores from 1. They are numbered from 0, so the last one of these is not there."""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in jobs:
        plan.append([now, list(range(cores - width + 1, cores + 1))])
        now += seconds
    return plan
