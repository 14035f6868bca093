"""Leaving out the limit gives this wrong answer. After the way through the room, plain limits each number to −1 to 1."""

from baseline import back, mixed


def without_echo(x, hall, door, room, mix):
    return x - back(mixed(room @ (door @ (hall @ x)), mix), hall, door, room)
