"""Start processes that run timed code, make them run calls, and stop them.

Each process runs `harness.paired.paired_process_main`. The caller requests a number of calls, and the process answers
when they are finished.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from harness.errors import FairclockError, UsageError
from harness.machine import clocks
from harness.paired import process_env
from harness.paired.paired_process_main import PAIRED_PROCESS_VARIABLE, Failure, Job

# A process that has not ended by itself after this time is killed.
_END_S: Final = 2.0

_KIT: Final = Path(__file__).parents[2]

# Environment variables of the caller that a Python interpreter may need to start, on Linux and on Windows.
_NEEDED_TO_START: Final = ("LD_LIBRARY_PATH", "SYSTEMROOT")


COMMAND: Final = (sys.executable, "-P", "-s", "-m", "harness.paired.paired_process_main")
"""The command that starts a process for timed code."""


class PairedProcessError(FairclockError):
    """The timed code in a paired process, or its setup, raised an exception or ended the process."""


class Process(Protocol):
    """The part of the interface of `subprocess.Popen` that this module uses."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, or raise `subprocess.TimeoutExpired`."""
        ...

    def kill(self) -> None:
        """Kill the process."""
        ...


def start_process(command: Sequence[str] | None = None, variables: Mapping[str, str] | None = None) -> Process:
    """Start a process that will run timed code, and return it.

    By default, it gets the command and the environment variables that all processes of duels have.
    """
    return subprocess.Popen(
        process_env.command(COMMAND) if command is None else command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=process_environment() if variables is None else variables,
        # Its own process group: Ctrl-C at the terminal interrupts the caller, which then stops the paired processes.
        process_group=0 if os.name == "posix" else None,
    )


class PairedProcess:
    """A process that runs the baseline or the candidate of a duel (a comparison of their speed).

    The process runs the setup in the background. Call `wait_until_ready` before the first `run_calls`.
    """

    def __init__(self, name: str, work: Job, process: Process) -> None:
        self._name, self._process, self.pid = name, process, process.pid
        self.prepare(work)

    def prepare(self, work: Job) -> None:
        """Send code to the process, which then runs its setup. Call `wait_until_ready` before `run_calls`.

        New code replaces earlier code.
        """
        self._write(json.dumps(work).encode() + b"\n")

    def wait_until_ready(self) -> None:
        """Wait until the process has run the setup. If the setup fails, raise the errors of `run_calls`."""
        self._read_answer()

    def run_calls(self, calls: int) -> None:
        """Run `calls` calls in the process, and wait until they are finished.

        Raise `UsageError` if the code cannot be timed. Raise `PairedProcessError` if the code raises an exception or
        ends the process.
        """
        self._write(b"%d\n" % calls)
        self._read_answer()

    def close_pipes(self) -> None:
        """Close the pipes of the process. It then ends by itself."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def end(self, within_s: float = 0.0) -> None:
        """Wait at most `within_s` seconds until the process ends by itself, then kill it. Call `close_pipes` first."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the process has ended, and `_read_answer` reports the reason
            self._process.stdin.write(line)

    def _read_answer(self) -> None:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if answer == b"\n":
            return
        if not answer:
            status = self._process.wait()
            raise PairedProcessError(
                f"The process of the {self._name} ended with exit status {status}. Run its code without a duel to find "
                "out why."
            )
        failure: Failure = json.loads(answer)
        error: FairclockError = (
            UsageError(f"In the {self._name}: {failure['message']}")
            if failure["usage"]
            else PairedProcessError(
                f"The {self._name} raised {failure['message']}. Correct it or its setup, and measure again."
            )
        )
        error.add_note(failure["traceback"])
        raise error


def stop_all(started: Sequence[PairedProcess]) -> None:
    """Stop all processes. Kill the processes that have not ended by themselves after `_END_S` seconds."""
    for one in started:
        one.close_pipes()
    deadline_s = clocks.wall() + _END_S
    for one in started:
        one.end(within_s=max(0.0, deadline_s - clocks.wall()))


def process_environment() -> dict[str, str]:
    """Return the environment variables of every paired process.

    Only the variables that Python needs to start are those of the caller.
    """
    needed = {name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ}
    return {**process_env.ENVIRONMENT, **needed, "PYTHONPATH": str(_KIT), PAIRED_PROCESS_VARIABLE: "1"}
