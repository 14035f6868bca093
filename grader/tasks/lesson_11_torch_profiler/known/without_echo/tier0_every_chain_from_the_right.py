"""Multiplies every chain from the right. Then the way back multiplies large matrices."""

from baseline import mixed


def chain(*matrices):
    *others, answer = matrices
    for other in reversed(others):
        answer = other @ answer
    return answer


def without_echo(x, hall, door, room, mix):
    echo = mixed(chain(room, door, hall, x).clamp(-1, 1), mix)
    return x - chain(echo.T, room, door, hall).T
