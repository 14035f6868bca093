"""Replacing y by y @ mix in each round gives this wrong answer. In each round, plain computes the mean of y and y @ mix,
so it keeps half of y.
"""

from baseline import back


def without_echo(x, hall, door, room, mix):
    echo = (room @ (door @ (hall @ x))).clamp(-1, 1)
    for _ in range(6):
        echo = echo @ mix
    return x - back(echo, hall, door, room)
