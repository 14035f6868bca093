"""The number of changes of kind before each statement, computed from the statements that it uses."""


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
