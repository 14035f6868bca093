"""All Python statements with an unused result at the end: they come after later Python statements. Keep their order."""


def fewest_graphs(statements):
    needed = {use for _, uses in statements for use in uses}
    late = [n for n, (kind, _) in enumerate(statements) if kind == "python" and n not in needed]
    return [n for n in range(len(statements)) if n not in late] + late
