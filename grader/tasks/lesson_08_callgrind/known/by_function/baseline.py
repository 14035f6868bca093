"""Searches two lists from the beginning for each line, and splits each line twice."""


def by_function(lines):
    names = []
    totals = []
    for line in lines:
        count = int(line.split(" ", 1)[0])
        name = line.split(" ", 1)[1]
        found = False
        for i in range(len(names)):
            if names[i] == name:
                totals[i] = totals[i] + count
                found = True
                break
        if not found:
            names.append(name)
            totals.append(count)
    rows = [[names[i], totals[i]] for i in range(len(names)) if totals[i] != 0]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
