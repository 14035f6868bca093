"""A class on a real Dask scheduler and real workers, all processes of this machine."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from commanding import CLASS, PATIENCE_S, ROOT, command, golden, grader, nothing_left_running, outcomes, rows, verdicts

from grader.class_run import cluster
from grader.class_run.remote import Standard
from grader.errors import MachineError

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

LESSONS = ("04_autorange", "06_ab_testing")
CHOSEN = [word for lesson in LESSONS for word in ("--lessons", lesson)]
EXPECTED = {
    student: mine
    for student, tasks in golden().items()
    if (mine := {task: one for task, one in tasks.items() if task.startswith(LESSONS)})
}


@contextmanager
def running(*arguments: str, cwd: Path = ROOT) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module as a process of the cluster until the `with` block ends."""
    script = [sys.executable, "-m", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(cwd)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(script, cwd=cwd, env=environment, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Run a Dask scheduler that only this machine can reach, and yield its address."""
    told = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    with running("distributed.cli.dask_scheduler", *options):
        wait_for(told.exists)
        yield json.loads(told.read_text(encoding="utf-8"))["address"]


def worker(address: str, *, cwd: Path = ROOT) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Start a Dask worker with one lane. If it is killed, Dask does not start it again."""
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0")
    return running("distributed.cli.dask_worker", address, *options, cwd=cwd)


def wait_for(happened: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with scheduler(tmp_path) as one:
        yield one


def test_two_workers_give_the_grades_that_one_machine_gives(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with nothing_left_running():
        ended = grader("run", CLASS, "--out", out, "--progress", "--workers", "2", *CHOSEN)
    assert ended.code == 0, ended.err
    assert "2 workers of a cluster, 2 lanes" in ended.err, ended.err
    assert verdicts(outcomes(out)) == EXPECTED


def test_a_worker_that_is_killed_costs_nobody_a_grade(tmp_path: Path, address: str) -> None:
    out = tmp_path / "out"
    with ExitStack() as stack:
        killed = stack.enter_context(worker(address))
        grading = command("run", CLASS, "--out", out, "--scheduler", address, *CHOSEN)
        run = stack.enter_context(subprocess.Popen(grading, cwd=ROOT, stderr=subprocess.DEVNULL))
        wait_for(lambda: rows(out, "SELECT * FROM attempts"))
        assert run.poll() is None
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert run.poll() is None
        stack.enter_context(worker(address))
        assert run.wait(PATIENCE_S) == 0
    assert verdicts(outcomes(out)) == EXPECTED


def test_where_the_scheduler_is_lost_the_same_command_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ExitStack() as stack:
        address = stack.enter_context(scheduler(tmp_path))
        stack.enter_context(worker(address))
        grading = command("run", CLASS, "--out", out, "--scheduler", address, *CHOSEN)
        run = stack.enter_context(
            subprocess.Popen(grading, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
        wait_for(lambda: rows(out, "SELECT * FROM attempts"))
        for process in psutil.Process().children():
            if "distributed.cli.dask_scheduler" in process.cmdline():
                process.kill()
        said, _ = run.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said
    assert (run.returncode, "run the same command again" in said.lower()) in {(3, True), (0, False)}, said
    assert grader("run", CLASS, "--out", out, *CHOSEN).code == 0
    query = "SELECT student, task, status, points FROM attempts ORDER BY grading"
    latest = {(student, task): (status, points) for student, task, status, points in rows(out, query)}
    assert latest == {
        (student, task): (str(one["status"]).lower().replace("_", " "), one["points"])
        for student, tasks in EXPECTED.items()
        for task, one in tasks.items()
    }


def test_a_worker_lives_on_after_a_class_and_keeps_nothing_of_it(tmp_path: Path, address: str) -> None:
    with worker(address) as one:
        ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", address, "--lessons", LESSONS[0])
        assert ended.code == 0, ended.err
        wait_for(lambda: psutil.Process(one.pid).children() == [])
        assert one.poll() is None


def test_a_worker_whose_kit_differs_grades_nothing_and_the_instructor_reads_why(tmp_path: Path, address: str) -> None:
    other = tmp_path / "other"
    for room in ("grader", "harness", "lessons", "solutions"):
        shutil.copytree(ROOT / room, other / room, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "grader" / "trials" / "score.py").open("a", encoding="utf-8") as changed:
        changed.write("# a better idea\n")
    with worker(address, cwd=other):
        ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", address, *CHOSEN)
    assert ended.code == 2
    assert "No worker of this cluster can grade" in ended.err
    assert "different files in grader or harness" in ended.err
    assert rows(tmp_path / "out", "SELECT * FROM attempts") == []


def test_where_no_scheduler_answers_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    with pytest.raises(MachineError, match="No Dask scheduler answers"):
        cluster.join("tcp://127.0.0.1:9", (), sandboxed=True).__enter__()


def test_a_cluster_without_workers_says_how_to_start_them(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "START_S", 0.5)
    with pytest.raises(MachineError, match=r"has no worker\. To add workers, run `dask worker"):
        cluster.join(address, (), sandboxed=True).__enter__()


def test_a_scheduler_and_workers_of_ones_own_exclude_each_other(tmp_path: Path) -> None:
    ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9", "--workers", "2")
    assert ended.code == 2
    assert "not both" in ended.err


def test_differences_from_the_standard_are_named() -> None:
    mine = Standard("1.0", "abc", "3.11.7", "2.13.0", "2.3.0")
    assert mine.differences(mine) == ""
    assert mine.differences(Standard("1.0", "abc", "3.12.1", "2.9.0", "2.3.0")) == (
        "python 3.12.1 instead of 3.11.7, torch 2.9.0 instead of 2.13.0"
    )
    assert "of the same version 1.0" in mine.differences(Standard("1.0", "abd", "3.11.7", "2.13.0", "2.3.0"))
