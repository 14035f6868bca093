"""A class on a Dask cluster: which workers may grade, messages, encryption, and real schedulers and workers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from commanding import CLASS, ROOT, command, golden, outcomes, rows, verdicts
from real_server import served

from grader import paths
from grader.class_run import cluster
from grader.class_run.cluster import LANE, GradingPlugin, standard, standing
from grader.commands.apps import run_grader

LESSONS = ("04_autorange", "06_ab_testing")
CHOSEN = [word for lesson in LESSONS for word in ("--lessons", lesson)]
EXPECTED = {
    student: mine
    for student, tasks in golden().items()
    if (mine := {task: one for task, one in tasks.items() if task.startswith(LESSONS)})
}
TLS = {f"tls_{who}_{what}": f"{who}__{what}" for who in ("scheduler", "worker", "client") for what in ("cert", "key")}
"""Dask's settings for certificates, by the attributes of `distributed.Security`."""


def test_a_worker_with_other_versions_gets_no_lane() -> None:
    given: dict[str, float] = {}

    async def set_resources(**resources: float) -> None:
        given.update(resources)

    plugin = GradingPlugin({**standard(), "torch": "0.1", "files of another room": "a7"}, (), sandboxed=False)
    worker = SimpleNamespace(set_resources=set_resources, plugins={cluster.NAME: plugin})
    asyncio.run(plugin.setup(worker))  # type: ignore[arg-type]  # a worker, as far as a refusal needs one
    assert given == {LANE: 0}
    why = f"torch {standard()['torch']} instead of 0.1, files of another room unknown instead of a7"
    assert standing(worker) == (0, why)  # type: ignore[arg-type]


def test_a_scheduler_that_cannot_be_used_is_a_usage_error_and_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    for address, says in {
        "tcp://127.0.0.1:9": "No Dask scheduler answers",
        "tls://127.0.0.1:9": "check your TLS configuration",
        "tcp://no-such-host.invalid:8786": "tcp://no-such-host.invalid:8786 is not encrypted",
        "tcp://[bad": "Give an address such as tcp://10.0.0.1:8786.",
    }.items():
        assert run_grader(["run", str(CLASS), "--out", str(tmp_path / "out"), "--scheduler", address, "--quiet"]) == 2
        assert says in " ".join("".join(capsys.readouterr()).split())
    assert not (tmp_path / "out").exists()


def test_an_address_on_the_network_without_encryption_is_warned_of_and_no_other() -> None:
    for address in ("tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://gpu.example:8786", "tcp://[fd00::1]:1", "tcp://[b"):
        assert f"the connection to {address} is not encrypted" in cluster.warning(address)
    for address in ("tls://10.0.0.1:8786", "tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:1"):
        assert cluster.warning(address) == "", address


@contextmanager
def running(*arguments: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module as a process of the cluster until the `with` block ends."""
    quiet = subprocess.DEVNULL
    script = [sys.executable, "-m", *arguments, "--preload", "grader.class_run.openssl_errors"]
    environment = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(script, cwd=ROOT, env=environment, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def scheduler(folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Run a Dask scheduler with TLS that only this machine can reach, and yield its address."""
    told = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    with running("distributed.cli.dask_scheduler", *options, "--protocol", "tls", env=env):
        wait_for(told.exists)
        yield json.loads(told.read_text(encoding="utf-8"))["address"]


def worker(address: str, env: Mapping[str, str]) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Start a Dask worker with one lane. If it is killed, Dask does not start it again."""
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--memory-limit", "0")
    return running("distributed.cli.dask_worker", address, *options, env=env)


def wait_for(happened: Callable[[], object]) -> None:
    while not happened():
        time.sleep(0.05)


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, str]:
    """Return environment variables that configure Dask with TLS certificates of one authority."""
    from distributed import Security  # slow to import

    made, found = Security.temporary(), {}
    for attribute, setting in {**TLS, "tls_ca_file": "ca_file"}.items():
        path = tmp_path / f"{attribute}.pem"
        path.write_text(getattr(made, attribute), encoding="ascii")
        found[f"DASK_DISTRIBUTED__COMM__TLS__{setting.upper()}"] = str(path)
    return found


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.long
def test_a_tls_cluster_with_a_killed_worker_gives_equal_grades(tmp_path: Path, certificates: dict[str, str]) -> None:
    out = tmp_path / "out"
    with ExitStack() as stack:
        address = stack.enter_context(scheduler(tmp_path, certificates))
        killed = stack.enter_context(worker(address, certificates))
        grading = command("run", CLASS, "--out", out, "--scheduler", address, *CHOSEN)
        env = {**os.environ, **certificates}
        run = stack.enter_context(subprocess.Popen(grading, cwd=ROOT, env=env, stderr=subprocess.DEVNULL))
        wait_for(lambda: rows(out, "SELECT * FROM attempts"))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert run.poll() is None
        other = stack.enter_context(worker(address, certificates))
        assert run.wait() == 0
        wait_for(lambda: psutil.Process(other.pid).children() == [])
        assert other.poll() is None, "a worker lives on after a class"
    assert address.startswith("tls://")
    assert verdicts(outcomes(out)) == EXPECTED


@pytest.mark.long
@pytest.mark.sandbox
def test_a_server_of_a_course_grades_on_the_cluster(
    tmp_path: Path, certificates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in certificates.items():
        monkeypatch.setenv(name, value)
    course = 'timezone = "UTC"\n[lessons.04_autorange]\n'
    with (
        scheduler(tmp_path, certificates) as address,
        worker(address, certificates),
        served(tmp_path / "course", course, ["Ada"], "--scheduler", address, "--jobs", "1") as server,
    ):
        ada = server.program("Ada")
        _, receipt = ada.hand_in("04_autorange.py", paths.solution("04_autorange").read_bytes())

        def found() -> dict[str, object]:
            answer = json.loads(ada.get(f"/api/receipts/{receipt['number']}")[1])
            return dict(*(answer["found"] or [{}]))

        wait_for(lambda: found().get("status") == "graded")
        assert found()["points"] == found()["possible"]
