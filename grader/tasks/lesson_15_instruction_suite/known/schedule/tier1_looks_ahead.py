"""Tries the two jobs that wait longest, and begins each of them as soon as it fits."""


def schedule(jobs, cores):
    plan, free_from, now = [None] * len(jobs), [0] * cores, 0
    waiting = list(range(len(jobs)))
    while waiting:
        begun = True
        while begun:
            begun = False
            free = [core for core in range(cores) if free_from[core] <= now]
            for job in waiting[:2]:
                if jobs[job][0] <= len(free):
                    plan[job] = [now, free[: jobs[job][0]]]
                    waiting.remove(job)
                    for core in plan[job][1]:
                        free_from[core] = now + jobs[job][1]
                    begun = True
                    break
        now = min((end for end in free_from if end > now), default=now)
    return plan
