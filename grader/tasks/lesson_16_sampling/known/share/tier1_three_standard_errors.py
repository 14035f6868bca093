"""Takes as many samples as three standard errors of the share one half need."""


def share(sample, name, margin):
    n = round((3 * 0.5 / margin) ** 2)
    stacks = []
    for _ in range(n):
        stack = sample()
        while not stack:
            stack = sample()
        stacks.append(stack)
    return len([stack for stack in stacks if name in stack]) / n
