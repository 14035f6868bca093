"""A function line by line: what was resident after each line, and how much more than before it.

`python -m memory_profiler` runs a script whose functions are decorated with `@profile`, and prints a table. It looks
after each line, so that what a line takes and gives back again is not in it.
"""

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import UsageError

MIB: Final = 1 << 20

_FIGURES: Final = r" +(?P<usage>-?[\d.]+) MiB +(?P<increment>-?[\d.]+) MiB +(?P<times>\d+)   "
_ROW: Final = re.compile(rf"^ *(?P<line>\d+)(?:{_FIGURES}| {{41}}| *$)(?P<text>.*)$")
"""A row with its three figures, or with as much room left empty."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a profiled function. A line that was never run has no figures (None)."""

    number: int
    text: str
    resident_bytes: float | None = None
    more_bytes: float | None = None
    times: int = 0


def line_table(script: str, *, timeout_s: float = 120.0) -> tuple[Line, ...]:
    """Run a script under memory_profiler and return the lines of its functions that are decorated with `@profile`.

    Raises `UsageError` when the script fails, takes too long, or decorates nothing.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-lines-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(script, encoding="utf-8")
        printed = run([sys.executable, "-m", "memory_profiler", str(path)], timeout_s)
    found = parse(printed)
    if not found:
        raise UsageError("Nothing was profiled: decorate a function of the script with @profile, and call it.")
    return found


def parse(printed: str) -> tuple[Line, ...]:
    """Read the table that memory_profiler has printed. Pure."""
    rows = [match for line in printed.splitlines() if (match := _ROW.match(line))]
    return tuple(
        Line(int(row["line"]), row["text"].rstrip())
        if row["usage"] is None
        else Line(
            int(row["line"]),
            row["text"].rstrip(),
            float(row["usage"]) * MIB,
            float(row["increment"]) * MIB,
            int(row["times"]),
        )
        for row in rows
    )


def run(command: list[str], timeout_s: float) -> str:
    """Run a program of memory_profiler's and return what it printed; a `UsageError` with its last words if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(f"The script ran longer than {timeout_s:g} s; look at something shorter.") from None
    if done.returncode or "Traceback" in done.stderr:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"The script failed under memory_profiler: {said[-1] if said else done.returncode}.")
    return done.stdout
