"""Searches a list like the baseline, but splits each line once."""


def by_function(lines):
    names = []
    totals = []
    for line in lines:
        count, name = line.split(" ", 1)
        for i in range(len(names)):
            if names[i] == name:
                totals[i] += int(count)
                break
        else:
            names.append(name)
            totals.append(int(count))
    rows = [[name, total] for name, total in zip(names, totals) if total]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
