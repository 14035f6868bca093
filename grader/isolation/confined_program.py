"""Run one program in the sandbox of submissions until it ends, and return its output and exit status.

The program can neither start processes nor write files, unless an `Allowance` permits this. The program is killed at
its time limit.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import sandbox
from grader.isolation.output_tail import OutputTail
from grader.limits import Limits
from grader.paths import GRADER
from harness.processes import process_env

MAX_KEPT_BYTES: Final = 4 << 20
"""At most this many bytes of a program's answer are kept.

Further bytes are read and dropped, so that the program never blocks.
"""

PROCESSES: Final = 2
"""The most processes that the program's user may have: the program, and the sandbox's first process."""

_LAUNCH: Final = (
    "import json, os, sys; from grader.inside import confine; limits, argv, environment = json.loads(sys.argv[1]); "
    "own = {name: os.environ[name] for name in ('HOME', 'TMPDIR') if name in os.environ}; "
    "confine.set_limits(limits); confine.restrict_files(); os.execve(argv[0], argv, environment | own)"
)


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
    """The result of running a program. `status` is its exit status, or None if it was killed at its time limit."""

    status: int | None
    answer: bytes
    printed: str


def run(
    command: Callable[[int], Sequence[str]],
    given: bytes,
    limits: Limits,
    timeout_s: float,
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    allowance: Allowance = NO_ALLOWANCE,
) -> ProgramResult:
    """Run a program with `given` as its standard input, and return its result.

    `command` returns the program's command. The program writes its answer to the inherited descriptor that `command`
    gets.
    """
    with ExitStack() as own_ends, tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        with ExitStack() as child_ends:
            answer = _Pipe(own_ends, child_ends)
            bounds = sandbox.rlimits(limits, sandboxed=sandboxed) | {"RLIMIT_FSIZE": allowance.file_bytes}
            bounds |= {"RLIMIT_CPU": allowance.cpu_s} if allowance.cpu_s else {}
            bounds |= {"RLIMIT_NPROC": allowance.processes} if sandboxed else {}
            config = json.dumps([bounds, list(command(answer.write)), dict(process_env.ENVIRONMENT)])
            process = sandbox.launch(
                [sys.executable, "-P", "-s", "-c", _LAUNCH, config],
                [answer.write],
                sandboxed=sandboxed,
                hidden=hidden,
                stdin=stdin.fileno(),
            )
        output = OutputTail(process.output)
        status: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                status = process.popen.wait(timeout_s)
        finally:
            process.kill()
            printed = output.text()
            output.close()
        return ProgramResult(status, answer.close(), printed)


class _Pipe:
    def __init__(self, own_ends: ExitStack, child_ends: ExitStack) -> None:
        self._read, self.write = os.pipe()
        own_ends.callback(os.close, self._read)
        child_ends.callback(os.close, self.write)
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def close(self) -> bytes:
        self._thread.join(timeout=5)
        return bytes(self._kept)

    def _drain(self) -> None:
        with suppress(OSError):
            while part := os.read(self._read, 1 << 16):
                self._kept += part[: MAX_KEPT_BYTES - len(self._kept)]
