"""Lanes: locks on CPU cores. With them, two measurements on this machine never use the same core.

A lane is an exclusive `flock` on one file per core, which the kernel releases when the process ends. It only reserves
cores: the process must then bind itself to `Lane.cores`.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import MachineError, UsageError

if sys.platform != "win32":
    import fcntl

DIRECTORY_VARIABLE = "FAIRCLOCK_LANES"
"""Environment variable for another folder of the lock files. All users of a machine must use the same folder."""

_POLL_S = 0.02  # seconds between two attempts to get a lane
_LOOK_S = 3.0  # seconds between two searches for stopped processes that hold the cores


@dataclass(frozen=True, slots=True)
class Lane:
    """Reserved CPU cores: no other measurement uses them until the end of the `with` block."""

    cores: tuple[int, ...]

    @property
    def core(self) -> int:
        """The first reserved core. A lane of width 1 has only this core."""
        return self.cores[0]


@contextmanager
def lane(width: int = 1) -> Iterator[Lane]:
    """Wait until `width` cores of this process are free, and reserve them until the end of the `with` block.

    A forked child shares its parent's cores. Raise `UsageError` if this process may use fewer physical cores.
    """
    cores = _cores()
    if not 1 <= width <= len(cores):
        raise UsageError(f"On this machine, a lane can have 1 to {len(cores)} physical cores, not {width}.")
    announced, look_s = False, time.monotonic() + _LOOK_S
    while len(held := _locked(cores, width)) < width:
        _give_back(held)
        if not announced and time.monotonic() > look_s:
            announced, look_s = _announce_stopped(cores), time.monotonic() + _LOOK_S
        time.sleep(_POLL_S)
    try:
        yield Lane(tuple(held))
    finally:
        _give_back(held)


@contextmanager
def core_without_measurements() -> Iterator[int]:
    """Wait until no measurement uses the last core, and keep all measurements off it until the end of the `with` block.

    Yield the core. It is the same for all callers on this machine, which share it, so that the other cores stay free.
    """
    core = _cores()[-1]
    descriptor = _open(_lock_file(core))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield core
    finally:
        _give_back({core: descriptor})


def free_cores() -> tuple[int, ...]:
    """Return the cores that this process may use and that no measurement has reserved now."""
    held = _locked(_cores())
    _give_back(held)
    return tuple(held)


def physical_cores() -> int:
    """Return the number of physical cores that this process may use. Two hyperthreads of a core count once."""
    return len(_cores())


def _cores() -> tuple[int, ...]:
    """Return one usable hyperthread per physical core, because the hyperthreads of a core slow each other."""
    if sys.platform == "win32":
        raise MachineError("Lanes need file locks, which Windows lacks. Run the grader on Linux or in WSL.")
    usable = os.sched_getaffinity(0) if sys.platform == "linux" else range(os.cpu_count() or 1)
    chosen: dict[int, int] = {}
    for core in sorted(usable):
        chosen.setdefault(_physical(core), core)
    return tuple(chosen.values())


def _physical(core: int) -> int:
    siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    if not siblings.exists():
        return core
    return int(siblings.read_text(encoding="ascii").replace("-", ",").partition(",")[0])


def _announce_stopped(cores: Sequence[int]) -> bool:
    """Print a line if stopped processes hold some of the cores, because then the wait may never end."""
    if stopped := _stopped_holders(cores):
        print(
            f"Waiting for a CPU core. A measurement that was stopped, for example with Ctrl-Z, holds it (process "
            f"{', '.join(stopped)}). Continue it with `fg`, or end it with `kill -9 {' '.join(stopped)}`.",
            file=sys.stderr,
            flush=True,
        )
    return bool(stopped)


def _stopped_holders(cores: Sequence[int]) -> list[str]:
    about = [_lock_file(core).stat() for core in cores]
    places = {f"{os.major(each.st_dev):02x}:{os.minor(each.st_dev):02x}:{each.st_ino}" for each in about}
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    # A line is such as `1: FLOCK  ADVISORY  WRITE 812 fe:00:2146416 0 EOF`. "->" marks a process that waits for a lock.
    locks = [line.replace("->", "").split() for line in lines]
    return sorted({words[4] for words in locks if words[5] in places and _is_stopped(int(words[4]))})


def _is_stopped(pid: int) -> bool:
    with suppress(psutil.Error):
        return psutil.Process(pid).status() in {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP}
    return False


def _give_back(held: Mapping[int, int]) -> None:
    for descriptor in held.values():
        # Closing the file alone does not unlock it if a forked child holds a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(cores: Sequence[int], most: int | None = None) -> dict[int, int]:
    # A lock belongs to one open file, and each call opens the file again. So threads exclude each other, too.
    held: dict[int, int] = {}
    for core in cores:
        if len(held) == most:
            break
        descriptor = _open(_lock_file(core))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held[core] = descriptor
        except BlockingIOError:
            os.close(descriptor)
    return held


def directory() -> Path:
    """Return the folder of the lock files, which may not exist yet."""
    return Path(os.environ.get(DIRECTORY_VARIABLE) or "/tmp/fairclock-lanes")  # noqa: S108 - shared by all users


def _lock_file(core: int) -> Path:
    made = directory()
    try:
        with suppress(FileExistsError):
            made.mkdir()
            made.chmod(0o1777)
    except OSError as error:
        raise MachineError(
            f"The lock files of the cores cannot be stored in {made} ({error.strerror}). "
            f"Set {DIRECTORY_VARIABLE} to a folder that every user of this machine may write to."
        ) from error
    return made / f"core-{_physical(core)}.lock"


def _open(path: Path) -> int:
    """Open the lock file for reading, which is enough for a lock. If it is missing, create it for all users.

    Linux refuses `O_CREAT` for another user's existing file in a folder such as /tmp (fs.protected_regular).
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # to open a pipe that another user has put there
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
            f"The lock file {path} cannot be opened ({error.strerror}). Delete it, or set {DIRECTORY_VARIABLE} to "
            "another folder."
        ) from error
