"""Run a script under `python -m cProfile` or `python -m profile`, in a separate process."""

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


@dataclass(frozen=True, slots=True)
class ProfiledScript:
    """The output of a script and its profiler, and the functions in the profile that the option `-o` saved."""

    printed: str
    functions: tuple[ProfiledFunction, ...]


def run_script(script: str, profiler: str, *options: str, timeout_s: float = 120.0) -> ProfiledScript:
    """Run `python -m PROFILER OPTIONS script.py`, and return the output and the saved profile.

    An option "FILE" is replaced by the path of the profile. Raise `UsageError` if the script fails or takes too long.
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
            raise UsageError(f"The script ran longer than {timeout_s:g} s; profile a shorter script.") from None
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise UsageError(f"The script failed under {profiler}: {lines[-1] if lines else done.returncode}.")
        return ProfiledScript(done.stdout, rows(saved) if saved.exists() else ())
