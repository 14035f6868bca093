"""Record the allocations of a call or of a running script with memray, an optional package.

memray replaces the functions of the C library that allocate and free memory, such as `malloc` and `mmap`. So it sees
each call of these functions, also between two samples, and also from C and C++ code.
"""

import importlib.util
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package

from harness.errors import MachineError, UsageError
from harness.processes.channel import Closed
from harness.processes.launcher import KIT, Child
from harness.profiles.servers import free_port
from harness.timeable import first_result

INSTALL: Final = "python -m pip install 'fairclock[profilers]'"
WITHIN, MOST_FRAMES = 100, 12
"""Memory is temporary if it is freed before `WITHIN` further allocations. A stack keeps its innermost frames."""

PAUSE: Final = """
from harness.processes.channel import stdio_channel
pause_channel = stdio_channel()
def pause(name):
    pause_channel.send(b"p", {"name": name})
    pause_channel.receive()

"""
"""A function for scripts: it sends the name of a stage, and waits until this stage was read."""

START_S: Final = 60.0
"""Time limit for a script with all its stages, in seconds."""

_SETTLE_S: Final = 5.0
_POLL_S: Final = 0.05


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


def record_allocations(
    call: Callable[[], object], *, native: bool = False, python_allocator: bool = False
) -> Recording:
    """Call a function once while memray records, and return the recording. memray must be installed.

    The result of the call exists until the end of the recording. Allocations of other threads count too. With `native`,
    the stacks contain C and C++ functions. With `python_allocator`, memray also records each allocation of Python's own
    allocator. Exceptions of the call are not caught. Raise `MachineError` if memray is missing, and `UsageError` if the
    call only returns a coroutine or an iterator.
    """
    if lacking_memray():
        raise MachineError(lacking_memray())
    memray: Any = importlib.import_module("memray")  # an optional package; its types lack `set_log_level`
    memray.set_log_level(logging.ERROR)  # its warnings name addresses that it has corrected
    with tempfile.TemporaryDirectory(prefix="fairclock-memray-") as folder:
        file = Path(folder) / "memory.bin"
        with memray.Tracker(file, native_traces=native, trace_python_allocators=python_allocator):
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


@dataclass(frozen=True, slots=True)
class LiveStage:
    """The allocated bytes of each function of a script at one stage, while the script waited."""

    name: str
    n_bytes: dict[str, int]


def live_stages(script: str, functions: Sequence[str], *, timeout_s: float = START_S) -> tuple[LiveStage, ...]:
    """Run a script under memray's live tracking, and return the memory of `functions` at each stage of the script.

    The script calls `pause(name)` at the end of a stage. Raise `UsageError` if the script fails, or if it takes longer
    than `timeout_s` seconds with all its stages. memray must be installed.
    """
    port, stages = free_port(), list[LiveStage]()
    with tempfile.TemporaryDirectory(prefix="fairclock-live-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(PAUSE + script, encoding="utf-8")
        command = [sys.executable, "-m", "memray", "run", "-q", "--live-remote", "--live-port", str(port), str(path)]
        places = os.pathsep.join([str(KIT), *filter(None, [os.environ.get("PYTHONPATH")])])
        with Child(command, {**os.environ, "PYTHONPATH": places}) as child:
            limit = threading.Timer(timeout_s, child.kill)
            limit.start()
            try:
                with _connected(child, port) as reader:
                    with suppress(Closed):
                        while True:
                            _, stage = child.receive()
                            stages.append(LiveStage(stage["name"], _settled(reader, functions)))
                            child.send(b"g")
                    status = child.exit_status()
            finally:
                limit.cancel()
    if status:
        raise UsageError(f"The script failed, or ran longer than {timeout_s:g} s, under memray's live tracking.")
    return tuple(stages)


def _connected(child: Child, port: int) -> Any:
    """Return a reader for a new script that listens on `port`. Raise `UsageError` if the script ends before.

    memray's reader would wait for ever for a script that never listens.
    """
    from memray import SocketReader  # noqa: PLC0415 - an optional package

    with suppress(psutil.Error):
        process = psutil.Process(child.pid)
        connections = getattr(process, "net_connections", None) or process.connections  # psutil before version 6
        while process.status() != psutil.STATUS_ZOMBIE:
            listening = [each for each in connections("tcp") if each.status == psutil.CONN_LISTEN]
            if any(each.laddr.port == port for each in listening):
                return SocketReader(port=port)
            time.sleep(_POLL_S)
    raise UsageError("The script ended before memray's live tracking began. Run it again.")


def _settled(reader: Any, functions: Sequence[str]) -> dict[str, int]:
    """Return the bytes of each function as soon as several snapshots agree. memray sends its data late, in groups."""
    ends_s = time.monotonic() + _SETTLE_S
    seen, equal = _snapshot(reader, functions), 0
    while equal < 6 and time.monotonic() < ends_s:
        time.sleep(_POLL_S)
        before, seen = seen, _snapshot(reader, functions)
        equal = equal + 1 if seen == before else 0
    return seen


def _snapshot(reader: Any, functions: Sequence[str]) -> dict[str, int]:
    found = Counter[str](dict.fromkeys(functions, 0))
    for record in reader.get_current_snapshot(merge_threads=True):
        for name, _, _ in record.stack_trace(max_stacks=1):
            if name in functions:
                found[name] += record.size
    return dict(found)
