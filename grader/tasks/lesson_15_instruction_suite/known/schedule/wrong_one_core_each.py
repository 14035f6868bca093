"""One core for every job gives these wrong answers. A job of width 3 takes three cores until it ends."""


def schedule(jobs, cores):
    free_from, plan = [0] * cores, []
    for width, seconds in jobs:
        core = free_from.index(min(free_from))
        plan.append([free_from[core], [core]])
        free_from[core] += seconds
    return plan
