"""Count what a call costs instead of timing it: its instructions, or the most memory that it needs at one time.

A counter is called like a clock, directly before and directly after the counted calls. The second call adds what was
counted in between to `total`.

Instructions are counted by valgrind's tool Callgrind, in a process that `VALGRIND` starts. A process talks to valgrind
by instructions that have no effect elsewhere (valgrind.h, "client requests"). With their help, a count costs 10 ms.

Memory is what Python's allocators have reserved, as `tracemalloc` traces them, and with them the arrays of NumPy. The
resident memory of the process would contain C libraries, too, but it grows in pages, and not for memory that an earlier
call has left. So it would not be equal for equal code.
"""

import ctypes
import gc
import itertools
import mmap
import os
import platform
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from harness.errors import MachineError
from harness.gate.settings import GateCost
from harness.machine import programs
from harness.machine.clocks import Clock
from harness.paired.blocks import TimingLoop

_FILE: Final = ".duel-counts"
VALGRIND: Final = (
    "valgrind",
    "--tool=callgrind",
    "--instr-atstart=no",  # else a start of pytest would take a minute
    "--vgdb=no",
    "-q",
    f"--callgrind-out-file={_FILE}.%p",
)
"""The beginning of a command whose process can count instructions. It writes files to its current folder."""

_FOLDER: Final = Path.cwd()  # at the start; a test may change it
_REQUEST: Final = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
"""An x86-64 function: a client request with the array that is its argument. Without valgrind, it returns 0."""

_IS_RUNNING: Final = 0x1001
_DUMP, _ZERO, _START, _STOP = (ord("C") << 24 | ord("T") << 16 | number for number in (0, 1, 4, 5))  # callgrind.h
_LAST_BYTES: Final = 200
_dumps = itertools.count(1)  # valgrind numbers its files
_WARM_UP: Final = 5  # empty counts; all after the third one are equal


def lacking(cost: GateCost) -> str:
    """Return why this machine cannot count this cost, with the command that installs what is missing, or ""."""
    if cost is not GateCost.INSTRUCTIONS:
        return ""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "instructions are counted only on Linux, on x86-64 processors"
    return programs.lacking("valgrind", programs.VALGRIND, "valgrind")


class Counter(Protocol):
    """The interface of a counter. `total` is the sum for instructions, and the maximum for memory."""

    total: float

    def __call__(self) -> float:
        """Begin or end a count. The returned value has no meaning."""

    def close(self) -> None:
        """Switch the counting off."""


class InstructionCounter:
    """Counts the instructions of all threads of this process. Raise `MachineError` if valgrind does not run it."""

    def __init__(self) -> None:
        self.total, self._overhead, self._is_counting = 0.0, 0.0, False
        if sys.platform != "linux":
            raise MachineError("Instructions are counted only on Linux.")
        self._code = mmap.mmap(-1, len(_REQUEST), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._code.write(_REQUEST)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._code))
        self._ask = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(address)
        if not self._ask(_argument(_IS_RUNNING)):
            raise MachineError(f"The process of {sys.executable} does not run under valgrind. Use the program itself.")
        self._zero, self._dump = _argument(_ZERO), _argument(_DUMP)
        self._ask(_argument(_START))
        self._overhead = _empty(self)

    def __call__(self) -> float:
        """Begin or end a count."""
        if self._is_counting:
            self._ask(self._dump)
            self._is_counting = False
            self.total += max(0.0, self._dumped() - self._overhead)
        else:
            self._is_counting = True
            self._ask(self._zero)
        return 0.0

    def _dumped(self) -> float:
        file = _FOLDER / f"{_FILE}.{os.getpid()}.{next(_dumps)}"
        try:
            end = file.read_bytes()[-_LAST_BYTES:]
            file.unlink()
        except OSError as error:
            raise MachineError(f"valgrind did not write the instructions to {file} ({error.strerror}).") from error
        return float(end.rpartition(b"totals: ")[2])

    def close(self) -> None:
        """Switch the counting off, so that the process becomes faster."""
        self._ask(_argument(_STOP))


class MemoryCounter:
    """Finds the highest additional memory of one call in bytes. As usual, garbage is collected during the call."""

    def __init__(self) -> None:
        self.total, self._overhead, self._before, self._is_counting = 0.0, 0.0, 0, False
        tracemalloc.start()
        self._overhead = _empty(self)

    def __call__(self) -> float:
        """Begin or end a count."""
        if self._is_counting:
            peak = tracemalloc.get_traced_memory()[1]
            gc.disable()
            self._is_counting = False
            self.total = max(self.total, peak - self._before - self._overhead)
        else:
            self._is_counting = True
            gc.collect()  # also empties the lists of freed objects, so that each call allocates the same
            gc.enable()
            tracemalloc.reset_peak()
            self._before = tracemalloc.get_traced_memory()[0]
        return 0.0

    def close(self) -> None:
        """Stop tracing."""
        tracemalloc.stop()


_COUNTERS: Final[dict[GateCost, Callable[[], Counter]]] = {
    GateCost.INSTRUCTIONS: InstructionCounter,
    GateCost.MEMORY: MemoryCounter,
}


class CountedCall:
    """A timed call whose costs can be counted. `loop` returns a function that times a block of calls with a clock."""

    def __init__(self, loop: Callable[[Clock], TimingLoop]) -> None:
        self._loop, self._known = loop, dict[GateCost, tuple[Counter, TimingLoop]]()

    def block(self, cost: GateCost, calls: int) -> dict[str, object]:
        """Run a block of calls, and return what was counted, and the wall seconds with the counting."""
        if cost not in self._known:
            counter = _COUNTERS[cost]()
            self._known[cost] = counter, self._loop(counter)
        counter, block = self._known[cost]
        counter.total = 0.0
        wall_s = block(calls).wall_s
        return {"counted": counter.total, "wall_s": wall_s}

    def close(self) -> None:
        """End the counting."""
        for counter, _ in self._known.values():
            counter.close()


def _empty(counter: Counter) -> float:
    """Return what a counter counts without a call."""
    for _ in range(_WARM_UP):
        counter.total = 0.0
        counter()
        counter()
    return counter.total


def _argument(number: int) -> ctypes.Array[ctypes.c_long]:
    return (ctypes.c_long * 6)(number)
