"""Applies one filter after another to the sounds, on the way there and on the way back.

Trade: Each product contains the small matrix, so no large product is possible. It writes both chains as loops.
"""


def without_echo(x, hall, door, room, mix):
    echo = x
    for each in (hall, door, room):
        echo = each.mm(echo)
    echo = echo.clamp_(-1, 1)
    for _ in range(6):
        echo = (echo + echo.mm(mix)).mul_(0.5)
    for each in (room, door, hall):
        echo = each.T.mm(echo)
    return x - echo
