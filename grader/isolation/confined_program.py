"""Run one program in the sandbox of submissions until it ends, and return its exit status and its output.

The program can neither start processes nor write files, unless an `Allowance` permits this. The program is killed at
its time limit.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.isolation import sandbox
from grader.limits import Limits
from grader.paths import GRADER
from harness.processes import process_env

_LAUNCH: Final = (
    "import json, os, sys; from grader.inside import confine; limits, argv, environment = json.loads(sys.argv[1]); "
    "own = {name: os.environ[name] for name in ('HOME', 'TMPDIR') if name in os.environ}; "
    "confine.set_limits(limits); confine.restrict_files(); os.execve(argv[0], argv, environment | own)"
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for a program: bytes per file, number of processes, and CPU seconds per process (0: unlimited).

    The number of processes includes the sandbox's first process.
    """

    file_bytes: int = 0
    processes: int = 2
    cpu_s: int = 0


NO_ALLOWANCE: Final = Allowance()


def program(name: str) -> str:
    """Return the source text of `grader/inside/NAME.py`."""
    return (GRADER / "inside" / f"{name}.py").read_text(encoding="utf-8")


def run(
    argv: Sequence[str],
    given: bytes,
    limits: Limits,
    timeout_s: float,
    *,
    sandboxed: bool,
    hidden: Sequence[Path] = (),
    allowance: Allowance = NO_ALLOWANCE,
) -> tuple[int | None, bytes]:
    """Run a program with `given` as its standard input. Return its exit status and the end of all that it printed.

    The exit status is None if the program was killed at its time limit.
    """
    bounds = sandbox.rlimits(limits, sandboxed=sandboxed) | {"RLIMIT_FSIZE": allowance.file_bytes}
    bounds |= {"RLIMIT_CPU": allowance.cpu_s} if allowance.cpu_s else {}
    bounds |= {"RLIMIT_NPROC": allowance.processes} if sandboxed else {}
    config = json.dumps([bounds, list(argv), dict(process_env.ENVIRONMENT)])
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        launching = [sys.executable, "-P", "-s", "-c", _LAUNCH, config]
        tree = sandbox.launch(launching, [], sandboxed=sandboxed, hidden=hidden, stdin=stdin.fileno())
    return tree.finish(timeout_s)
