"""Computes a level for each statement: how often the kind changes before it. Then it sorts by level.

Trade: It goes through the statements once, and then sorts them. It is harder to see that the order is right.
"""


def fewest_graphs(statements):
    level, python = [], 0
    for kind, uses in statements:
        side = 0 if kind == "python" else 1
        least = max((level[use] for use in uses), default=side)
        if kind == "python":
            least = max(least, python)
        least += (least - side) % 2
        if kind == "python":
            python = least
        level.append(least)
    return sorted(range(len(statements)), key=lambda number: (level[number], number))
