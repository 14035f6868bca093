"""Multiplies the four matrices in two pairs. One product of two large matrices remains."""

from baseline import back, mixed


def without_echo(x, hall, door, room, mix):
    echo = mixed(((room @ door) @ (hall @ x)).clamp(-1, 1), mix)
    return x - back(echo, hall, door, room)
