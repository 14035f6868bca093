"""A Dask cluster of a run takes no orders from processes that lack the run's key (attack class 67)."""

import json
import logging
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest
from commanding import CLASS, PATIENCE_S, ROOT, grader
from test_cluster import running, wait_for

from grader.class_run import cluster, encryption
from grader.errors import MachineError, UsageError

STRANGER = ROOT / "tests" / "grader" / "stranger.py"
KEY = b"PRIVATE KEY"
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


def ports() -> set[int]:
    """Return the TCP ports on which this process and its descendants listen."""
    mine = psutil.Process()
    found = [one for each in (mine, *mine.children(recursive=True)) for one in each.net_connections(kind="inet")]
    return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}


def got_by_a_stranger(listening: set[int]) -> list[str]:
    script = [sys.executable, str(STRANGER), *map(str, sorted(listening))]
    found = subprocess.run(script, stdout=subprocess.PIPE, timeout=PATIENCE_S, check=True).stdout
    told: list[str] = json.loads(found)
    return told


@contextmanager
def plain_cluster() -> Iterator[None]:
    """Run a Dask cluster of one worker, without encryption, as Dask does by default."""
    import distributed

    small = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
    quiet = {"silence_logs": logging.CRITICAL + 1, "scheduler_kwargs": {"dashboard": False}}
    with mock.patch.dict(os.environ), distributed.LocalCluster(**small, **quiet):
        yield


@pytest.mark.slow
def test_a_stranger_runs_code_in_every_process_of_a_cluster_without_keys() -> None:
    before = ports()
    with plain_cluster():
        found = got_by_a_stranger(ports() - before)
    assert sum("tcp://" in one and "runs code" in one for one in found) == 3, "scheduler, nanny, worker"
    assert any(one.startswith("http://") for one in found)


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_stranger_gets_nothing_from_the_cluster_of_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before, variables = ports(), dict(os.environ)
    with cluster.start(1, (ROOT,), sandboxed=True) as (lanes, _):
        listening = ports() - before
        assert len(listening) >= 3, "scheduler, nanny, worker"
        assert got_by_a_stranger(listening) == []
        assert lanes.submit(os.getpid).result(PATIENCE_S) in {one.pid for one in psutil.Process().children()}
        its_key_is_on_no_disk_no_command_line_and_in_no_environment(tmp_path)
    assert dict(os.environ) == variables
    assert list(tmp_path.iterdir()) == []


def its_key_is_on_no_disk_no_command_line_and_in_no_environment(folder: Path) -> None:
    (scratch,) = folder.iterdir()
    assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
    assert not [path for path in scratch.rglob("*") if path.is_file() and KEY in path.read_bytes()]
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        for place in ("cmdline", "environ"):
            assert KEY not in Path(f"/proc/{process.pid}/{place}").read_bytes()


def test_without_cryptography_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"Install this package with `pip install -e '.\[cluster\]'`"):
        encryption.of_one_run().__enter__()


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


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_run_uses_tls_with_the_certificates_of_dasks_configuration(
    tmp_path: Path, certificates: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in certificates.items():
        monkeypatch.setenv(name, value)
    told, out, local = tmp_path / "scheduler.json", tmp_path / "out", ("--host", "127.0.0.1", "--no-dashboard")
    options = ("--protocol", "tls", "--port", "0", "--scheduler-file", str(told), *local)
    with running("distributed.cli.dask_scheduler", *options):
        wait_for(told.exists)
        address = json.loads(told.read_text(encoding="utf-8"))["address"]
        assert address.startswith("tls://")
        with running("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", *local):
            ended = grader("run", CLASS, "--out", out, "--scheduler", address, "--lessons", "04_autorange")
            assert (ended.code, ended.err) == (0, "")
            port = int(address.rpartition(":")[2])
            for name in certificates:
                monkeypatch.delenv(name)
            assert got_by_a_stranger({port}) == []


@pytest.fixture
def closed() -> str:
    """Return an address on which no process listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_tls_without_certificates_is_a_usage_error(tmp_path: Path, closed: str) -> None:
    ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", f"tls://{closed}")
    assert ended.code == 2
    assert "Dask's configuration names no certificates" in ended.err


def test_a_certificate_that_is_not_there_is_a_usage_error(tmp_path: Path, closed: str) -> None:
    names = ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
    missing = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(tmp_path / "missing.pem") for name in names}
    ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", f"tls://{closed}", env=missing)
    assert ended.code == 2
    assert "cannot load the certificates" in ended.err


def test_where_dask_requires_encryption_a_plain_address_is_a_usage_error(tmp_path: Path, closed: str) -> None:
    required = {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
    ended = grader("run", CLASS, "--out", tmp_path / "out", "--scheduler", f"tcp://{closed}", env=required)
    assert ended.code == 2
    assert "Use a tls:// address" in ended.err


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://gpu.example:8786", "tcp://[fd00::1]:1"]
)
def test_an_address_on_the_network_without_encryption_is_warned_of(address: str) -> None:
    assert f"the connection to {address} is not encrypted" in encryption.warning(address)


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.1:8786", "tcp://127.0.0.1:8786", "localhost:8786", "tcp://[::1]:1", ""]
)
def test_tls_and_this_machine_are_not_warned_of(address: str) -> None:
    assert encryption.warning(address) == ""


@pytest.mark.slow
def test_the_warning_is_on_the_screen_also_in_a_quiet_run(tmp_path: Path) -> None:
    unreachable = "tcp://no-such-host.invalid:8786"
    ended = grader("run", CLASS, "--out", tmp_path / "out", "--quiet", "--scheduler", unreachable)
    assert ended.code == 2
    assert f"Warning: the connection to {unreachable} is not encrypted" in ended.err


def test_the_readme_section_that_messages_name_is_there() -> None:
    assert "section 'More than one machine'" in encryption.README
    assert encryption.README.startswith("grader/class_run/README.md, ")
    assert "## More than one machine\n" in (ROOT / "grader/class_run/README.md").read_text(encoding="utf-8")


def test_a_bad_address_is_a_usage_error_and_never_a_warning_that_fails() -> None:
    assert "not encrypted" in encryption.warning("tcp://[bad")
    with pytest.raises(UsageError, match="is not the address of a scheduler"):
        cluster.join("tcp://[bad", (), sandboxed=True).__enter__()
