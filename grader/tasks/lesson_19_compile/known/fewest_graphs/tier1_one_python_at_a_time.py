"""After each Python statement, all torch statements that are possible."""


def fewest_graphs(statements):
    order, left = [], list(range(len(statements)))

    def run(number):
        order.append(number)
        left.remove(number)

    while left:
        torch = [n for n in left if statements[n][0] == "torch" and set(statements[n][1]) <= set(order)]
        run(torch[0] if torch else next(n for n in left if statements[n][0] == "python"))
    return order
