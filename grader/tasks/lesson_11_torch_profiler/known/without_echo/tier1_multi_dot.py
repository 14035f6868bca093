"""Lets torch.linalg.multi_dot choose the order of each chain.

Trade: The order also fits other shapes. torch searches for it in each call, and empty inputs need a special case.
"""

from torch.linalg import multi_dot

from baseline import mixed


def without_echo(x, hall, door, room, mix):
    if not x.numel():
        return x.clone()
    echo = mixed(multi_dot((room, door, hall, x)).clamp(-1, 1), mix)
    return x - multi_dot((echo.T, room, door, hall)).T
