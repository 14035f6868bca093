"""Keeping only the last line of each function gives these wrong answers. A dict made from pairs (name, number) does
this. Add up all lines of a function.
"""


def by_function(lines):
    totals = {name: int(count) for count, name in (line.split(" ", 1) for line in lines)}
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: (-row[1], row[0]))
