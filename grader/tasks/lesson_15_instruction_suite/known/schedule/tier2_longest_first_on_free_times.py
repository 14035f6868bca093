"""Takes the longest job first, and gives it the cores that become free first.

Trade: It is short, and needs no list of running jobs. Some cores stay idle until enough cores are free.
"""


def schedule(jobs, cores):
    free_at = [0] * cores
    plan = [None] * len(jobs)
    order = sorted(range(len(jobs)), key=lambda i: jobs[i][1], reverse=True)
    for i in order:
        width, seconds = jobs[i]
        chosen = sorted(range(cores), key=lambda c: free_at[c])[:width]
        start = max(free_at[c] for c in chosen)
        for c in chosen:
            free_at[c] = start + seconds
        plan[i] = [start, sorted(chosen)]
    return plan
