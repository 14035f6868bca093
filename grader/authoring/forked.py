"""Run trusted functions in forked child processes, so that a function that never returns can be ended.

A child shares the data of this process without copying it, and sends lines of text to it. The kernel ends a child that
has used up its CPU time, even while the child runs C code that handles no signals.
"""

import os
import selectors
import signal
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Generic, TypeVar

T = TypeVar("T")

Tell = Callable[[str], None]
"""A function that sends one line of text to the parent process."""

LOOK_S: Final = 0.5
"""The interval in seconds between two checks of the time limits of child processes."""


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """A child process that has ended: the item it worked on, the lines it sent, and whether it ended normally."""

    item: T
    lines: tuple[str, ...]
    by_itself: bool


@dataclass
class _Child(Generic[T]):
    item: T
    pid: int
    pipe: int
    deadline_s: float
    said: bytearray = field(default_factory=bytearray)


def each(
    items: Iterable[T], work: Callable[[T, Tell], None], at_once: int, wall_s: float
) -> Generator[Ended[T], None, None]:
    """Call `work` on each item in a new child process. Yield an `Ended` whenever a child has ended.

    At most `at_once` children run at the same time. A child is killed after `wall_s` seconds. An exception in `work`
    ends the child and is not reported.
    """
    left, running = iter(items), list[_Child[T]]()
    with selectors.DefaultSelector() as selector:
        try:
            while True:
                for item in islice(left, at_once - len(running)):
                    running.append(_started(item, work, wall_s))
                    selector.register(running[-1].pipe, selectors.EVENT_READ, running[-1])
                if not running:
                    return
                for key, _ in selector.select(LOOK_S):
                    if said := os.read(key.fd, 1 << 16):
                        key.data.said += said
                        continue
                    selector.unregister(key.fd)
                    running.remove(key.data)
                    yield _ended(key.data)
                _kill(child for child in running if time.monotonic() > child.deadline_s)
        finally:
            _kill(running)
            for child in running:
                _ended(child)


def end_after(cpu_s: float) -> None:
    """Make the kernel end this process after `cpu_s` more CPU seconds. A later call replaces an earlier limit."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)


def limit_memory(more_bytes: int) -> None:
    """Limit the additional memory of this process to `more_bytes`. This works only on Linux."""
    import resource  # noqa: PLC0415 - Windows has no such module, and must still be able to import this file

    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _started(item: T, work: Callable[[T, Tell], None], wall_s: float) -> _Child[T]:
    reading, writing = os.pipe()
    with warnings.catch_warnings(
        action="ignore", category=DeprecationWarning
    ):  # NumPy has idle threads, but none of them holds a lock
        pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(item, pid, reading, time.monotonic() + wall_s)
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        _be_silent()
        work(item, lambda line: _write(writing, line))
        code = 0
    finally:
        os._exit(code)


def _be_silent() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _write(pipe: int, line: str) -> None:
    os.write(pipe, f"{line.encode('unicode_escape').decode()}\n".encode())


def _ended(child: _Child[T]) -> Ended[T]:
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    lines = child.said.decode().splitlines()
    return Ended(child.item, tuple(line.encode().decode("unicode_escape") for line in lines), status == 0)


def _kill(children: Iterable[_Child[T]]) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
