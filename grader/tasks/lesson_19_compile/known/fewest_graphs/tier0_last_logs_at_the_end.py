"""Python statements after the last needed one move to the end."""


def fewest_graphs(statements):
    needed = {use for _, uses in statements for use in uses}
    python = [n for n, (kind, _) in enumerate(statements) if kind == "python"]
    last = max((n for n in python if n in needed), default=-1)
    late = [n for n in python if n > last]
    return [n for n in range(len(statements)) if n not in late] + late
