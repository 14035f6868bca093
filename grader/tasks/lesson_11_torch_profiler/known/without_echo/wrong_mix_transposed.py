"""Mixing with the transposed matrix gives this wrong answer. The transpose of y @ mix is mix.T @ y.T, not mix @ y.T."""

from baseline import back


def without_echo(x, hall, door, room, mix):
    echo = (x.T @ hall.T @ door.T @ room.T).clamp(-1, 1)
    for _ in range(6):
        echo = 0.5 * (echo + mix @ echo)
    return x - back(echo.T, hall, door, room)
