"""Splitting a line at each space and taking the second word as the name gives these wrong answers. Names of C++ contain
spaces. The name is everything after the first space.
"""


def by_function(lines):
    totals = {}
    for line in lines:
        words = line.split()
        totals[words[1]] = totals.get(words[1], 0) + int(words[0])
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: (-row[1], row[0]))
