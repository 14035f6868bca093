"""Count the instructions of a script that uses only the standard library. This takes about a second.

The counts are repeatable. Python's option `-E` is not used, because it ignores the hash seed.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from torch.utils.benchmark.utils.valgrind_wrapper.timer_interface import FunctionCount, FunctionCounts

from harness.callgrind import outfile, tools
from harness.errors import MachineError, UsageError

_PYTHON_FLAGS: Final = ("-S", "-s", "-P")  # no site packages or packages of the user, no imports from the folder

TIMEOUT_S: Final = 300.0
"""Time limit for a script under valgrind, in seconds."""


@dataclass(frozen=True, slots=True)
class ScriptCounts:
    """The instruction counts of a process from its start to its end: in total and by function. Also its output."""

    instructions: int
    exclusive: FunctionCounts
    inclusive: FunctionCounts
    printed: str


def count_script(source: str, *, hash_seed: str = tools.HASH_SEED) -> ScriptCounts:
    """Run a script under Callgrind, and return its counts. `hash_seed="random"` is Python's default.

    Raise `MachineError` if valgrind is missing, and `UsageError` if the script fails or takes too long.
    """
    if missing := tools.lacking():
        raise MachineError(f"Instructions cannot be counted on this machine: {missing}.")
    with tempfile.TemporaryDirectory(prefix="fairclock-count-") as folder:
        out, log = Path(folder) / "callgrind.out", Path(folder) / "log"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--log-file={log}", "--vgdb=no"]
        base = tools.environment(base={})
        try:
            done = subprocess.run(
                [*valgrind, sys.executable, *_PYTHON_FLAGS, "-"],
                env={**base, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
                input=source,  # a script in a file has a path, whose hash changes the count
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"The script ran longer than {TIMEOUT_S:g} s under valgrind; count a shorter one."
            ) from None
        if done.returncode:
            lines = (done.stderr.strip() or log.read_text(errors="replace").strip()).splitlines()
            raise UsageError(f"The script failed under valgrind: {lines[-1] if lines else done.returncode}.")
        with out.open(encoding="utf-8", errors="replace") as file:
            profile = outfile.parse(file)
    return ScriptCounts(
        profile.total,
        _counts(profile.exclusive, inclusive=False),
        _counts(profile.inclusive, inclusive=True),
        done.stdout,
    )


def count_scripts(sources: Sequence[str], *, hash_seed: str = tools.HASH_SEED) -> list[ScriptCounts]:
    """Run several scripts under Callgrind, one per core at the same time. Return their counts in the same order."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(partial(count_script, hash_seed=hash_seed), sources))


def _counts(found: dict[str, int], *, inclusive: bool) -> FunctionCounts:
    rows = sorted((FunctionCount(spent, name) for name, spent in found.items() if spent), reverse=True)
    return FunctionCounts(tuple(rows), inclusive)
