"""A line was split at each of its spaces, and the second word taken for the name. Names of C++ have spaces in them: a name
is all that comes after the first one."""


def by_function(lines):
    totals = {}
    for line in lines:
        words = line.split()
        totals[words[1]] = totals.get(words[1], 0) + int(words[0])
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: (-row[1], row[0]))
