"""Computes the product of the three large matrices only once. Two products of large matrices remain."""

from baseline import mixed


def without_echo(x, hall, door, room, mix):
    way = room @ door @ hall
    echo = mixed((way @ x).clamp(-1, 1), mix)
    return x - way.T @ echo
