"""Numbering the cores from 1 gives these wrong answers. Cores are numbered from 0, so the last of your numbers does not
exist.
"""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in jobs:
        plan.append([now, list(range(cores - width + 1, cores + 1))])
        now += seconds
    return plan
