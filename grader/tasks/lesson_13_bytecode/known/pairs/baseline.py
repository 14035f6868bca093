"""Searches each pair in a list of rows."""


def pairs(trace):
    rows = []
    for i in range(len(trace) - 1):
        known = False
        for row in rows:
            if row[:2] == trace[i : i + 2]:
                row[2] = row[2] + 1
                known = True
                break
        if not known:
            rows.append([trace[i], trace[i + 1], 1])
    rows = [row for row in rows if row[2] > 1]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))
