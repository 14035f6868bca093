"""This leaves out the Python statements with an unused result. The function must still run them."""


def fewest_graphs(statements):
    needed = {use for _, uses in statements for use in uses}
    return [n for n, (kind, _) in enumerate(statements) if kind == "torch" or n in needed]
