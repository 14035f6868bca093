"""Start processes that load the machine on purpose while a `with` block or a command runs.

    python tests/benchmarks/neighbours.py bursty python -m lessons check-claims --times 3

Each process checks at least every 0.3 s whether its parent still runs, and otherwise ends.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_HEAD = "import os, random, sys, time\nparent = int(sys.argv[1])\n"
_READY = "sys.stdout.write('.'); sys.stdout.flush()\n"

BUSY = f"""{_HEAD}{_READY}
while os.getppid() == parent:
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until:
        pass
"""

_BURSTY = f"""{_HEAD}{_READY}
while os.getppid() == parent:
    until = time.perf_counter() + random.uniform(0.005, 0.05)
    while time.perf_counter() < until:
        pass
    time.sleep(random.uniform(0.005, 0.05))
"""

# Pages that were never written share one page of zeros, which stays in the cache. So all pages are written first.
_STREAM = f"""{_HEAD}
size = int(sys.argv[2])
source, target = memoryview(bytearray(b"1") * size), memoryview(bytearray(b"2") * size)
{_READY}
while os.getppid() == parent:
    target[:] = source
"""

_STREAM_BYTES = 1 << 28
"""The size of each of a streaming process's two arrays, which no cache holds."""


@dataclass(frozen=True, slots=True)
class Load:
    """A way to load a machine: `count(cores)` processes that run `code`."""

    name: str
    code: str
    count: Callable[[int], int]


LOADS = (
    Load("as it is", "", lambda _: 0),
    Load("bursty", _BURSTY, lambda _: 3),
    Load("full", BUSY, lambda cores: cores + 1),
    Load("memory", _STREAM, lambda cores: max(1, cores - 1)),
)


@contextmanager
def disturbed(load: Load) -> Iterator[None]:
    """Keep the machine under `load` during the `with` block. All processes are working when it begins and ended after
    it.
    """
    with neighbours(load.code, load.count(len(os.sched_getaffinity(0)))):
        yield


@contextmanager
def neighbours(code: str, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    command = [sys.executable, "-S", "-c", code, str(os.getpid()), str(_STREAM_BYTES)]
    started: list[subprocess.Popen[str]] = []
    try:
        while len(started) < count:  # in a new session, Ctrl-C reaches only this process, which ends the others
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))
        for process in started:
            assert process.stdout is not None
            if process.stdout.read(1) != ".":
                raise RuntimeError(f"A neighbour ended at once, with code {process.wait()}; look at the memory left.")
        yield started
    finally:
        for process in started:
            process.kill()
        for process in started:
            with process:  # closes the process's pipe and waits for its end
                pass


if __name__ == "__main__":
    with disturbed(next(load for load in LOADS if load.name == sys.argv[1])):
        status = subprocess.call(sys.argv[2:])
    sys.exit(status)
