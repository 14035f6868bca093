"""Samples of Python's own sampling profiler, which Python 3.15 and newer have."""

import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import MachineError, UsageError
from harness.profiles.stats import run_module


def attach(pid: int, seconds: int) -> Counter[tuple[str, ...]]:
    """Return the number of samples of each stack: the names of its functions, the outermost first."""
    with TemporaryDirectory(prefix="fairclock-sampling-") as folder:
        file = Path(folder, "stacks.txt")
        try:
            run_module("profiling.sampling", "attach", "--collapsed", "-d", str(seconds), "-o", str(file), str(pid))
            text = file.read_text(encoding="utf-8")
        except (UsageError, OSError) as error:
            raise MachineError(f"profiling.sampling failed: {error} Run the lesson as root.") from None
    counts = Counter[tuple[str, ...]]()
    for line in text.splitlines():  # such as "tid:7;a.py:<module>:9;a.py:load:3 12"
        stack, _, count = line.rpartition(" ")
        names = (re.sub(r"^.*:(.*):.*$", r"\1", each) for each in stack.split(";") if not each.startswith("tid:"))
        counts[tuple(names)] += int(count)
    return counts
