"""Record the counts that `culprit` is about anew: `python -m grader.tasks.08_callgrind.record`, with gcc and valgrind.

Each version of `program.c` is compiled and run under Callgrind on each input. What is kept is one row a function: its
name, how often it was called, its own instructions, and those with everything it called. Functions with next to none
are left out.
"""

import json
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader.trials import valgrind
from harness.callgrind import outfile, tools
from harness.errors import MachineError

from .recorded import COUNTS, CULPRITS, FOLDER, Count

INPUTS: Final = ((5, 3000), (11, 2500), (23, 3600))
"""Seeds and words of the texts that are counted."""

ROWS_BEFORE, ROWS_AFTER = 3, 40
"""How many rows the program shows. A few more of them are no regression, only a large relative growth."""

LEAST: Final = 1000
"""Functions with fewer instructions, those they call included, are left out."""


def record() -> dict[int, list[Count]]:
    """Compile and count every version. Raises `MachineError` where a program for that is missing."""
    if missing := valgrind.trouble() or tools.lacking(compiler=True):
        raise MachineError(f"Nothing can be recorded here: {missing}.")
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
    """Count one run."""
    out = program.with_suffix(".out")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--vgdb=no", "-q"]
    arguments = [str(program), str(seed), str(words), str(rows)]
    subprocess.run([*command, *arguments], check=True, stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin"})
    with out.open(encoding="utf-8", errors="replace") as lines:
        return by_name(outfile.parse(lines))


def by_name(profile: outfile.Profile) -> Count:
    """A profile by bare name of function; of several of one name the inclusive counts are not added up."""
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for place, inclusive in profile.inclusive.items():
        name = place.partition(":")[2].rpartition(" [")[0]
        if inclusive >= LEAST and name and not name.startswith("("):
            row = rows[name]
            row[0] += max(1, profile.calls.get(place, 0))  # the first of all is called by nobody
            row[1] += profile.exclusive.get(place, 0)
            row[2] = max(row[2], inclusive)
    return {name: (calls, own, inclusive) for name, (calls, own, inclusive) in sorted(rows.items())}


def as_text(found: dict[int, list[Count]]) -> str:
    """The recording as JSON, one count a line, with what it was made by."""
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    made = f"{compiler}; {tools.version()}; {platform.machine()}; {datetime.now(UTC):%Y-%m-%d}"
    versions = []
    for version, counts in found.items():
        lines = ",\n".join(f"  {json.dumps(each)}" for each in counts)
        versions.append(f' "{version}": [\n{lines}\n ]')
    return f'{{"made by": {json.dumps(made)}, "counts": {{\n' + ",\n".join(versions) + "\n}}\n"


if __name__ == "__main__":
    COUNTS.write_text(as_text(record()), encoding="utf-8")
    sys.stdout.write(f"{COUNTS}\n")
