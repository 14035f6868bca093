"""Puts the jobs, longest first, into groups (shelves) of jobs that begin together. Each job goes to the first group
with enough cores left.

Trade: The plan is easy to check, because groups of jobs begin together. Cores stay idle until the longest job of a
group ends.
"""


def schedule(jobs, cores):
    order = sorted(range(len(jobs)), key=lambda i: -jobs[i][1])
    shelves = []  # [height, cores used, members]
    for i in order:
        width, seconds = jobs[i]
        for shelf in shelves:
            if shelf[1] + width <= cores:
                shelf[2].append((i, shelf[1]))
                shelf[1] += width
                break
        else:
            shelves.append([seconds, width, [(i, 0)]])

    plan = [[0, []] for _ in jobs]
    start = 0
    for height, _, members in shelves:
        for i, first in members:
            plan[i] = [start, list(range(first, first + jobs[i][0]))]
        start += height
    return plan
