"""Record the allocations of a call with memray, an optional package.

memray replaces the functions of the C library that allocate and free memory, such as `malloc` and `mmap`. So it sees
each call of these functions, also between two samples, and also from C and C++ code.
"""

import importlib.util
import logging
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import MachineError
from harness.timeable import first_result

INSTALL: Final = "python -m pip install 'fairclock[profilers]'"
WITHIN, MOST_FRAMES = 100, 12
"""Memory is temporary if it is freed before `WITHIN` further allocations. A stack keeps its innermost frames."""


@dataclass(frozen=True, slots=True)
class Allocated:
    """Allocations of one kind: their sum in bytes, their number, the allocator's function, and the stack.

    A frame of the stack is "function:line", the innermost first.
    """

    n_bytes: int
    times: int
    allocator: str
    stack: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """The memory that a call allocated, recorded by memray.

    `peak_bytes` is the largest sum of allocated bytes at one time, and `all_bytes` the sum of all allocations. The
    lists contain the memory at that peak, temporary memory (`WITHIN`), and the memory that was still allocated when the
    call had returned. The largest entries come first.
    """

    peak_bytes: int
    all_bytes: int
    allocations: int
    at_peak: tuple[Allocated, ...]
    temporary: tuple[Allocated, ...]
    kept: tuple[Allocated, ...]


def lacking_memray() -> str:
    """Return "" if memray is installed. Otherwise return a text with the command that installs it."""
    return "" if importlib.util.find_spec("memray") else f"memray is missing: {INSTALL}"


def record_allocations(call: Callable[[], object]) -> Recording:
    """Call a function once while memray records, and return the recording. memray must be installed.

    The result of the call exists until the end of the recording. Allocations of other threads count too. Exceptions of
    the call are not caught. Raise `MachineError` if memray is missing, and `UsageError` if the call only returns a
    coroutine or an iterator.
    """
    if lacking_memray():
        raise MachineError(lacking_memray())
    memray: Any = importlib.import_module("memray")  # an optional package; its types lack `set_log_level`
    memray.set_log_level(logging.ERROR)  # its warnings name addresses that it has corrected
    with tempfile.TemporaryDirectory(prefix="fairclock-memray-") as folder:
        file = Path(folder) / "memory.bin"
        with memray.Tracker(file):
            result = first_result(call)
        del result
        with memray.FileReader(file) as reader:
            sizes = [record.size for record in reader.get_allocation_records() if record.size]
            found = Recording(
                reader.metadata.peak_memory,
                sum(sizes),
                len(sizes),
                _largest_first(reader.get_high_watermark_allocation_records(merge_threads=True)),
                _largest_first(reader.get_temporary_allocation_records(merge_threads=True, threshold=WITHIN)),
                _largest_first(reader.get_leaked_allocation_records(merge_threads=True)),
            )
    return found


def of_function(found: Iterable[Allocated], function: str) -> int:
    """Return the bytes whose innermost Python function is `function`."""
    return sum(each.n_bytes for each in found if each.stack and each.stack[0].partition(":")[0] == function)


def _largest_first(records: Iterable[Any]) -> tuple[Allocated, ...]:
    """Return records of memray, the largest first."""
    import memray  # noqa: PLC0415 - an optional package

    found: list[Allocated] = []
    for record in sorted(records, key=lambda record: -int(record.size)):
        frames = tuple(f"{name}:{line}" if line else str(name) for name, _, line in record.stack_trace()[:MOST_FRAMES])
        allocator = memray.AllocatorType(record.allocator).name.lower()
        found.append(Allocated(record.size, record.n_allocations, allocator, frames))
    return tuple(found)
