"""Subtracting the echo from x itself has this effect: the caller's x is changed, but the caller may use x again. Make a
new tensor instead: x - echo.
"""

from baseline import back, mixed


def without_echo(x, hall, door, room, mix):
    echo = mixed((room @ (door @ (hall @ x))).clamp(-1, 1), mix)
    x -= back(echo, hall, door, room)
    return x
