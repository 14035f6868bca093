"""A compiled loop to be timed. It has a file of its own because numba keeps compiled code by file."""

import numba


@numba.njit("int64(int64)", cache=True)
def chain(steps: int) -> int:
    """Take `steps` steps, each of which needs the one before: nothing to vectorise, and time is linear in them."""
    state = 1
    for _ in range(steps):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return state
