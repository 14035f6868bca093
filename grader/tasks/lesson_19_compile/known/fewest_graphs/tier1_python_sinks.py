"""Each Python statement, the last one first, moves down past all torch statements that do not use it."""


def fewest_graphs(statements):
    order = list(range(len(statements)))
    for number in reversed(range(len(statements))):
        if statements[number][0] == "python":
            at = order.index(number)
            while at + 1 < len(order):
                kind, uses = statements[order[at + 1]]
                if kind == "python" or number in uses:
                    break
                order[at], order[at + 1] = order[at + 1], order[at]
                at += 1
    return order
