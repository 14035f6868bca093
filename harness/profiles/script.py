"""Run a script under a profiler of Python, such as `python -m cProfile`, in a separate process."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.profiles.stats import ProfiledFunction, rows

FILE: Final = "FILE"
"""The text of an option that is replaced by the path of the file in which the profiler saves the profile."""


TIMEOUT_S: Final = 120.0
"""Time limit for a script under a profiler, in seconds."""


@dataclass(frozen=True, slots=True)
class ProfiledScript:
    """The output of a script and its profiler, and the functions in the profile that the option `-o` saved."""

    printed: str
    functions: tuple[ProfiledFunction, ...]


def run_script(script: str, profiler: str, *options: str) -> ProfiledScript:
    """Run `python -m PROFILER OPTIONS script.py`, and return the output and the saved profile.

    An option "FILE" is replaced by the path of the profile. Raise `UsageError` as `run_module` does.
    """
    with tempfile.TemporaryDirectory(prefix="fairclock-profile-") as folder:
        path, saved = Path(folder) / "script.py", Path(folder) / "out.prof"
        path.write_text(script, encoding="utf-8")
        named = [str(saved) if option == FILE else option for option in options]
        printed = run_module(profiler, *named, str(path))
        return ProfiledScript(printed, rows(saved) if saved.exists() else ())


def run_module(profiler: str, *options: str, timeout_s: float = TIMEOUT_S) -> str:
    """Run `python -m PROFILER OPTIONS`, and return the output.

    Raise `UsageError` with the last line of the output if the command fails, or if it takes longer than `timeout_s`.
    """
    command = [sys.executable, "-m", profiler, *options]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(f"The script ran longer than {timeout_s:g} s; profile a shorter script.") from None
    if done.returncode or "Traceback" in done.stderr:  # memory_profiler ends with 0 after an exception of the script
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UsageError(f"The script failed under {profiler}: {lines[-1] if lines else done.returncode}.")
    return done.stdout
