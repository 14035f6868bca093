"""Check the build of Python, and whether a new enough torch can be imported."""

import re
import signal
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from grader.diagnosis.finding import Finding
from harness.machine.environment import Environment

OLDEST_TORCH: Final = (2, 9)
TORCH_FIX: Final = "pip install 'torch>=2.9'"
REINSTALL: Final = "pip install --force-reinstall 'torch>=2.9'"
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)")


def gil() -> Finding:
    """Return a finding that states whether this is the usual build of Python, with a global interpreter lock (GIL)."""
    here = Environment.capture(ask_cuda=False)
    return Finding(
        "GIL",
        not here.free_threaded,
        here.caution() or "on: the usual build of Python",
        "grade with the usual build of Python, because the tiers were chosen on it",
    )


def torch() -> Finding:
    """Return a finding that states whether torch works. Importing torch in another process takes seconds."""
    try:
        found = version("torch")
    except PackageNotFoundError:
        return torch_finding("", "")
    command = [sys.executable, "-c", "import torch"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return torch_finding(found, "the import takes more than 300 s")
    return torch_finding(found, failure_reason(ended.returncode, ended.stderr))


def torch_finding(found: str, broken: str) -> Finding:
    """Return the finding on torch.

    `found` is the version of torch, or "" if torch is missing. `broken` is the import error, or "".
    """
    numbers = _NUMBERS.match(found)
    if not found:
        broken, fix = "missing", TORCH_FIX
    elif numbers and (int(numbers[1]), int(numbers[2])) < OLDEST_TORCH:
        broken, fix = f"{found} is too old", TORCH_FIX
    else:
        broken, fix = f"{found} cannot be imported ({broken})" if broken else "", REINSTALL
    return Finding("torch", not broken, broken or found, fix if broken else "", needed=True)


def failure_reason(status: int, said: str) -> str:
    """Return the signal that ended a process, or the last line of its output. Return "" if it did not fail.

    `status` is the exit status, and `said` the output.
    """
    if status < 0:
        return f"ended by {signal.Signals(-status).name}" + (
            ": this CPU lacks instructions that it needs" if -status == signal.SIGILL else ""
        )
    lines = said.strip().splitlines() or [f"exit status {status}"]
    return lines[-1][:200] if status else ""
