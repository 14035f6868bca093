"""One program run once to its end, confined like a worker: what it wrote on each of its ways out, and how it ended.

It can neither start processes nor write files, but for the room it is given, and it is ended when it takes too long.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grader.catalogue import GRADER
from grader.isolation import sandbox
from grader.isolation.started import Process
from grader.isolation.tail import Tail
from grader.task import Limits
from harness import clocks, twins
from harness.clocks import ProcessGoneError
from harness.errors import MachineError

MOST_BYTES: Final = 4 << 20
"""How much is kept of each way out: more is read, so that nobody waits, and dropped."""

PROCESSES: Final = 2
"""Processes of its user, where each tree has a user of its own: itself, and the sandbox's first where they share it."""

_LAUNCH: Final = (
    "import json, os, sys; from grader.inside import confine; limits, argv, environment = json.loads(sys.argv[1]); "
    "own = {name: os.environ[name] for name in ('HOME', 'TMPDIR') if name in os.environ}; "
    "confine.limit(limits); confine.narrow(); os.execve(argv[0], argv, environment | own)"
)

Making = Callable[[int, int, int], Sequence[str]]
"""Makes the command to run, which inherits three descriptors: two to write on, for its answer and for its log, and a
gate. Reading from the gate waits until the program has closed its answer and its CPU time has been read."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a program may do beyond computing: write files of so many bytes each, and be so many processes at once.

    With `cpu_s` each of these has as many seconds of CPU time at most.
    """

    file_bytes: int = 0
    processes: int = PROCESSES
    cpu_s: int = 0


NO_ROOM: Final = Room()


def program(name: str) -> str:
    """The text of one of our own programs, `grader/inside/NAME.py`: for `python -c`, or to be sent to one that runs."""
    return (GRADER / "inside" / f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit status (None when it was ended for its time), and what it wrote where.

    `cpu_s` is the CPU time of its process up to the end of its answer, as the kernel notes it; None when the program
    had ended and was gone by then.
    """

    status: int | None
    answer: bytes
    log: bytes
    printed: str
    cpu_s: float | None = field(default=None, compare=False)


def run(
    making: Making,
    given: bytes,
    limits: Limits,
    timeout_s: float,
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    room: Room = NO_ROOM,
) -> Ended:
    """Run a program with `given` as its standard input."""
    with ExitStack() as ours, tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        with ExitStack() as theirs:
            answer, log, gate = _Pipe(ours, theirs), _Pipe(ours, theirs), _Gate(ours, theirs)
            argv = list(making(answer.write, log.write, gate.read))
            bounds = sandbox.rlimits(limits, sandboxed=sandboxed) | {"RLIMIT_FSIZE": room.file_bytes}
            bounds |= {"RLIMIT_CPU": room.cpu_s} if room.cpu_s else {}
            bounds |= {"RLIMIT_NPROC": room.processes} if sandboxed else {}
            config = json.dumps([bounds, argv, dict(twins.ENVIRONMENT)])
            process = sandbox.launch(
                [sys.executable, "-P", "-s", "-c", _LAUNCH, config],
                [answer.write, log.write, gate.read],
                sandboxed=sandboxed,
                hidden=hidden,
                stdin=stdin.fileno(),
            )
        assert process.popen.stdout is not None
        output = Tail(process.popen.stdout.fileno())
        status: int | None = None
        cpu_s: float | None = None
        end_s = clocks.wall() + timeout_s
        try:
            if answer.ends_within(timeout_s):
                cpu_s = _cpu_time_s(process)
            gate.open()
            with suppress(subprocess.TimeoutExpired):
                status = process.popen.wait(max(0.0, end_s - clocks.wall()))
        finally:
            process.kill()
            printed = output.text()
            output.close()
            process.popen.stdout.close()
        return Ended(status, answer.close(), log.close(), printed, cpu_s)


def _cpu_time_s(process: Process) -> float | None:
    """CPU time of the program's own process, which has no child; None when it has ended.

    Raises `MachineError` where one process may not read another's CPU clock.
    """
    with process.looked_into():
        try:
            pid = process.chain()[-1]
        except (MachineError, OSError, ValueError):  # the sandbox is empty, or has already ended
            return None
        with suppress(ProcessGoneError):
            return clocks.process_cpu(pid)()
    return None


class _Gate:
    """A pipe from which nothing can be read until it is opened."""

    def __init__(self, ours: ExitStack, theirs: ExitStack) -> None:
        self.read, write = os.pipe()
        theirs.callback(os.close, self.read)
        self._held = ours.enter_context(ExitStack())
        self._held.callback(os.close, write)

    def open(self) -> None:
        """Let the program read: it meets the end of the pipe."""
        self._held.close()


class _Pipe:
    """A pipe that is read to its end in a thread, and of which the beginning is kept."""

    def __init__(self, ours: ExitStack, theirs: ExitStack) -> None:
        self._read, self.write = os.pipe()
        ours.callback(os.close, self._read)
        theirs.callback(os.close, self.write)
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def ends_within(self, seconds: float) -> bool:
        """Wait until no process can write any more. Return whether that was so within the time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def close(self) -> bytes:
        """What was written, once nobody can write any more."""
        self._thread.join(timeout=5)
        return bytes(self._kept)

    def _drain(self) -> None:
        with suppress(OSError):
            while part := os.read(self._read, 1 << 16):
                self._kept += part[: MOST_BYTES - len(self._kept)]
