"""These rows are in the order in which the jobs begin. They are asked for in the order in which the jobs were given."""


def schedule(jobs, cores):
    plan, now = [], 0
    for width, seconds in sorted(jobs, key=lambda job: -job[0] * job[1]):
        plan.append([now, list(range(width))])
        now += seconds
    return plan
