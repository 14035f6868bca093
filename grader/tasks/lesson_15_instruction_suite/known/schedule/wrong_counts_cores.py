"""Counting the free cores, without a list of which cores are free, gives these wrong answers. A job then gets cores
that another job still uses.
"""


def schedule(jobs, cores):
    running, plan, now = [], [], 0
    for width, seconds in jobs:
        while sum(w for end, w in running if end > now) + width > cores:
            now = min(end for end, w in running if end > now)
        plan.append([now, list(range(width))])
        running.append((now + seconds, width))
    return plan
