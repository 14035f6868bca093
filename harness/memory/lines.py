"""Measure the resident memory of a function line by line.

`python -m memory_profiler` runs a script whose functions are decorated with `@profile`, and prints a table. It measures
after each line, so it misses memory that a line allocates and frees again.
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


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a profiled function.

    `resident_bytes` is the resident memory of the process after the line, `more_bytes` the increase by the line. They
    are None if the line never ran. `times` is how often the line ran.
    """

    number: int
    text: str
    resident_bytes: float | None = None
    more_bytes: float | None = None
    times: int = 0


def line_table(script: str, *, timeout_s: float = 120.0) -> tuple[Line, ...]:
    """Run a script under memory_profiler, and return the lines of its functions with the decorator `@profile`.

    Raise `UsageError` if the script fails, takes too long, or calls no function with this decorator.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-lines-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(script, encoding="utf-8")
        printed = run([sys.executable, "-m", "memory_profiler", str(path)], timeout_s)
    found = parse(printed)
    if not found:
        raise UsageError("The script has no profiled function: decorate a function with @profile, and call it.")
    return found


def parse(printed: str) -> tuple[Line, ...]:
    """Return the lines of the functions in a table that memory_profiler printed."""
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
    """Run a command of memory_profiler, and return its output.

    If the command fails, raise `UsageError` with the last line of the output.
    """
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(f"The script ran longer than {timeout_s:g} s; profile a shorter script.") from None
    if done.returncode or "Traceback" in done.stderr:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"The script failed under memory_profiler: {lines[-1] if lines else done.returncode}.")
    return done.stdout
