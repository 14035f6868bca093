"""Run the grader's commands as users do, in separate processes, and return their output and exit code.

`grader` forks most processes from one that has imported the grader. `command` starts Python.
`said` runs a command in the test's own process. A command that hangs ends with its test, which has a limit of time.

Processes that a command starts and leaves behind become children of the test's own process (Linux:
PR_SET_CHILD_SUBREAPER). So a test can check that nothing is left running.
"""

import ctypes
import json
import multiprocessing
import multiprocessing.forkserver
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked_command
import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from grader.commands.apps import run_grader

ROOT = Path(__file__).parents[2]
CLASS = ROOT / "tests" / "submissions"
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["grader.commands.apps"])
ENVIRONMENT = dict(os.environ)
"""The environment in which the process to fork from imports the grader."""
READ_LATE = ("FAIRCLOCK_", "KINETO_", "KMP_", "PYTEST_", "TORCHINDUCTOR_")
"""The beginnings of names of environment variables that a command does not read before it imports torch or sklearn."""
Verdicts = dict[str, dict[str, dict[str, str | float | None]]]
PASSING = {".lock", "grades.sqlite-shm", "grades.sqlite-wal"}


@dataclass(frozen=True)
class CommandResult:
    """The exit code of a command, and its text on each stream."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Outcome:
    """One verdict from the journal."""

    status: str
    points: float
    tier: int | None
    rationale: str
    help: str


def grader(*arguments: str | Path, env: Mapping[str, str] | None = None) -> CommandResult:
    """Run `python -m grader` to its end. No command may ever show a traceback."""
    environment = {**os.environ, **(env or {})}
    ended = _forked(list(map(str, arguments)), environment) or _started(command(*arguments), environment)
    assert "Traceback" not in ended.out + ended.err, ended.err
    return ended


def _forked(arguments: list[str], environment: Mapping[str, str]) -> CommandResult | None:
    """Run a command in a forked process. Return None for `run`, for a different environment, and without forks."""
    changed = {name for name, _ in environment.items() ^ ENVIRONMENT.items() if not name.startswith(READ_LATE)}
    if sys.platform == "win32" or arguments[:1] == ["run"] or changed:
        return None
    with tempfile.TemporaryDirectory() as out:
        process = CONTEXT.Process(target=forked_command.run, args=(arguments, environment, str(ROOT), out))
        process.start()
        try:
            process.join()
        finally:
            process.kill()
        assert process.exitcode is not None
        texts = [Path(out, name).read_text(encoding="utf-8") for name in "12"]
    return CommandResult(process.exitcode, *texts)


def _started(argv: list[str], environment: Mapping[str, str]) -> CommandResult:
    done = subprocess.run(
        argv,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> CommandResult:
    """Run a command of the grader in this process, which is fast, and return its output and exit code."""
    code = run_grader(list(map(str, arguments)))
    captured = capsys.readouterr()
    return CommandResult(code, captured.out, captured.err)


def command(*arguments: str | Path) -> list[str]:
    """Return the command line of `python -m grader`."""
    return [sys.executable, "-m", "grader", *map(str, arguments)]


def outcomes(out: Path) -> dict[str, dict[str, Outcome]]:
    """Return all verdicts in the journal of OUT by student and task. Two verdicts for one task are an error."""
    query = "SELECT student, task, status, points, tier, rationale, help FROM attempts"
    found: dict[str, dict[str, Outcome]] = {}
    for student, task, status, points, tier, rationale, help_text in rows(out, query):
        assert task not in found.setdefault(student, {}), f"{student} has two verdicts for {task}"
        found[student][task] = Outcome(status.upper().replace(" ", "_"), points, tier, rationale, help_text)
    return found


def rows(out: Path, query: str) -> list[Any]:
    """Return the rows of a query to the journal of OUT; none while there is no journal."""
    try:
        with closing(sqlite3.connect(f"{(out / 'grades.sqlite').as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def verdicts(found: dict[str, dict[str, Outcome]]) -> Verdicts:
    """Return the part of the verdicts that golden tests compare: status, points and tier."""

    def compared(one: Outcome) -> dict[str, str | float | None]:
        return {"status": one.status, "points": one.points, "tier": one.tier}

    return {student: {task: compared(one) for task, one in mine.items()} for student, mine in found.items()}


def golden() -> Verdicts:
    """Return the expected verdicts for `tests/submissions`."""
    read: Verdicts = json.loads((ROOT / "tests" / "submissions.json").read_text(encoding="utf-8"))
    return read


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes, without files that a journal needs only while it is open."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in PASSING
    }


@contextmanager
def nothing_left_running(patience_s: float = 10.0) -> Iterator[None]:
    """Fail unless every process started within this context has ended soon after it; then end the others."""
    multiprocessing.forkserver.ensure_running()
    before = set(psutil.Process().children(recursive=True))
    _adopt_orphans(adopt=True)
    try:
        yield
        deadline_s = time.monotonic() + patience_s
        while (left := _running() - before) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        unexpected = [process.name() for process in left if not _never_began(process)]
        for process in left:
            process.kill()
        assert not unexpected, unexpected
    finally:
        _adopt_orphans(adopt=False)
        _reap({child for child in psutil.Process().children() if child not in before})


def _never_began(process: psutil.Process) -> bool:
    """Return whether this is bubblewrap's first child, which never began because bubblewrap was killed after its clone.

    The child then waits forever for a message of bubblewrap (`read` of an eventfd). It has run nothing of a submission.
    About 1 of 20 killed runs leaves such a process, because bubblewrap ends together with the grader.
    """
    waits_in = Path(f"/proc/{process.pid}/syscall").read_text(encoding="ascii").split()
    opened = Path(f"/proc/{process.pid}/fd", str(int(waits_in[1], 16))) if waits_in[0] == "0" else None
    return process.name() == "bwrap" and opened is not None and "eventfd" in str(opened.readlink())


def _adopt_orphans(*, adopt: bool) -> None:
    """Set whether orphaned descendants of this process become its children, or children of the machine's init."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def _reap(children: set[psutil.Process]) -> None:
    """Fetch the exit statuses of ended children, because adopted children have no other parent."""
    for child in children:
        if not _is_running(child):
            with suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)


def _running() -> set[psutil.Process]:
    return set(filter(_is_running, psutil.Process().children(recursive=True)))


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
