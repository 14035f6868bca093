"""Runs one job after the other, each on the first cores."""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in jobs:
        plan.append([now, list(range(width))])
        now += seconds
    return plan
