"""Start the first command of a sandbox, and end all processes in the sandbox."""

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar, Final

from grader.inside.protocol import Channel
from grader.isolation import cgroups, proc
from grader.isolation.cgroups import ControlGroup
from harness.processes import process_env

TAIL_BYTES: Final = 4096
"""The number of bytes that are usually kept. The last lines usually show why a program ended."""

SETTLE_S: Final = 0.5
"""The most seconds to wait until all output is read. A program may print without end."""

MAX_KEPT_BYTES: Final = 4 << 20
"""At most this many bytes are kept of what a program prints. Further bytes are read, so that it never blocks."""

PROBE_S: Final = 60.0
"""The most seconds that a program may take that tests a sandbox."""


def readable(descriptor: int, timeout_s: float | None = None) -> bool:
    """Wait until a pipe has data or its end, or the process of a pidfd has ended. Return False after `timeout_s`."""
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    return bool(ready.poll(None if timeout_s is None else timeout_s * 1e3))


class OutputTail:
    """A thread that reads a pipe until it is closed, and keeps the last bytes."""

    def __init__(self, pipe: IO[bytes], most_bytes: int = TAIL_BYTES) -> None:
        self.kept = bytearray()
        self._pipe, self._most_bytes = pipe, most_bytes
        self._moving = threading.Lock()  # held while bytes are neither in the pipe nor kept
        self._thread = threading.Thread(target=self._drain, args=(pipe.fileno(),), daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Wait until the pipe is empty, for at most `SETTLE_S` seconds, and return the kept bytes as text."""
        deadline_s = time.monotonic() + SETTLE_S
        while True:
            with self._moving:
                if not self._thread.is_alive() or not self._unread() or time.monotonic() >= deadline_s:
                    return self.kept.decode(errors="replace")
            time.sleep(0.001)

    def forget(self) -> None:
        """Discard all output that was read so far."""
        self.text()
        with self._moving:
            self.kept.clear()

    def close(self) -> None:
        """Wait for at most 5 seconds until all writers have closed the pipe, and close it here."""
        self._thread.join(timeout=5)
        self._pipe.close()

    def _unread(self) -> bool:
        return not self._pipe.closed and readable(self._pipe.fileno(), 0.0)

    def _drain(self, descriptor: int) -> None:
        part = None
        with suppress(OSError):
            while part != b"":
                readable(descriptor)
                with self._moving:
                    part = os.read(descriptor, 1 << 16)
                    self.kept += part
                    del self.kept[: -self._most_bytes]


@dataclass
class ProcessTree:
    """A running sandbox: the started command `popen` and its descendants, the last of which is a Python process.

    With Linux namespaces, bubblewrap writes the process id of its first process to the file `info`. Without namespaces,
    the processes end when the pipe `lifeline` is closed. Then `owner` is their user, `folder` the folder to which they
    may write, and `sweep` ends the processes that remain if their first process was killed.
    """

    popen: subprocess.Popen[bytes]
    group: ControlGroup | None = None
    info: IO[bytes] | None = None
    lifeline: IO[bytes] | None = None
    owner: int | None = None
    folder: Path | None = None
    sweep: Callable[[], object] = field(default=lambda: None)
    pids: tuple[int, ...] = ()
    killed: bool = False
    lost_by_grader: ClassVar[bool] = False  # such a tree depends on no other process of the grader

    @property
    def output(self) -> IO[bytes]:
        """The file from which the grader reads what the processes print."""
        assert self.popen.stdout is not None
        return self.popen.stdout

    def wait_until_ready(self, control: socket.socket, timeout_s: float) -> None:
        """Wait for the greeting of the Python process. Set `pids`, from the started command to the Python process."""
        Channel(control.fileno()).receive(timeout_s)
        self.pids = (self.popen.pid,)
        if self.info:
            self.info.seek(0)
            self.pids += (int(json.load(self.info)["child-pid"]),)
        if self.info or self.owner is not None:
            (child,) = proc.children(self.pids[-1])  # a `ValueError` if there are several
            self.pids += (child,)

    def finish(self, timeout_s: float) -> tuple[int | None, bytes]:
        """Wait until the started command ends, and end the sandbox. Return its exit status and what it printed.

        The exit status is None if the command was killed at the time limit. The last `MAX_KEPT_BYTES` are returned.
        """
        printed, status = OutputTail(self.output, MAX_KEPT_BYTES), None
        try:
            with suppress(subprocess.TimeoutExpired):
                status = self.popen.wait(timeout_s)
        finally:
            self.kill()
            printed.close()
        return status, bytes(printed.kept)

    def tested(self) -> tuple[bool, str]:
        """Wait for a program that tests a sandbox. Return whether it succeeded, and the last line that it printed."""
        status, printed = self.finish(PROBE_S)
        if status is None:
            return False, f"it did not end within {PROBE_S:g} s"
        lines = printed.decode(errors="replace").strip().splitlines()
        return not status, lines[-1][:400] if lines else f"exit status {status}"

    def kill(self) -> None:
        """End all processes of the sandbox. A second call does nothing."""
        if self.killed:
            return
        self.killed = True
        if self.owner is None:
            with suppress(ProcessLookupError):  # all processes have ended already
                os.killpg(self.popen.pid, signal.SIGKILL)
        for file in (self.info, self.lifeline):
            if file:
                file.close()
        if self.popen.wait() < 0:
            self.sweep()
        if self.group:
            self.group.close()


def start(
    argv: Sequence[str],
    environment: Mapping[str, str],
    passed: Sequence[int],
    *,
    stdin: int = subprocess.DEVNULL,
    grouped: bool = True,
) -> ProcessTree:
    """Start the first command of a sandbox, which inherits the descriptors `passed`.

    It has a fixed memory layout and, if `grouped`, a control group, as far as the machine allows this.
    """
    group = cgroups.create(cgroups.support()) if grouped else None
    started = process_env.command(argv)
    try:
        popen = subprocess.Popen(
            group.entered(started) if group else started,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**process_env.ENVIRONMENT, **environment},
            cwd="/",
            pass_fds=passed,
            start_new_session=True,
        )
    except BaseException:
        if group:
            group.close()
        raise
    return ProcessTree(popen, group)


def stored(content: bytes) -> IO[bytes]:
    """Return an open file without a name that has this content. Another process can inherit it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(content)
    file.seek(0)
    return file
