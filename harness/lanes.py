"""Lanes: one core each, taken so that no two timings on this machine share a core.

A lane is an exclusive `flock` on a file that stands for a core. Every process that measures takes one
first: two graders, a grader and a lesson, two users of one machine. The kernel releases the lock when its
holder ends, however it ends. A lane only reserves the core; whoever measures binds its own processes to
`Lane.core`.

The lock is advisory: it keeps out measurements, not other programs. That is what pairs and controls are for.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError, UsageError

if sys.platform != "win32":
    import fcntl

DIRECTORY_VARIABLE = "FAIRCLOCK_LANES"
"""Environment variable that names another folder for the lock files; one machine needs one folder."""

_DIRECTORY = Path("/tmp/fairclock-lanes")  # noqa: S108 - shared by all users on purpose; nothing is read from it

_POLL_S = 0.02
"""How often a waiting lane looks again: rare enough to cost nothing, often beside a pair of 0.5 s."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A core that is ours until the `with` block ends."""

    core: int


@contextmanager
def lane(cores: Sequence[int] | None = None, timeout_s: float | None = None) -> Iterator[Lane]:
    """Wait for a free core among `cores` (by default those this process may run on) and hold it.

    Threads of one process exclude each other as processes do. A forked child shares its parent's lane.

    Raises `MachineError` when none becomes free within `timeout_s` seconds (0 looks once; None waits for
    ever), and `UsageError` when this process may run on none of `cores`.
    """
    candidates = _candidates(cores)
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while (held := _first_free(candidates)) is None:
        if deadline_s is not None and time.monotonic() >= deadline_s:
            listed = ", ".join(map(str, candidates))
            raise MachineError(
                f"Other measurements hold every core asked for ({listed}); wait for them to end, or ask for "
                "fewer at a time."
            )
        time.sleep(_POLL_S)
    core, descriptor = held
    try:
        yield Lane(core)
    finally:
        # Unlocked by name: a forked child may still hold a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def free_cores() -> tuple[int, ...]:
    """Return the cores that this process may run on and that no lane holds at this moment."""
    free = []
    for core in _candidates(None):
        descriptor = _try_lock(core)
        if descriptor is not None:
            os.close(descriptor)
            free.append(core)
    return tuple(free)


def _candidates(cores: Sequence[int] | None) -> tuple[int, ...]:
    """Return one usable core for each physical core: what shares its arithmetic units shares its lane."""
    if sys.platform == "win32":
        raise MachineError("Lanes need file locks that Windows lacks; run the grader on Linux, or in WSL.")
    if sys.platform == "linux":
        usable = os.sched_getaffinity(0)
    else:
        usable = set(range(os.cpu_count() or 1))
    wanted = sorted(usable) if cores is None else [core for core in cores if core in usable]
    if not wanted:
        listed = ", ".join(map(str, sorted(usable)))
        raise UsageError(f"This process may not run on any core asked for; choose among {listed}.")
    chosen: dict[int, int] = {}
    for core in wanted:
        chosen.setdefault(_physical(core), core)
    return tuple(chosen.values())


def _physical(core: int) -> int:
    """Return the number of the first hardware thread on the same physical core."""
    siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    if not siblings.exists():
        return core
    first = siblings.read_text(encoding="ascii").replace("-", ",").partition(",")[0]
    return int(first)


def _first_free(cores: Sequence[int]) -> tuple[int, int] | None:
    for core in cores:
        descriptor = _try_lock(core)
        if descriptor is not None:
            return core, descriptor
    return None


def _try_lock(core: int) -> int | None:
    """Return an open, locked descriptor, or None where somebody holds this core.

    The file is opened anew each time: a lock belongs to the opening, so threads exclude each other too.
    """
    descriptor = _open(_directory() / f"core-{_physical(core)}.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _directory() -> Path:
    directory = Path(os.environ.get(DIRECTORY_VARIABLE) or _DIRECTORY)
    try:
        directory.mkdir()
        directory.chmod(0o1777)
    except FileExistsError:
        pass
    except OSError as error:
        raise MachineError(
            f"Lanes cannot keep their lock files in {directory} ({error.strerror}); "
            f"set {DIRECTORY_VARIABLE} to a folder that every user of this machine may write to."
        ) from error
    return directory


def _open(path: Path) -> int:
    """Open the lock file, making it where it is missing, so that every other user can open it as well.

    Opening and creating are two steps: Linux refuses `O_CREAT` on somebody else's file in a folder like /tmp
    (fs.protected_regular). Reading is enough to take a lock.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, 0o666)
            if os.fstat(descriptor).st_uid == os.getuid():
                os.fchmod(descriptor, 0o666)
            return descriptor
    except OSError as error:
        raise MachineError(
            f"The lock file {path} cannot be opened ({error.strerror}); delete it, or name another folder in "
            f"{DIRECTORY_VARIABLE}."
        ) from error
