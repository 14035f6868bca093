"""Each torch statement moves up past all Python statements that it does not use."""


def fewest_graphs(statements):
    order = []
    for number, (kind, uses) in enumerate(statements):
        at = len(order)
        while kind == "torch" and at and statements[order[at - 1]][0] == "python" and order[at - 1] not in uses:
            at -= 1
        order.insert(at, number)
    return order
