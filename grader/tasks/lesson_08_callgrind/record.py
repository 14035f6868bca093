"""Record the profiles for the task `culprit` again: `python -m grader.tasks.lesson_08_callgrind.record`.

Each version of `program.c` is compiled with gcc and run under Callgrind on each input. The recording has one row per
function: its name, its calls, its own instructions and its inclusive instructions. Functions with few instructions are
left out.
"""

import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from grader.tasks import recordings
from harness.callgrind import script, tools
from harness.errors import MachineError

from .culprit import COUNTS, CULPRITS, FOLDER, Count

INPUTS: Final = ((5, 3000), (11, 2500), (23, 3600))
"""The random seed and the number of words of each text that the program reads."""

ROWS_BEFORE, ROWS_AFTER = 3, 40
"""The numbers of rows that the program prints before and after the change.

More rows make small functions take more instructions, without a fault.
"""

LEAST: Final = 1000
"""Functions with fewer inclusive instructions are left out."""


def record() -> dict[int, list[Count]]:
    """Return the profiles of every version of `program.c`, one per input.

    Raise `MachineError` if gcc or valgrind is missing.
    """
    if missing := tools.lacking(compiler=True):
        raise MachineError(f"The counts cannot be recorded on this machine: {missing}.")
    found: dict[int, list[Count]] = {}
    with tempfile.TemporaryDirectory(prefix="fairclock-record-") as folder:
        for worse in (0, *CULPRITS):
            program = Path(folder) / f"program{worse}"
            source = FOLDER / "program.c"
            subprocess.run(["gcc", "-O1", f"-DWORSE={worse}", str(source), "-o", str(program)], check=True)
            rows = ROWS_AFTER if worse else ROWS_BEFORE
            found[worse] = [count(program, seed, words, rows) for seed, words in INPUTS]
    return found


def count(program: Path, seed: int, words: int, rows: int) -> Count:
    """Run the program under Callgrind, and return its profile."""
    out = program.with_suffix(".out")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--vgdb=no", "-q"]
    arguments = [str(program), str(seed), str(words), str(rows)]
    subprocess.run([*command, *arguments], check=True, stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin"})
    with out.open(encoding="utf-8", errors="replace") as lines:
        return by_name(script.parse(lines))


def by_name(profile: script.Profile) -> Count:
    """Return the calls, own and inclusive instructions by function name.

    If a name occurs in several files, its calls and own instructions are added. Its largest inclusive count is kept.
    """
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for place, inclusive in profile.inclusive.items():
        name = place.partition(":")[2].rpartition(" [")[0]
        if inclusive >= LEAST and name and not name.startswith("("):
            row = rows[name]
            row[0] += max(1, profile.calls.get(place, 0))  # the first function has no caller
            row[1] += profile.exclusive.get(place, 0)
            row[2] = max(row[2], inclusive)
    return {name: (calls, own, inclusive) for name, (calls, own, inclusive) in sorted(rows.items())}


if __name__ == "__main__":
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    recordings.write(COUNTS, record(), compiler, tools.compiler_version("valgrind"))
