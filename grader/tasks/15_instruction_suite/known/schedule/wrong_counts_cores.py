"""This counts how many cores are free, but not which: the first ones are given away though a job still has them."""


def schedule(jobs, cores):
    running, plan, now = [], [], 0
    for width, seconds in jobs:
        while sum(w for end, w in running if end > now) + width > cores:
            now = min(end for end, w in running if end > now)
        plan.append([now, list(range(width))])
        running.append((now + seconds, width))
    return plan
