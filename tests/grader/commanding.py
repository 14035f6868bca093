"""Running the grader's commands as people do: a process of its own, with what it says and how it ends.

Whatever a command starts and does not end falls to the test's own process (Linux: PR_SET_CHILD_SUBREAPER), so
"nothing is left running" can be asked instead of hoped.
"""

import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

ROOT = Path(__file__).parents[2]
CLASS = ROOT / "tests" / "submissions"
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
PATIENCE_S = 300
PASSING = {".lock", "grades.sqlite-shm", "grades.sqlite-wal"}


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said on each stream."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Outcome:
    """One verdict as the journal keeps it."""

    status: str
    points: float
    tier: int | None
    rationale: str
    help: str


def grader(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
    """Run `python -m grader` to its end. No command may ever show a traceback."""
    done = subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


def command(*arguments: str | Path) -> list[str]:
    """The command line of `python -m grader`."""
    return [sys.executable, "-m", "grader", *map(str, arguments)]


def outcomes(out: Path) -> dict[str, dict[str, Outcome]]:
    """All verdicts in the journal of OUT by student and task; two for one task are an error."""
    query = "SELECT student, task, status, points, tier, rationale, help FROM attempts"
    found: dict[str, dict[str, Outcome]] = {}
    for student, task, status, points, tier, rationale, help_text in rows(out, query):
        assert task not in found.setdefault(student, {}), f"{student} has two verdicts for {task}"
        found[student][task] = Outcome(status.upper().replace(" ", "_"), points, tier, rationale, help_text)
    return found


def rows(out: Path, query: str) -> list[Any]:
    """Rows of a query to the journal of OUT; none while there is no journal yet."""
    try:
        with closing(sqlite3.connect(f"{(out / 'grades.sqlite').as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def verdicts(found: dict[str, dict[str, Outcome]]) -> dict[str, dict[str, dict[str, str | float | None]]]:
    """What golden verdicts are compared by: status, points and tier."""
    return {
        student: {
            task: {"status": one.status, "points": one.points, "tier": one.tier} for task, one in of_student.items()
        }
        for student, of_student in found.items()
    }


def golden() -> dict[str, dict[str, dict[str, str | float | None]]]:
    """The golden verdicts of `tests/submissions`."""
    read: dict[str, dict[str, dict[str, str | float | None]]] = json.loads(
        (ROOT / "tests" / "submissions.json").read_text(encoding="utf-8")
    )
    return read


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes; not those that come and go with whoever reads or locks a journal."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in PASSING
    }


def peak_of(pid: int) -> int:
    """The most memory that a process has held so far (Linux: proc_pid_status(5), VmHWM); 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


@contextmanager
def nothing_left_running(patience_s: float = 10.0) -> Iterator[None]:
    """Fail unless every process started within, by whomever, has ended soon after; then end those that have not."""
    before = set(psutil.Process().children(recursive=True))
    _adopt_orphans(adopt=True)
    try:
        yield
        deadline_s = time.monotonic() + patience_s
        while (left := _running() - before) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        for process in left:
            process.kill()
        assert not left, [process.name() for process in left]
    finally:
        _adopt_orphans(adopt=False)
        _reap({child for child in psutil.Process().children() if child not in before})


def _adopt_orphans(*, adopt: bool) -> None:
    """Whether what loses its parent below this process becomes its child, or that of the machine's init."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def _reap(children: set[psutil.Process]) -> None:
    """Fetch the exit statuses of those that ended: an adopted one has nobody else who would."""
    for child in children:
        if not _is_running(child):
            with suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)


def _running() -> set[psutil.Process]:
    return {one for one in psutil.Process().children(recursive=True) if _is_running(one)}


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
