"""Uses EASY backfilling. The first waiting job has a reservation, and later jobs may start before it only if they do
not delay it.

Trade: The reservation prevents that small jobs delay a large job. It needs more code.
"""


def schedule(jobs, cores):
    plan, free_at, now = [None] * len(jobs), [0] * cores, 0
    queue = sorted(range(len(jobs)), key=lambda i: (-jobs[i][1], -jobs[i][0]))
    while queue:
        first = queue[0]
        reserved = sorted(range(cores), key=lambda core: free_at[core])[: jobs[first][0]]
        begin = max(free_at[core] for core in reserved)
        for i in list(queue):
            width, seconds = jobs[i]
            idle = [core for core in range(cores) if free_at[core] <= now]
            if i != first and now + seconds > begin:  # it would still run when the first job begins
                idle = [core for core in idle if core not in reserved]
            if width <= len(idle):
                plan[i] = [now, idle[:width]]
                for core in idle[:width]:
                    free_at[core] = now + seconds
                queue.remove(i)
                if i == first:
                    break
        else:
            now = min(end for end in free_at if end > now)
    return plan
