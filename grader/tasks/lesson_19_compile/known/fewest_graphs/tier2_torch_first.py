"""All possible torch statements first, then all possible Python statements, and so on."""


def fewest_graphs(statements):
    order, left = [], list(range(len(statements)))
    while left:
        for kind in ("torch", "python"):
            for number in list(left):
                if statements[number][0] == kind:
                    if all(use in order for use in statements[number][1]):
                        order.append(number)
                        left.remove(number)
                    elif kind == "python":
                        break
    return order
