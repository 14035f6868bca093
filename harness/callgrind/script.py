"""`valgrind python script.py`: a bare script counted, with nothing but the standard library. It takes a second.

The interpreter is started without site packages, with fixed hashes and an empty environment, so that two counts of one
script are the very same number. (`-E` would ignore the fixed hash seed: with it, counts scatter by 0.05 %.)
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

PYTHON_FLAGS: Final = ("-S", "-s", "-P")
"""No site packages, no user's packages, nothing from the script's own folder."""


@dataclass(frozen=True, slots=True)
class ScriptCounts:
    """The instructions of one process from start to end, by function; and what it printed."""

    instructions: int
    exclusive: FunctionCounts
    inclusive: FunctionCounts
    printed: str


def count_script(
    source: str, arguments: Sequence[str] = (), *, hash_seed: str = tools.HASH_SEED, timeout_s: float = 300.0
) -> ScriptCounts:
    """Run a script under Callgrind. `hash_seed` "random" lets chance decide, as Python does by itself.

    Raises `MachineError` where valgrind is missing, and `UsageError` for a script that fails or takes too long.
    """
    if missing := tools.lacking():
        raise MachineError(f"Instructions cannot be counted here: {missing}.")
    with tempfile.TemporaryDirectory(prefix="fairclock-count-") as folder:
        out, log = Path(folder) / "callgrind.out", Path(folder) / "log"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--log-file={log}", "--vgdb=no"]
        base = tools.surroundings(base={})
        try:
            done = subprocess.run(
                [*valgrind, sys.executable, *PYTHON_FLAGS, "-", *arguments],
                env={**base, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
                input=source,  # a script in a file has a path, a path a hash, and each other one another count
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"The script ran longer than {timeout_s:g} s under valgrind; count something smaller."
            ) from None
        if done.returncode:
            said = (done.stderr.strip() or log.read_text(errors="replace").strip()).splitlines()
            raise UsageError(f"The script failed under valgrind: {said[-1] if said else done.returncode}.")
        with out.open(encoding="utf-8", errors="replace") as lines:
            profile = outfile.parse(lines)
    return ScriptCounts(
        profile.total,
        _counts(profile.exclusive, inclusive=False),
        _counts(profile.inclusive, inclusive=True),
        done.stdout,
    )


def count_scripts(sources: Sequence[str], *, hash_seed: str = tools.HASH_SEED) -> list[ScriptCounts]:
    """Count several scripts, as many at a time as there are cores: what runs beside one moves no count."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(partial(count_script, hash_seed=hash_seed), sources))


def _counts(found: dict[str, int], *, inclusive: bool) -> FunctionCounts:
    rows = sorted((FunctionCount(spent, name) for name, spent in found.items() if spent), reverse=True)
    return FunctionCounts(tuple(rows), inclusive)
