"""This returns the number of graphs. Return the order: a list with the number of each statement."""


def fewest_graphs(statements):
    before = ["python", *(kind for kind, _ in statements)]
    return sum(one == "python" and kind == "torch" for one, (kind, _) in zip(before, statements))
