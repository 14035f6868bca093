"""Computes the same steps as plain."""

ROUNDS = 6


def product(first, *others):
    for other in others:
        first = first @ other
    return first


def outward(x, hall, door, room):
    return product(room, door, hall, x)


def mixed(y, mix):
    for _ in range(ROUNDS):
        y = 0.5 * (y + product(y, mix))
    return y


def back(y, hall, door, room):
    return product(y.T, room, door, hall).T


def without_echo(x, hall, door, room, mix):
    echo = outward(x, hall, door, room)
    echo = mixed(echo.clamp(-1, 1), mix)
    return x - back(echo, hall, door, room)
