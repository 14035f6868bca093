"""Uses EASY backfilling. The first waiting job has a reservation, and later jobs may start before it only if they do
not delay it.

Trade: The reservation prevents that small jobs delay a large job. It needs more code.
"""


def schedule(jobs, cores):
    result = [None] * len(jobs)
    queue = sorted(range(len(jobs)), key=lambda i: (-jobs[i][1], -jobs[i][0]))
    free = set(range(cores))
    running = []  # [end, cores]
    now = 0

    def start(i):
        width, seconds = jobs[i]
        mine = sorted(free)[:width]
        free.difference_update(mine)
        running.append((now + seconds, mine))
        result[i] = [now, mine]
        queue.remove(i)

    while queue:
        # finish the jobs that end now
        for end, mine in list(running):
            if end <= now:
                running.remove((end, mine))
                free.update(mine)
        while queue and jobs[queue[0]][0] <= len(free):
            start(queue[0])
        if not queue:
            break

        # when the first job can start, and the number of cores that it leaves free at that time
        head = jobs[queue[0]][0]
        available = len(free)
        for end, mine in sorted(running):
            available += len(mine)
            if available >= head:
                shadow = end
                break
        # other jobs that end in the same second
        available = len(free) + sum(len(mine) for end, mine in running if end <= shadow)
        spare = available - head

        for i in list(queue[1:]):
            width, seconds = jobs[i]
            if width > len(free):
                continue
            if now + seconds <= shadow:
                start(i)
            elif width <= spare:
                spare -= width
                start(i)
        now = min((end for end, _ in running if end > now), default=now)
    return result
