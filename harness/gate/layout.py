"""Give a process another memory layout, by chance, so that no verdict depends on one layout.

Where objects lie in memory changes the speed of equal code: for a loop over small numbers by up to 15 %, and an unused
function in front of a parser made the parser 3 % slower in all of 14 pairs of processes. So the layout changes between
measurements: a number of objects of many sizes are allocated and kept, which moves all objects that are made later. The
processes of a pair allocate the same, so their layouts differ only by what their code does.

Which pages of the machine's memory a process gets matters, too. Two forks of one process have equal code at equal
addresses. Yet their times differ by 1 to 2 % as long as they run, and those of the next two forks by another amount. So
where it is safe, each layout of a pair is a fork of its processes.
"""

import ctypes
import mmap
import os
import random
import signal
import sys
from collections import deque
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

SEED_VARIABLE: Final = "FAIRCLOCK_DUEL_SEED"
"""An environment variable with the seed of the layout at the start of a process."""

PAD_VARIABLE: Final = "FAIRCLOCK_DUEL_PAD"
"""An environment variable of random length, which moves the stack."""

_MOST_OBJECTS: Final = 400
_DOUBLINGS: Final = 10  # the sizes are 16 bytes to 16 KB; each doubling is equally likely
_KEPT: Final = 32  # the objects of earlier layouts are freed, so that memory does not grow without end

_kept: deque[list[object]] = deque(maxlen=_KEPT)

_LEFT: Final = 77  # the exit status of a fork that has called `leave`
_MOST_OWN_BYTES: Final = 1 << 28  # of a process that forks
_POPULATE: Final = 23  # the number that Linux has for "copy these pages now"


def descriptors() -> set[Path]:
    """Return the descriptors of the files that this process has opened, if the system lists them."""
    return {*Path("/proc/self/fd").iterdir()} if sys.platform == "linux" else set()


def can_fork(before: set[Path]) -> bool:
    """Return whether a fork of this process can run the same code.

    It cannot if there are other threads, such as those of a GPU, or if there are open files or connections that are not
    in `before`. It would take too long if this process has much memory of its own.
    """
    if sys.platform != "linux" or len([*Path("/proc/self/task").iterdir()]) > 1 or not descriptors() <= before:
        return False
    resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return (resident - shared) * mmap.PAGESIZE <= _MOST_OWN_BYTES and _populates()


def fork(*, populates: bool) -> bool:
    """Continue in a new process, and return True there. If it ends with `leave`, return False in this process.

    If it ends in another way, this process ends in the same way. The new process shares its memory with this one until
    it writes to it. If it `populates`, it gets its own copy now, so the first timed call does not have to make it.
    """
    state = random.getstate()  # a new process would get other random numbers
    if pid := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status < 0:
            with suppress(OSError):  # SIGKILL has no other handler
                signal.signal(-status, signal.SIG_DFL)
            os.kill(os.getpid(), -status)
        if status != _LEFT:
            os._exit(status)
        return False
    random.setstate(state)
    for line in Path("/proc/self/maps").read_text().splitlines() if populates else ():
        place, rights, *_ = line.split()
        if rights == "rw-p":
            begin, end = (int(each, 16) for each in place.split("-"))
            _populate(begin, end - begin)
    return True


def leave() -> NoReturn:
    """End a new process that `fork` has made, at once."""
    os._exit(_LEFT)


def _populate(address: int, size: int) -> bool:
    advise = ctypes.CDLL(None).madvise
    return bool(advise(ctypes.c_void_p(address), ctypes.c_size_t(size), _POPULATE) == 0)


@cache
def _populates() -> bool:
    """Return whether the kernel can copy pages on request, as Linux can since 5.14."""
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        view = ctypes.c_char.from_buffer(page)
        can = _populate(ctypes.addressof(view), mmap.PAGESIZE)
        del view  # else the page cannot be closed
    return can


def shuffle(seed: int) -> None:
    """Change the memory layout of this process. Equal seeds allocate equal objects."""
    rng = random.Random(seed)
    blocks: list[object] = [
        bytes(int(16 * 2 ** (_DOUBLINGS * rng.random()))) for _ in range(rng.randrange(_MOST_OBJECTS))
    ]
    numbers = [float(n) for n in range(rng.randrange(100))], [10**9 + n for n in range(rng.randrange(100))]
    _kept.append([blocks, numbers])
