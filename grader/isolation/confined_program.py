"""Run one program in the sandbox of submissions until it ends, and return its output and exit status.

The program can neither start processes nor write files, unless an `Allowance` permits this. The program is killed at
its time limit.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from grader.isolation import sandbox, tree_users
from grader.isolation.output_tail import OutputTail
from grader.isolation.process_tree import ProcessTree
from grader.limits import Limits
from grader.paths import GRADER
from harness.errors import FairclockError, MachineError
from harness.machine import clocks
from harness.machine.clocks import ProcessGoneError
from harness.processes import process_env

MAX_KEPT_BYTES: Final = 4 << 20
"""At most this many bytes of a program's answer, and of its log, are kept.

Further bytes are read and dropped, so that the program never blocks.
"""

PROCESSES: Final = 2
"""The most processes that the program's user may have: the program, and the sandbox's first process."""

_LAUNCH: Final = (
    "import json, os, sys; from grader.inside import confine; limits, argv, environment = json.loads(sys.argv[1]); "
    "own = {name: os.environ[name] for name in ('HOME', 'TMPDIR') if name in os.environ}; "
    "confine.set_limits(limits); confine.restrict_files(); os.execve(argv[0], argv, environment | own)"
)

CommandBuilder = Callable[[int, int, int], Sequence[str]]
"""A function that returns the command to run. Its arguments are three file descriptors that the command inherits.

The program writes its answer to the first descriptor and its log to the second. The third is a socket, the gate. A
program whose CPU time is measured sends one byte there and reads one byte: its CPU time counts from then on. It closes
its answer, and reads from the gate again before it ends. This second read blocks until the CPU time has been read.
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for a program: bytes per file, number of processes, and CPU seconds per process (0: unlimited)."""

    file_bytes: int = 0
    processes: int = PROCESSES
    cpu_s: int = 0


NO_ALLOWANCE: Final = Allowance()


def program(name: str) -> str:
    """Return the source text of `grader/inside/NAME.py`."""
    return (GRADER / "inside" / f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of running a program. `status` is its exit status, or None if it was killed at its time limit.

    `cpu_s` is the CPU time until the program closed its answer. It counts from the byte that the program sent to the
    gate, or else from its start. It is None if the process ended before the time was read.
    """

    status: int | None
    answer: bytes
    log: bytes
    printed: str
    cpu_s: float | None = field(default=None, compare=False)


def run(
    making: CommandBuilder,
    given: bytes,
    limits: Limits,
    timeout_s: float,
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    allowance: Allowance = NO_ALLOWANCE,
    together: threading.Barrier | None = None,
) -> ProgramResult:
    """Run a program with `given` as its standard input, and return its result.

    Programs with the same barrier `together` pass their gates at the same time. When the first of them ends, the others
    no longer wait for it.
    """
    with ExitStack() as own_ends, tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        if together:
            own_ends.callback(together.abort)
        with ExitStack() as child_ends:
            answer, log, gate = _Pipe(own_ends, child_ends), _Pipe(own_ends, child_ends), _Gate(own_ends, child_ends)
            argv = list(making(answer.write, log.write, gate.read))
            bounds = sandbox.rlimits(limits, sandboxed=sandboxed) | {"RLIMIT_FSIZE": allowance.file_bytes}
            bounds |= {"RLIMIT_CPU": allowance.cpu_s} if allowance.cpu_s else {}
            bounds |= {"RLIMIT_NPROC": allowance.processes} if sandboxed else {}
            config = json.dumps([bounds, argv, dict(process_env.ENVIRONMENT)])
            process = sandbox.launch(
                [sys.executable, "-P", "-s", "-c", _LAUNCH, config],
                [answer.write, log.write, gate.read],
                sandboxed=sandboxed,
                hidden=hidden,
                stdin=stdin.fileno(),
            )
        output = OutputTail(process.output)
        status: int | None = None
        cpu_s: float | None = None
        clock = _CpuClock(process)
        gate.begin(clock, together)
        end_s = clocks.wall() + timeout_s
        try:
            if answer.ends_within(timeout_s):
                cpu_s = clock.taken_s()
            gate.open()
            with suppress(subprocess.TimeoutExpired):
                status = process.popen.wait(max(0.0, end_s - clocks.wall()))
        finally:
            process.kill()
            printed = output.text()
            output.close()
        return ProgramResult(status, answer.close(), log.close(), printed, cpu_s)


class _CpuClock:
    """Read the CPU time of a program from outside. Two threads may use it, one after the other."""

    def __init__(self, process: ProcessTree) -> None:
        self._process, self._begin_s = process, 0.0
        self._read: clocks.Clock | None = None

    def begin(self) -> None:
        """Count the CPU time from now on."""
        self._begin_s = self._total_s() or 0.0

    def taken_s(self) -> float | None:
        """Return the CPU time since `begin` or since the start of the program, or None if the program has ended."""
        total_s = self._total_s()
        return None if total_s is None else total_s - self._begin_s

    def _total_s(self) -> float | None:
        with tree_users.acting_as(self._process.owner):
            if self._read is None:
                try:
                    self._process.find_pids()
                except (MachineError, OSError, ValueError):  # the sandbox is empty, or has already ended
                    return None
                self._read = clocks.process_cpu(self._process.pids[-1])
            with suppress(ProcessGoneError):
                return self._read()
        return None


class _Gate:
    def __init__(self, own_ends: ExitStack, child_ends: ExitStack) -> None:
        self._own, other = socket.socketpair()
        self.read = other.fileno()
        child_ends.callback(other.close)
        own_ends.callback(self._own.close)

    def begin(self, clock: _CpuClock, together: threading.Barrier | None) -> None:
        """Begin to count the program's CPU time as soon as the program, and all that share the barrier, ask for it."""
        threading.Thread(target=self._begin, args=(clock, together), daemon=True).start()

    def open(self) -> None:
        self._own.shutdown(socket.SHUT_RDWR)

    def _begin(self, clock: _CpuClock, together: threading.Barrier | None) -> None:
        with suppress(OSError):  # the program has ended
            if self._own.recv(1):
                if together:
                    with suppress(threading.BrokenBarrierError):  # another program has ended
                        together.wait()
                with suppress(FairclockError):  # the thread of `run` meets the same error
                    clock.begin()
                self._own.send(b"\0")


class _Pipe:
    def __init__(self, own_ends: ExitStack, child_ends: ExitStack) -> None:
        self._read, self.write = os.pipe()
        own_ends.callback(os.close, self._read)
        child_ends.callback(os.close, self.write)
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def ends_within(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def close(self) -> bytes:
        self._thread.join(timeout=5)
        return bytes(self._kept)

    def _drain(self) -> None:
        with suppress(OSError):
            while part := os.read(self._read, 1 << 16):
                self._kept += part[: MAX_KEPT_BYTES - len(self._kept)]
