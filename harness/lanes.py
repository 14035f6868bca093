"""Lanes: cores, taken so that no two timings on this machine share one.

A lane is an exclusive `flock` on a file that stands for a core, or on several for work on several threads. Every
process that measures takes one first: two graders, a grader and a lesson, two users of one machine. The kernel
releases the lock when its holder ends, however it ends. A lane only reserves; whoever measures binds its own processes
to `Lane.cores`.

The lock is advisory: it keeps out measurements, not other programs. That is what pairs and controls are for.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
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
    """Cores that are ours until the `with` block ends."""

    cores: tuple[int, ...]

    @property
    def core(self) -> int:
        """The first of them, and the only one unless a wider lane was asked for."""
        return self.cores[0]


@contextmanager
def lane(cores: Sequence[int] | None = None, timeout_s: float | None = None, *, width: int = 1) -> Iterator[Lane]:
    """Wait until `width` cores are free among `cores` (by default those this process may run on) and hold them.

    Threads of one process exclude each other as processes do. A forked child shares its parent's lane.

    Raises `MachineError` when none becomes free within `timeout_s` seconds (0 looks once; None waits for
    ever), and `UsageError` when this process may run on none of `cores`, or on fewer physical ones than `width`.
    """
    candidates = _candidates(cores)
    if not 1 <= width <= len(candidates):
        raise UsageError(f"A lane can be 1 to {len(candidates)} physical cores wide here, not {width}.")
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while (held := _take(candidates, width)) is None:
        if deadline_s is not None and time.monotonic() >= deadline_s:
            listed = ", ".join(map(str, candidates))
            raise MachineError(
                f"Other measurements hold every core asked for ({listed}); wait for them to end, or ask for "
                "fewer at a time."
            )
        time.sleep(_POLL_S)
    try:
        yield Lane(tuple(held))
    finally:
        _give_back(held)


def free_cores() -> tuple[int, ...]:
    """Return the cores that this process may run on and that no lane holds at this moment."""
    free = []
    for core in _candidates(None):
        descriptor = _try_lock(core)
        if descriptor is not None:
            os.close(descriptor)
            free.append(core)
    return tuple(free)


def physical_cores() -> int:
    """Return how many cores this process may time on at once."""
    return len(_candidates(None))


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


def _take(cores: Sequence[int], width: int) -> dict[int, int] | None:
    """Lock so many cores, or none: two that wait for the rest of theirs would wait for each other."""
    held: dict[int, int] = {}
    for core in cores:
        descriptor = _try_lock(core)
        if descriptor is not None:
            held[core] = descriptor
        if len(held) == width:
            return held
    _give_back(held)
    return None


def _give_back(held: Mapping[int, int]) -> None:
    for descriptor in held.values():
        # Unlocked by name: a forked child may still hold a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


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


def directory() -> Path:
    """Return the folder of the lock files; it need not exist yet."""
    return Path(os.environ.get(DIRECTORY_VARIABLE) or _DIRECTORY)


def _directory() -> Path:
    made = directory()
    try:
        made.mkdir()
        made.chmod(0o1777)
    except FileExistsError:
        pass
    except OSError as error:
        raise MachineError(
            f"Lanes cannot keep their lock files in {made} ({error.strerror}); "
            f"set {DIRECTORY_VARIABLE} to a folder that every user of this machine may write to."
        ) from error
    return made


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
