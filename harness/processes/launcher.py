"""Start a program that the caller trusts in another process, exchange messages with it, and end it."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from harness.processes.channel import Channel, Closed

KIT: Final = Path(__file__).parents[2]
"""The folder that contains the package `harness`, for the import path of a new process."""

_MAX_LINE: Final = 300  # the number of characters of a line of the log that an error message shows
_MAX_LOG: Final = 1 << 16  # the number of bytes at the end of the log that are read


class Child:
    """A process that runs a trusted program, whose standard error goes to a log, until the end of a `with` block.

    It has its own process group. So Ctrl-C at the terminal interrupts only the caller, and `end` also kills the
    processes that the program has started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, folder: Path | None = None) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            process_group=0 if os.name == "posix" else None,
        )
        self.pid, self._killed = self._process.pid, False
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self.channel = Channel(self._answers.fileno(), self._requests.fileno(), idle=self._check, trusted=True)

    def send(self, kind: bytes, body: Mapping[str, Any] | None = None) -> None:
        """Send a message. If the process has ended, do nothing: the next `receive` raises `Closed`."""
        with suppress(Closed):
            self.channel.send(kind, body)

    def has_message(self) -> bool:
        """Return whether `receive` would not wait: there is a message, or the process has ended."""
        return self.channel.has_message() or self._process.poll() is not None

    def receive(self, timeout_s: float | None = None) -> tuple[bytes, dict[str, Any]]:
        """Wait for a message, as `Channel.receive`. Raise `Closed` if the process has ended.

        Raise `Late` if no message arrives within `timeout_s` seconds. On Windows, the process is killed then.
        """
        if os.name == "posix" or timeout_s is None:
            return self.channel.receive(timeout_s)
        limit = threading.Timer(timeout_s, self._process.kill)
        limit.start()
        try:
            return self.channel.receive()
        finally:
            limit.cancel()

    def exit_status(self) -> int:
        """Wait until the process has ended, and return its exit status."""
        return self._process.wait()

    def log_lines(self) -> list[str]:
        """Return the beginnings of the lines that the program has printed, or of the last ones if there are many."""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _MAX_LOG))
        return [line[:_MAX_LINE] for line in self._log.read().decode(errors="replace").strip().splitlines()]

    def kill(self) -> None:
        """Kill the process, and the processes that it has started. `exit_status` and `log_lines` still work."""
        if self._killed:  # another process may have the same number now
            return
        self._killed = True
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids to kill a group that has ended
                os.killpg(self.pid, 9)
        else:
            self._process.kill()
        self._process.wait()

    def close_pipes(self) -> None:
        """Close the pipes of the process. A program that waits for a message then ends by itself."""
        self._requests.close()
        self._answers.close()

    def end(self, within_s: float = 0.0) -> None:
        """Close the pipes, wait at most `within_s` until the process ends by itself, and call `kill`. Close the log."""
        self.close_pipes()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        self.kill()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _check(self) -> None:
        # A process that this process has started may keep the pipe open, so the pipe does not show that it has ended.
        if self._process.poll() is not None and not self.channel.has_message():
            raise Closed


def ended(status: int) -> str:
    """Return how a process ended: "ended with exit status 3", or "was killed by SIGSEGV" for a negative status."""
    if status >= 0:
        return f"ended with exit status {status}"
    names = {number.value: number.name for number in signal.Signals}
    full = ", perhaps because the memory was full" if names.get(-status) == "SIGKILL" else ""
    return f"was killed by {names.get(-status, f'signal {-status}')}{full}"


def end_all(children: Sequence[Child], within_s: float = 0.0) -> None:
    """End processes. Kill those that have not ended by themselves after `within_s` seconds."""
    for child in children:
        child.close_pipes()
    deadline_s = time.monotonic() + within_s
    for child in children:
        child.end(max(0.0, deadline_s - time.monotonic()))
