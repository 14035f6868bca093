"""Limit the calling thread, and the threads that it starts, to a few cores."""

import contextlib
import os
import sys
from collections.abc import Iterator


def can_limit() -> bool:
    """Return whether this system can limit a thread to some cores. macOS cannot."""
    return sys.platform == "linux"


@contextlib.contextmanager
def limited_to(cores: int) -> Iterator[None]:
    """Limit the calling thread to at most `cores` cores within the block, if `can_limit` is true.

    Threads that it starts within the block are limited too, also after the block.
    """
    if sys.platform != "linux":
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(allowed)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
