"""Record the allocations of a call with memray, an optional package.

memray replaces the functions of the C library that allocate and free memory, such as `malloc` and `mmap`. So it sees
each call of these functions, also between two samples, and also from C and C++ code.
"""

import importlib.util
import logging
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
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

    A frame of the stack is "function:line", the innermost first. C and C++ functions may have no line.
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


def record_allocations(call: Callable[[], object], *, native: bool = False) -> Recording:
    """Call a function once while memray records, and return the recording. memray must be installed.

    The result of the call exists until the end of the recording. Allocations of other threads count too. With `native`,
    the stacks contain C and C++ functions. Exceptions of the call are not caught. Raise `MachineError` if memray is
    missing, and `UsageError` if the call only returns a coroutine or an iterator.
    """
    if lacking_memray():
        raise MachineError(lacking_memray())
    memray: Any = importlib.import_module("memray")  # an optional package; its types lack `set_log_level`
    memray.set_log_level(logging.ERROR)  # its warnings name addresses that it has corrected
    with tempfile.TemporaryDirectory(prefix="fairclock-memray-") as folder:
        file = Path(folder) / "memory.bin"
        with memray.Tracker(file, native_traces=native):
            result = first_result(call)
        del result
        with memray.FileReader(file) as reader:
            sizes = [record.size for record in reader.get_allocation_records() if record.size]
            found = Recording(
                reader.metadata.peak_memory,
                sum(sizes),
                len(sizes),
                _largest_first(reader.get_high_watermark_allocation_records(merge_threads=True), native),
                _largest_first(reader.get_temporary_allocation_records(merge_threads=True, threshold=WITHIN), native),
                _largest_first(reader.get_leaked_allocation_records(merge_threads=True), native),
            )
    return found


def of_function(found: Iterable[Allocated], function: str) -> int:
    """Return the bytes whose innermost Python function is `function`."""
    return sum(each.n_bytes for each in found if each.stack and each.stack[0].partition(":")[0] == function)


def native_stack(record: Any) -> list[Any]:
    """Return the C and C++ frames of a record of memray, and its Python frames.

    In a Python without symbols, memray does not merge them. Native are those before the first frame without a name.
    """
    merged, python = record.hybrid_stack_trace(), record.stack_trace()
    if merged[:1] != python[:1]:  # a C function asks for memory, so it is the innermost one
        return list(merged)
    return [*takewhile(lambda frame: frame[0] != "<unknown>", record.native_stack_trace()), *python]


def _largest_first(records: Iterable[Any], native: bool) -> tuple[Allocated, ...]:
    """Return records of memray. Only with `native`, look up C and C++ functions, of the first, which takes seconds."""
    import memray  # noqa: PLC0415 - an optional package

    found: list[Allocated] = []
    for record in sorted(records, key=lambda record: -int(record.size)):
        stack = native_stack(record) if native and not found else record.stack_trace()
        frames = tuple(f"{name}:{line}" if line else str(name) for name, _, line in stack[:MOST_FRAMES])
        allocator = memray.AllocatorType(record.allocator).name.lower()
        found.append(Allocated(record.size, record.n_allocations, allocator, frames))
    return tuple(found)
