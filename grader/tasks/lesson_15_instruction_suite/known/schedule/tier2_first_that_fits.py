"""Tries the waiting jobs in the given order, and begins each job that fits."""


def schedule(jobs, cores):
    plan, free_from, now = [None] * len(jobs), [0] * cores, 0
    waiting = list(range(len(jobs)))
    while waiting:
        for job in list(waiting):
            free = [core for core in range(cores) if free_from[core] <= now]
            if jobs[job][0] <= len(free):
                plan[job] = [now, free[: jobs[job][0]]]
                waiting.remove(job)
                for core in plan[job][1]:
                    free_from[core] = now + jobs[job][1]
        later = [end for end in free_from if end > now]
        now = min(later) if later else now
    return plan
