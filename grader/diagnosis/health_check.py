"""The class for the result of checking one part of the machine, and a trial run of a program."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of checking one part of the machine.

    `found` describes the part, and `fix` is advice if it does not work, or else "". The grader refuses to grade unless
    every `needed` part works.
    """

    part: str
    found: str
    fix: str = ""
    needed: bool = False

    @property
    def works(self) -> bool:
        """Whether the part works."""
        return not self.fix


def ran(command: Sequence[str], given: str = "", *, timeout_s: float = 120) -> tuple[int, str]:
    """Run a program with `given` as its input. Return its exit status and its text on standard error."""
    try:
        ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=timeout_s)
    except OSError as error:
        return 126, error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return 124, f"this test takes more than {timeout_s:g} s"
    return ended.returncode, ended.stderr


def failure_reason(status: int, said: str) -> str:
    """Return the signal that ended a process, or the last line of its output `said`. Return "" if it did not fail."""
    if status < 0:
        cpu = ": this CPU lacks instructions that it needs" if -status == signal.SIGILL else ""
        return f"ended by {signal.Signals(-status).name}{cpu}"
    lines = said.strip().splitlines() or [f"exit status {status}"]
    return lines[-1][:200] if status else ""
