"""Continue in a fork of a process, so that a verdict does not depend on the pages of memory that one process got.

Two forks of one process have equal code at equal addresses. Yet their times differ by 1 to 2 % as long as they run, and
those of the next two forks by another amount. So where it is safe, a pair is timed in a fork for each memory layout.
"""

import ctypes
import mmap
import os
import random
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.processes import process_env

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
    if sys.platform != "linux" or len(process_env.threads(os.getpid())) > 1 or not descriptors() <= before:
        return False
    memory = psutil.Process().memory_info()
    return bool(memory.rss - memory.shared <= _MOST_OWN_BYTES) and _populates()


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
