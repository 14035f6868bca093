"""Busy neighbours: processes that compute in bursts and so disturb the measurements of other programs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

BURSTS = """if True:
    from time import sleep, time
    end = time() + 10
    while time() < end:
        if time() % 0.1 > 0.02:
            sleep(0.001)
"""


@contextmanager
def neighbours(per_core: int) -> Iterator[None]:
    """Run `per_core` processes per core inside the `with` block. All compute at once, 20 of each 100 milliseconds.

    They end with the block, and by themselves after ten seconds.
    """
    command = [sys.executable, "-I", "-S", "-c", BURSTS]
    started = [subprocess.Popen(command) for _ in range(per_core * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()
