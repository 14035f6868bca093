"""A later line of the same function replaced the earlier one, where it was to be added: dict(…) of pairs keeps the last of
them."""


def by_function(lines):
    totals = {name: int(count) for count, name in (line.split(" ", 1) for line in lines)}
    return sorted([[n, t] for n, t in totals.items() if t], key=lambda row: (-row[1], row[0]))
