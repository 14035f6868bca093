"""Busy neighbours: processes that compute in bursts and so disturb the measurements of other programs."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


def two_cores_free() -> bool:
    """Return whether two threads that compute without the GIL now run at the same time, each on its own core."""
    data = bytes(64 << 20)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(hashlib.sha256, [b"", b""]))  # starts the threads
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        list(pool.map(hashlib.sha256, [data, data]))
        return time.process_time() - cpu_s > 1.8 * (time.perf_counter() - wall_s)
