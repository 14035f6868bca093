"""Fork process trees from a template process that has already imported torch.

The import of torch takes more than a second, and a fork a few hundredths. The template process runs
`grader/inside/template_main.py`, and never a submission. All its trees have the same memory layout. If it ends before
its pool is closed, the kernel ends its trees too, and no submission is to blame.
"""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from grader.errors import FairclockError
from grader.inside import protocol
from grader.inside.protocol import Channel
from grader.isolation import cgroups, sandbox
from grader.isolation.cgroups import ControlGroup
from grader.isolation.process_tree import ProcessTree, readable

NO_ANSWER: Final = (protocol.Closed, protocol.Late, protocol.ProtocolError, OSError)
"""The exceptions if another process has ended, or does not answer as expected."""

_CREDENTIALS: Final = struct.Struct("iII")
_KIND_AT: Final = 4

_END_S: Final = 5.0
"""Seconds to wait until the kernel has ended a killed tree, or the template process has reported its end."""
_LOST_S: Final = 1.0
"""Seconds to wait until bubblewrap has ended too, if the kernel has ended a tree because bubblewrap's sandbox ends."""


class TemplateProcess:
    """A template process, seen from the grader. Threads may share it."""

    def __init__(self, *, sandboxed: bool, hidden: Sequence[Path] = ()) -> None:
        self.sandboxed = sandboxed
        self._lock = threading.Lock()
        self._socket, child_socket = socket.socketpair()
        self._channel = Channel(self._socket.fileno())
        self._closed, self._started = False, threading.Event()
        self._process: ProcessTree | None = None
        # bubblewrap ends its sandbox when the thread that started it ends, so this thread lives until the sandbox ends.
        self._thread = threading.Thread(target=self._run, args=(child_socket, tuple(hidden)), daemon=True)
        self._thread.start()

    def _run(self, child_socket: socket.socket, hidden: Sequence[Path]) -> None:
        try:
            with child_socket:
                self._process = sandbox.start_template(child_socket.fileno(), sandboxed=self.sandboxed, hidden=hidden)
        except (FairclockError, OSError):
            return  # a later request finds that the other end of the socket is closed
        finally:
            self._started.set()
        with self._process.output as output:
            while output.read(1 << 16):  # so that a template process that prints much does not block
                pass

    def ends_within(self, timeout_s: float) -> bool:
        """Wait for at most `timeout_s` until the template process has ended. Return whether it has ended."""
        self._started.wait()
        try:
            return self._process is None or self._process.popen.wait(timeout_s) is not None
        except subprocess.TimeoutExpired:
            return False

    def fork(self, control: socket.socket, child_control: socket.socket, folder: Path | None) -> "ForkedTree":
        """Request a new process tree with these ends of its control socket. Without a sandbox, it writes to `folder`.

        Return at once. If the template process has ended or is closed, the tree never becomes ready.
        """
        uid = sandbox.new_tree_user() if self.sandboxed else None
        if self.sandboxed:
            attest(control)
        read, write = os.pipe()
        with self._lock, contextlib.suppress(*NO_ANSWER):
            if not self._closed:
                self._channel.send(protocol.FORK, {"uid": uid, "home": str(folder) if folder else ""})
                socket.send_fds(self._socket, [b"."], [child_control.fileno(), write])
        os.close(write)
        return ForkedTree(self, os.fdopen(read, "rb", buffering=0))

    def reap(self, pid: int) -> None:
        """Wait until the first process `pid` of a tree without a sandbox has ended."""
        with self._lock, contextlib.suppress(*NO_ANSWER):
            if not self._closed:
                self._channel.send(protocol.REAP, {"pid": pid})
                self._channel.receive(_END_S)

    def close(self) -> None:
        """End the template process, and with a sandbox also its trees. A second call does nothing."""
        with self._lock:
            self._socket.close()
            self._closed = True
        self._started.wait()
        if self._process:
            self._process.kill()
        self._thread.join(_END_S)


class ForkedTree:
    """A process tree that was forked from a template process, with the methods of `ProcessTree`.

    In a sandbox, its first process only waits, and the kernel kills the tree when this process ends.
    """

    owner: int | None = None
    folder: Path | None = None

    def __init__(self, template: TemplateProcess, output: IO[bytes]) -> None:
        self._template, self.output = template, output
        self.group: ControlGroup | None = None
        self.pids: tuple[int, ...] = ()
        self._first: int | None = None
        self._killed = False

    def wait_until_ready(self, control: socket.socket, timeout_s: float) -> None:
        """Wait until the tree can fork workers. Raise `OSError`, or an exception of `protocol`, if it does not."""
        channel = Channel(control.fileno())
        if not self._template.sandboxed:
            self.pids = (int(channel.receive(timeout_s)[1]["pid"]),)
            return
        control.settimeout(timeout_s)
        first = attested_pid(control)
        self._first = os.pidfd_open(first)
        self.group = cgroups.create(cgroups.support())
        if self.group:
            self.group.add(first)
        channel.send(protocol.HELLO)
        self.pids = (first, attested_pid(control))
        attest(control, on=False)
        control.setblocking(True)

    @property
    def lost_by_grader(self) -> bool:
        """Whether the kernel has ended the tree because the template process has ended. No submission can cause it.

        The kernel ends all trees before bubblewrap's own process, so this waits a moment for the end of that process.
        """
        if self._first is None or self._killed:
            return False
        return readable(self._first, _LOST_S) and self._template.ends_within(_LOST_S)

    def kill(self) -> None:
        """End all processes of the tree. A second call does nothing."""
        if self._killed:
            return
        self._killed = True
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            readable(self._first, _END_S)
            os.close(self._first)
        elif self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pids[0], signal.SIGKILL)
            self._template.reap(self.pids[0])
        if self.group:
            self.group.close()


def attest(channel: socket.socket, *, on: bool = True) -> None:
    """Let the kernel add the sender's process id to each message that arrives from now on, or no longer."""
    if hasattr(socket, "SO_PASSCRED"):  # Linux
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, on)


def attested_pid(channel: socket.socket) -> int:
    """Return the id of the process that sends the next message, which must be a greeting.

    Return 0 on a system where the kernel does not report the id.
    """
    said, about, _, _ = channel.recvmsg(1 << 12, socket.CMSG_SPACE(_CREDENTIALS.size))
    if not said:
        raise protocol.Closed
    if said[_KIND_AT : _KIND_AT + 1] != protocol.HELLO:
        raise protocol.ProtocolError("expected a greeting")
    return int(_CREDENTIALS.unpack(about[0][2])[0]) if about else 0
