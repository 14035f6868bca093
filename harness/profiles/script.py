"""A script under `python -m cProfile` or `python -m profile`, in a process of its own."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.profiles.stats import Function, rows

FILE: Final = "FILE"
"""Stands among the options for the file that a profile is to be saved to."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a script and its profiler printed, and the functions of the profile where it was saved (`-o`)."""

    printed: str
    functions: tuple[Function, ...]


def run_script(script: str, profiler: str, *options: str, timeout_s: float = 120.0) -> Ran:
    """Run `python -m profiler *options script.py`; an option "FILE" becomes a file, which is read afterwards.

    Raises `UsageError` when the script fails or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-profile-") as folder:
        path, saved = Path(folder) / "script.py", Path(folder) / "out.prof"
        path.write_text(script, encoding="utf-8")
        named = [str(saved) if option == FILE else option for option in options]
        try:
            done = subprocess.run(
                [sys.executable, "-m", profiler, *named, str(path)],
                capture_output=True,
                encoding="utf-8",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(f"The script ran longer than {timeout_s:g} s; profile something shorter.") from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise UsageError(f"The script failed under {profiler}: {said[-1] if said else done.returncode}.")
        return Ran(done.stdout, rows(saved) if saved.exists() else ())
