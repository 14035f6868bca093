"""Applies one filter after another to the sounds, on the way there and on the way back."""


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
