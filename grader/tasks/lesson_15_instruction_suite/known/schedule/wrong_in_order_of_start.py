"""Rows in the order of the starts give these wrong answers. Return the rows in the order of the jobs."""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in sorted(jobs, key=lambda job: -job[0] * job[1]):
        plan.append([now, list(range(width))])
        now += seconds
    return plan
