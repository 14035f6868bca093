"""Give a process another memory layout, by chance, so that no verdict depends on one layout.

Where objects lie in memory changes the speed of equal code: for a loop over small numbers by up to 15 %, and an unused
function in front of a parser made the parser 3 % slower in all of 14 pairs of processes. So the layout changes between
measurements: a number of objects of many sizes are allocated and kept, which moves all objects that are made later. The
processes of a pair allocate the same, so their layouts differ only by what their code does.

Which pages of the machine's memory a process gets matters, too. Two forks of one process have equal code at equal
addresses. Yet their times differ by 1 to 2 % as long as they run, and those of the next two forks by another amount. So
where it is safe, each layout of a pair that times short calls is a fork of its processes.
"""

import os
import random
import signal
import sys
from collections import deque
from contextlib import suppress
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


def descriptors() -> set[Path]:
    """Return the descriptors of the files that this process has opened, if the system lists them."""
    return {*Path("/proc/self/fd").iterdir()} if sys.platform == "linux" else set()


def can_fork(before: set[Path]) -> bool:
    """Return whether a fork of this process can run the same code.

    It cannot if there are other threads, such as those of a GPU, or if there are open files or connections that are not
    in `before`.
    """
    return sys.platform == "linux" and len([*Path("/proc/self/task").iterdir()]) == 1 and descriptors() <= before


def fork() -> bool:
    """Continue in a new process, and return True there. If it ends with `leave`, return False in this process.

    If it ends in another way, this process ends in the same way.
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
    return True


def leave() -> NoReturn:
    """End a new process that `fork` has made, at once."""
    os._exit(_LEFT)


def shuffle(seed: int) -> None:
    """Change the memory layout of this process. Equal seeds allocate equal objects."""
    rng = random.Random(seed)
    blocks: list[object] = [
        bytes(int(16 * 2 ** (_DOUBLINGS * rng.random()))) for _ in range(rng.randrange(_MOST_OBJECTS))
    ]
    numbers = [float(n) for n in range(rng.randrange(100))], [10**9 + n for n in range(rng.randrange(100))]
    _kept.append([blocks, numbers])
