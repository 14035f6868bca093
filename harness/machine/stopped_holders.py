"""Find processes that have locked a file but are stopped, for example with Ctrl-Z, and so do not unlock it."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_LOCKS = Path("/proc/locks")
"""A line per lock on this machine, such as `1: FLOCK  ADVISORY  WRITE 812 fe:00:2146416 0 EOF`: process, file."""


def stopped_holders(files: Iterable[Path]) -> tuple[int, ...]:
    """Return the numbers of the stopped processes that hold a lock on one of `files`. Without /proc, return ()."""
    places = {_place(path) for path in files if path.exists()}
    return tuple(sorted({pid for pid, place in _locks() if place in places and _is_stopped(pid)}))


def _place(path: Path) -> str:
    about = path.stat()
    return f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"


def _locks() -> Iterator[tuple[int, str]]:
    try:
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return
    for line in lines:
        words = line.replace("->", "").split()  # "->" marks a process that waits for a lock
        yield int(words[4]), words[5]


def _is_stopped(pid: int) -> bool:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    except OSError:
        return False
    return after_name.split()[0] in {"T", "t"}
