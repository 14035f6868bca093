"""Fills a timetable of seconds and cores: each job begins at the first second from which enough cores are free for its
whole duration.
"""


def schedule(jobs, cores):
    horizon = sum(seconds for _, seconds in jobs)
    taken = [set() for _ in range(horizon + 1)]
    plan = [None] * len(jobs)
    ends = {0}
    for i in sorted(range(len(jobs)), key=lambda i: (-jobs[i][0] * jobs[i][1], i)):
        width, seconds = jobs[i]
        # it is enough to try second 0 and the seconds in which a job ends
        for start in sorted(ends):
            used = set()
            jump = None
            for t in range(start, start + seconds):
                if t < len(taken):
                    used |= taken[t]
                if cores - len(used) < width:
                    jump = t
                    break
            if jump is None:
                break
        mine = [c for c in range(cores) if c not in used][:width]
        while len(taken) < start + seconds:
            taken.append(set())
        for t in range(start, start + seconds):
            taken[t].update(mine)
        ends.add(start + seconds)
        plan[i] = [start, mine]
    return plan
