"""A compiled loop that benchmarks time. It is in its own file, because numba caches compiled code by file."""

import numba


@numba.njit("int64(int64)", cache=True)
def chain(steps: int) -> int:
    """Run `steps` steps that depend on each other, so that the time is proportional to `steps`.

    The compiler cannot vectorize such steps.
    """
    state = 1
    for _ in range(steps):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return state
