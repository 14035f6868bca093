"""Keeps a queue of ready statements for each kind, and changes the kind only if its queue is empty.

Trade: Its time grows only with the number of statements and uses. It needs more code.
"""

from collections import deque


def fewest_graphs(statements):
    missing = [len(set(uses)) for _, uses in statements]
    users = [[] for _ in statements]
    for number, (_, uses) in enumerate(statements):
        for use in set(uses):
            users[use].append(number)
    previous = None
    for number, (kind, _) in enumerate(statements):
        if kind == "python":
            if previous is not None:  # the next Python statement also waits for the previous one
                users[previous].append(number)
                missing[number] += 1
            previous = number
    queues = {"python": deque(), "torch": deque()}
    for number, (kind, _) in enumerate(statements):
        if not missing[number]:
            queues[kind].append(number)
    order, kind = [], "python"
    while queues["python"] or queues["torch"]:
        if not queues[kind]:
            kind = "torch" if kind == "python" else "python"
        number = queues[kind].popleft()
        order.append(number)
        for user in users[number]:
            missing[user] -= 1
            if not missing[user]:
                queues[statements[user][0]].append(user)
    return order
