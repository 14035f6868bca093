"""All possible Python statements, also before earlier ones that must wait. Python statements keep their order."""


def fewest_graphs(statements):
    order, left = [], list(range(len(statements)))
    while left:
        for kind in ("torch", "python"):
            for number in list(left):
                if statements[number][0] == kind and all(use in order for use in statements[number][1]):
                    order.append(number)
                    left.remove(number)
    return order
