"""A class on real Dask schedulers and workers, and a stranger who lacks their keys (attack class 67)."""

import json
import logging
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from commanding import CLASS, PATIENCE_S, ROOT, command, golden, grader, outcomes, rows, verdicts

from grader.class_run import cluster

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.long]

STRANGER = ROOT / "tests" / "grader" / "stranger.py"
KEY = b"PRIVATE KEY"
LESSONS = ("04_autorange", "06_ab_testing")
CHOSEN = [word for lesson in LESSONS for word in ("--lessons", lesson)]
EXPECTED = {
    student: mine
    for student, tasks in golden().items()
    if (mine := {task: one for task, one in tasks.items() if task.startswith(LESSONS)})
}
TLS = {
    "tls_ca_file": "CA_FILE",
    "tls_scheduler_cert": "SCHEDULER__CERT",
    "tls_scheduler_key": "SCHEDULER__KEY",
    "tls_worker_cert": "WORKER__CERT",
    "tls_worker_key": "WORKER__KEY",
    "tls_client_cert": "CLIENT__CERT",
    "tls_client_key": "CLIENT__KEY",
}
"""Dask's settings, by the attributes of `distributed.Security`."""


@contextmanager
def running(*arguments: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module as a process of the cluster until the `with` block ends."""
    quiet = subprocess.DEVNULL
    script = [sys.executable, "-m", *arguments]
    environment = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(script, cwd=ROOT, env=environment, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def scheduler(folder: Path, env: Mapping[str, str]) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a Dask scheduler that only this machine can reach, and yield its address and process."""
    told = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    protocol = ("--protocol", "tls" if env else "tcp")
    with running("distributed.cli.dask_scheduler", *options, *protocol, env=env) as process:
        wait_for(told.exists)
        yield json.loads(told.read_text(encoding="utf-8"))["address"], process


def worker(address: str, env: Mapping[str, str]) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Start a Dask worker with one lane. If it is killed, Dask does not start it again."""
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0")
    return running("distributed.cli.dask_worker", address, *options, env=env)


def wait_for(happened: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, str]:
    """Return environment variables that configure Dask with TLS certificates of one authority."""
    from distributed import Security

    made, found = Security.temporary(), {}
    for attribute, setting in TLS.items():
        path = tmp_path / f"{attribute}.pem"
        path.write_text(getattr(made, attribute), encoding="ascii")
        found[f"DASK_DISTRIBUTED__COMM__TLS__{setting}"] = str(path)
    return found


def got_by_a_stranger(listening: set[int]) -> list[str]:
    script = [sys.executable, str(STRANGER), *map(str, sorted(listening))]
    found = subprocess.run(script, stdout=subprocess.PIPE, timeout=PATIENCE_S, check=True).stdout
    told: list[str] = json.loads(found)
    return told


def test_a_cluster_with_tls_whose_worker_is_killed_gives_the_grades_that_one_machine_gives(
    tmp_path: Path, certificates: dict[str, str]
) -> None:
    out = tmp_path / "out"
    with ExitStack() as stack:
        address, _ = stack.enter_context(scheduler(tmp_path, certificates))
        killed = stack.enter_context(worker(address, certificates))
        grading = command("run", CLASS, "--out", out, "--scheduler", address, *CHOSEN)
        env = {**os.environ, **certificates}
        run = stack.enter_context(subprocess.Popen(grading, cwd=ROOT, env=env, stderr=subprocess.DEVNULL))
        wait_for(lambda: rows(out, "SELECT * FROM attempts"))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert run.poll() is None
        other = stack.enter_context(worker(address, certificates))
        assert got_by_a_stranger({int(address.rpartition(":")[2])}) == []
        assert run.wait(PATIENCE_S) == 0
        wait_for(lambda: psutil.Process(other.pid).children() == [])
        assert other.poll() is None, "a worker lives on after a class"
    assert address.startswith("tls://")
    assert verdicts(outcomes(out)) == EXPECTED


def test_where_the_scheduler_is_lost_the_same_command_goes_on_with_workers_of_its_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ExitStack() as stack:
        address, lost = stack.enter_context(scheduler(tmp_path, {}))
        stack.enter_context(worker(address, {}))
        grading = command("run", CLASS, "--out", out, "--scheduler", address, *CHOSEN)
        run = stack.enter_context(
            subprocess.Popen(grading, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
        wait_for(lambda: rows(out, "SELECT * FROM attempts"))
        lost.kill()
        said, _ = run.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said
    assert (run.returncode, "run the same command again" in said.lower()) in {(3, True), (0, False)}, said
    ended = grader("run", CLASS, "--out", out, "--progress", "--workers", "2", *CHOSEN)
    assert ended.code == 0, ended.err
    assert run.returncode == 0 or "2 workers of a cluster, 2 lanes" in ended.err, ended.err
    query = "SELECT student, task, status, points FROM attempts ORDER BY grading"
    latest = {(student, task): (status, points) for student, task, status, points in rows(out, query)}
    assert latest == {
        (student, task): (str(one["status"]).lower().replace("_", " "), one["points"])
        for student, tasks in EXPECTED.items()
        for task, one in tasks.items()
    }


def ports() -> set[int]:
    """Return the TCP ports on which this process and its descendants listen."""
    mine = psutil.Process()
    found = [one for each in (mine, *mine.children(recursive=True)) for one in each.net_connections(kind="inet")]
    return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}


@contextmanager
def plain_cluster() -> Iterator[None]:
    """Run a Dask cluster of one worker, without encryption, as Dask does by default."""
    import distributed

    small = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
    quiet = {"silence_logs": logging.CRITICAL + 1, "scheduler_kwargs": {"dashboard": False}}
    with mock.patch.dict(os.environ), distributed.LocalCluster(**small, **quiet):
        yield


def is_repaired() -> tuple[int, bool]:
    """Return the process id, and whether each use of a TLS connection of this process empties OpenSSL's list first."""
    from tornado.iostream import SSLIOStream

    used = (SSLIOStream.read_from_fd, SSLIOStream.write_to_fd)
    return os.getpid(), all(hasattr(each, "__wrapped__") for each in used)


def test_a_stranger_gets_nothing_from_the_cluster_of_a_run_but_everything_from_one_without_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before, variables = ports(), dict(os.environ)
    with cluster.start(1, (ROOT,), sandboxed=True) as (lanes, _):
        listening = ports() - before
        assert len(listening) >= 3, "scheduler, nanny, worker"
        assert got_by_a_stranger(listening) == []
        pid, repaired = lanes.submit(is_repaired).result(PATIENCE_S)
        assert pid in {one.pid for one in psutil.Process().children()}
        assert repaired
        assert is_repaired() == (os.getpid(), True), "the scheduler runs in this process"
        its_key_is_on_no_disk_no_command_line_and_in_no_environment(tmp_path)
    assert dict(os.environ) == variables
    assert list(tmp_path.iterdir()) == []
    before = ports()
    with plain_cluster():
        found = got_by_a_stranger(ports() - before)
    assert sum("tcp://" in one and "runs code" in one for one in found) == 3, "scheduler, nanny, worker"
    assert any(one.startswith("http://") for one in found)


def its_key_is_on_no_disk_no_command_line_and_in_no_environment(folder: Path) -> None:
    (scratch,) = folder.iterdir()
    assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
    assert not [path for path in scratch.rglob("*") if path.is_file() and KEY in path.read_bytes()]
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        for place in ("cmdline", "environ"):
            assert KEY not in Path(f"/proc/{process.pid}/{place}").read_bytes()
