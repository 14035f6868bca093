"""Runs one job after the other. Each job gets the cores with the lowest numbers."""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in jobs:
        plan.append([now, list(range(width))])
        now += seconds
    return plan
