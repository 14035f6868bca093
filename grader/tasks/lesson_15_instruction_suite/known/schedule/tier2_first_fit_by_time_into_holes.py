"""Puts each job, widest first, at the earliest second at which enough cores are idle for its whole duration."""


def schedule(jobs, cores):
    busy = [[] for _ in range(cores)]  # (start, end) of each core
    plan = [None] * len(jobs)

    def idle(core, start, end):
        return all(end <= a or start >= b for a, b in busy[core])

    order = sorted(range(len(jobs)), key=lambda i: (-jobs[i][0], -jobs[i][1]))
    for i in order:
        width, seconds = jobs[i]
        times = sorted({0} | {end for core in busy for _, end in core})
        for start in times:
            possible = [c for c in range(cores) if idle(c, start, start + seconds)]
            if len(possible) >= width:
                chosen = possible[:width]
                break
        for c in chosen:
            busy[c].append((start, start + seconds))
        plan[i] = [start, chosen]
    return plan
