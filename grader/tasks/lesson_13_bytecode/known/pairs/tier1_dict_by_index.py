"""Counts in a dict, with an index into the trace."""


def pairs(trace):
    counts = {}
    for i in range(len(trace) - 1):
        first = trace[i]
        second = trace[i + 1]
        if (first, second) in counts:
            counts[(first, second)] = counts[(first, second)] + 1
        else:
            counts[(first, second)] = 1
    rows = []
    for pair in counts:
        if counts[pair] > 1:
            rows.append([pair[0], pair[1], counts[pair]])
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
