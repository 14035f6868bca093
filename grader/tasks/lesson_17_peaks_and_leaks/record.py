"""Record the allocations for the task `at_peak` again: `python -m grader.tasks.lesson_17_peaks_and_leaks.record`.

Each program runs under memray, which records each block of Python's allocator. The recording is the middle part of the
program's events. So it also contains frees of blocks that were allocated before it begins. memray must be installed:
python -m pip install 'fairclock[profilers]'
"""

import argparse
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final

from grader.tasks import recordings
from harness.errors import MachineError
from harness.memory.allocations import lacking_memray

from .at_peak import EVENTS, Event

FIRST: Final = 100
LAST: Final = 280
"""The part of a program's events that is recorded."""


def programs() -> dict[str, Callable[[], object]]:
    """Return small functions, by name, that call Python code of the standard library."""

    def parser() -> None:
        made = argparse.ArgumentParser("record", description="Record a program.")
        for option in ("--out", "--first", "--last"):
            made.add_argument(option, type=int, help="a number")

    return {"argparse": parser, **recordings.library_programs(Path(__file__).read_text(encoding="utf-8"))}


def recorded(program: Callable[[], object]) -> list[Event]:
    """Return each allocation and each free of a program. Addresses are numbered in the order of their first use."""
    import memray  # noqa: PLC0415 - an optional package

    frees = {memray.AllocatorType.FREE, memray.AllocatorType.PYMALLOC_FREE}
    numbers, events = dict[int, int](), list[Event]()
    with tempfile.TemporaryDirectory(prefix="fairclock-record-") as folder:
        file = Path(folder) / "memory.bin"
        with memray.Tracker(file, trace_python_allocators=True):
            program()
        with memray.FileReader(file) as reader:
            for record in reader.get_allocation_records():
                number = numbers.setdefault(record.address, len(numbers))
                if record.allocator in frees:
                    events.append(("free", number, 0, ""))
                elif stack := record.stack_trace(max_stacks=1):
                    events.append(("alloc", number, record.size, stack[0][0]))
    return events


def record() -> dict[str, list[Event]]:
    """Return a part of the events of each program, by name. Raise `MachineError` if memray is missing."""
    if missing := lacking_memray():
        raise MachineError(f"The allocations cannot be recorded on this machine: {missing}")
    found = {}
    for name, program in programs().items():
        program()  # so that imports and other work of a first call are not recorded
        found[name] = recorded(program)[FIRST:LAST]
    return found


if __name__ == "__main__":
    recordings.write(EVENTS, record(), f"memray {version('memray')}")
