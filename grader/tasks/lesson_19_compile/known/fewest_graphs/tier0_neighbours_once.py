"""One pass that exchanges a Python statement with the torch statement after it, if it may."""


def fewest_graphs(statements):
    order = list(range(len(statements)))
    for at in range(len(order) - 1):
        one, other = order[at], order[at + 1]
        if statements[one][0] == "python" and statements[other][0] == "torch" and one not in statements[other][1]:
            before = statements[order[at - 1]][0] if at else "python"
            if before == "torch":
                order[at], order[at + 1] = other, one
    return order
