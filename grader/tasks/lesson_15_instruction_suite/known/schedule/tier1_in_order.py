"""Begins the jobs strictly in the given order, each as soon as it fits."""


def schedule(jobs, cores):
    free_from, now, plan = [0] * cores, 0, []
    for width, seconds in jobs:
        now = max(now, sorted(free_from)[width - 1])
        taken = [core for core in range(cores) if free_from[core] <= now][:width]
        plan.append([now, taken])
        for core in taken:
            free_from[core] = now + seconds
    return plan
