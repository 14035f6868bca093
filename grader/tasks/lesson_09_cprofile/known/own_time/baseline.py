"""Goes through all rows for each function, and searches callers and called rows among all rows."""


def own_time(stats):
    names = []
    for row in stats:
        if row[1] not in names:
            names.append(row[1])
    rows = []
    for name in names:
        calls = 0
        own = 0
        cumulative = 0
        for i in range(len(stats)):
            depth = stats[i][0]
            if stats[i][1] == name:
                calls = calls + stats[i][2]
                own = own + stats[i][3]
                for j in range(i + 1, len(stats)):
                    if stats[j][0] <= depth:
                        break
                    if stats[j][0] == depth + 1:
                        own = own - stats[j][3]
                outermost = True
                for j in range(i - 1, -1, -1):
                    if stats[j][0] < depth:
                        depth = stats[j][0]
                        if stats[j][1] == name:
                            outermost = False
                if outermost:
                    cumulative = cumulative + stats[i][3]
        rows.append([name, calls, own, cumulative])
    return sorted(rows, key=lambda row: (-row[2], row[0]))
