"""Run `python -m profiling.sampling`, the sampling profiler of Python's standard library from version 3.15 on."""

import importlib.util
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from harness.errors import MachineError, UsageError
from harness.profiles.stats import run_module

FIRST: Final = (3, 15)  # the first version of Python with `profiling.sampling`
_TIMEOUT_S: Final = 60.0

Counts = Counter[tuple[str, ...]]
"""The number of samples of each stack. A stack holds names of functions, the outermost first."""


def lacking() -> str:
    """Return why `profiling.sampling` cannot run here, with what helps, or "" if this Python has the module."""
    try:
        there = importlib.util.find_spec("profiling.sampling") is not None
    except ModuleNotFoundError:
        there = False
    version = ".".join(map(str, FIRST))
    return "" if there else f"needs Python {version} or newer: uv python install {version}. Run the lesson with it"


def attach(pid: int, seconds: int) -> Counts:
    """Return the samples that `python -m profiling.sampling attach PID` takes. Raise `MachineError` if it fails.

    The process must run with the same version of Python. This profiler accepts only whole seconds.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-sampling-") as folder:
        file = Path(folder) / "stacks.txt"
        options = ("attach", "--collapsed", "-d", str(seconds), "-o", str(file), str(pid))
        try:
            run_module("profiling.sampling", *options, timeout_s=seconds + _TIMEOUT_S)
            return read_collapsed(file.read_text(encoding="utf-8"))
        except (UsageError, OSError) as error:
            raise MachineError(f"profiling.sampling failed: {error} Run the lesson as root.") from None


def read_collapsed(text: str) -> Counts:
    """Return the stacks of a text with one stack per line, such as "tid:7;a.py:<module>:9;a.py:load:3 12"."""
    counts = Counts()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [frame for frame in stack.split(";") if not frame.startswith("tid:")]
        if stack and count.isdigit():
            counts[tuple(re.sub(r"^.*:(.*):.*$", r"\1", frame) for frame in frames)] += int(count)
    return counts
