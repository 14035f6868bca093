"""The environment of a measurement, programs and their packages, background load, and cores that are locked."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from harness.errors import MachineError, UsageError
from harness.machine import lanes, programs
from harness.machine.clocks import watch_background_load
from harness.machine.environment import GIL_OFF, GIL_ON, GIL_ON_AGAIN, NOT_ASKED, Environment
from harness.machine.lanes import DIRECTORY_VARIABLE, free_cores, lane

HERE = Environment(
    python="3.11.7",
    implementation="CPython",
    torch="2.13.0+cpu",
    numpy="2.4.6",
    os="Linux 6.1",
    machine="x86_64",
    cpu="Example CPU",
    cores=2,
    usable_cores=2,
    cuda_device=None,
    libc="glibc 2.36",
    settings=(("OMP_NUM_THREADS", "1"),),
    kit="0.1.0",
)


def test_an_environment_survives_json_and_a_damaged_record_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    captured = Environment.capture()
    assert dict(captured.settings)["OMP_NUM_THREADS"] == "7"
    assert captured.python.startswith(platform.python_version())
    for environment in (HERE, captured):
        assert Environment.from_dict(json.loads(json.dumps(environment.to_dict()))) == environment
    record = HERE.to_dict()
    for wrong in ({**record, "settings": []}, {**record, "other": 1}, {k: v for k, v in record.items() if k != "libc"}):
        with pytest.raises(UsageError, match="wrong fields"):
            Environment.from_dict(wrong)


def test_capture_does_not_import_torch() -> None:
    code = (
        "import sys; from harness.machine.environment import Environment, NOT_ASKED\n"
        "assert Environment.capture().cuda_device == NOT_ASKED; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_environment_is_described_in_one_line() -> None:
    free = replace(HERE, python="3.14.0t", gil=GIL_OFF)
    lines = {
        HERE: "2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA",
        replace(HERE, usable_cores=1): "1 of 2 cores · Python 3.11.7 · torch 2.13.0 · no CUDA",
        replace(HERE, cuda_device="H200"): "2 cores · Python 3.11.7 · torch 2.13.0 · H200",
        replace(HERE, cuda_device=NOT_ASKED): "2 cores · Python 3.11.7 · torch 2.13.0",
        replace(HERE, implementation="PyPy"): "2 cores · PyPy 3.11.7 · torch 2.13.0 · no CUDA",
        free: "2 cores · Python 3.14.0t (free-threaded, GIL off) · torch 2.13.0 · no CUDA",
        replace(free, gil=GIL_ON_AGAIN): "2 cores · Python 3.14.0t (free-threaded, GIL on) · torch 2.13.0 · no CUDA",
    }
    assert {environment: environment.describe() for environment in lines} == lines


def test_the_fingerprint_changes_only_with_what_changes_timings() -> None:
    same = (replace(HERE, kit="9.9"), replace(HERE, cuda_device=NOT_ASKED))
    other = (replace(HERE, cpu="Other"), replace(HERE, settings=()), replace(HERE, torch="2.12.0"))
    gils = (replace(HERE, gil=GIL_OFF), replace(HERE, gil=GIL_ON_AGAIN))
    assert {environment.fingerprint() for environment in same} == {HERE.fingerprint()}
    assert HERE.fingerprint() not in {environment.fingerprint() for environment in (*other, *gils)}
    assert len(HERE.fingerprint()) == 12


def test_differences_name_both_sides() -> None:
    other = replace(HERE, python="3.12.1", settings=(), cuda_device=NOT_ASKED)
    assert HERE.differences(other) == ("python: 3.11.7, 3.12.1", "settings: OMP_NUM_THREADS=1, none")
    assert HERE.differences(HERE) == ()
    assert HERE.differences(replace(HERE, cuda_device="H200")) == ("cuda_device: none, H200",)
    assert HERE.differences(replace(HERE, gil=GIL_OFF)) == ("gil: on, off",)


@pytest.mark.parametrize(
    ("built_without", "enabled", "state"),
    [(1, False, GIL_OFF), (1, True, GIL_ON_AGAIN), (0, True, GIL_ON), (None, None, GIL_ON)],
)
def test_a_free_threaded_build_is_recognised_and_whether_its_gil_is_on(
    monkeypatch: pytest.MonkeyPatch, built_without: int | None, enabled: bool | None, state: str
) -> None:
    variables = {**sysconfig.get_config_vars(), "Py_GIL_DISABLED": built_without}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    if enabled is None:  # Python 3.11 and 3.12
        monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    else:
        monkeypatch.setattr(sys, "_is_gil_enabled", lambda: enabled, raising=False)
    captured = Environment.capture(ask_cuda=False)
    assert captured.gil == state
    assert captured.free_threaded == bool(built_without)
    assert ("free-threaded" in captured.describe()) == bool(built_without)
    assert ("GIL is off" in captured.caution()) == (state == GIL_OFF)
    assert bool(captured.caution()) == bool(built_without)


def test_a_record_without_the_field_gil_keeps_its_fingerprint() -> None:
    record = HERE.to_dict()
    del record["gil"]
    assert Environment.from_dict(record) == HERE
    recorded = Path(__file__).parents[3] / "lessons" / "recorded" / "06_counts.jsonl"
    kept = [json.loads(line) for line in recorded.read_text(encoding="utf-8").splitlines()]
    assert kept
    for each in kept:
        assert Environment.from_dict(each["environment"]).fingerprint() == each["fingerprint"]


def test_a_user_who_is_not_root_needs_sudo_except_for_brew_and_a_missing_package_has_no_command() -> None:
    headers = f"apt-get install python{sys.version_info.major}.{sys.version_info.minor}-dev"
    assert programs.install("Python headers", "apt-get", root=True) == headers
    assert programs.install("valgrind", "dnf", root=False) == "sudo dnf install valgrind"
    assert programs.install("C compiler", "brew", root=False) == "brew install gcc"
    expected = "brew has no package with bubblewrap: use a Linux machine with another package manager"
    assert programs.install("bubblewrap", "brew") == expected


def test_every_manager_has_a_command_for_every_package_or_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name, manager in product(programs.PACKAGES, programs.MANAGERS):
        command = programs.install(name, manager, root=True)
        assert command.startswith(f"{manager} ")
        assert len(command.split()) >= 3
        monkeypatch.setattr(shutil, "which", lambda found, only=manager: found == only or None)
        assert programs.install(name, root=True) == command
    monkeypatch.setattr("sys.platform", "darwin")
    assert programs.install("C compiler") == programs.install("C++ compiler") == "xcode-select --install"


def test_a_busy_process_shows_up_as_background_load() -> None:
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        with watch_background_load() as found:
            time.sleep(0.5)
    finally:
        burner.kill()
        burner.wait()
    assert found.is_high
    assert found.cores <= (os.cpu_count() or 1)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs flock")

HOLDER = """
import sys
from harness.machine.lanes import lane
with lane(int(sys.argv[1])) as held:
    print(*held.cores, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test its own folder of lock files, so that it does not disturb other measurements."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "lanes"))
    return tmp_path / "lanes"


@contextmanager
def another_process_holding(width: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(width)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert len(holder.stdout.readline().split()) == width
        yield holder
        holder.kill()


@contextmanager
def waiting(width: int = 1) -> Iterator[threading.Event]:
    """Let a thread wait for a lane. The event is set when it has the lane, which it leaves at once."""
    got = threading.Event()

    def wait() -> None:
        with lane(width):
            got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    yield got
    thread.join()


def test_a_pipe_that_another_user_has_put_in_place_of_a_lock_file_is_not_waited_for(own_lanes: Path) -> None:
    own_lanes.mkdir()
    for core in free_cores():
        (own_lanes / f"core-{core}.lock").unlink()
        os.mkfifo(own_lanes / f"core-{core}.lock")
    with lane() as held:
        assert held.core not in free_cores()


def test_a_lane_locks_a_free_core_and_releases_it_even_when_its_block_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = free_cores()
    with lane() as held:
        assert free_cores() == tuple(core for core in everything if core != held.core)
    with pytest.raises(ZeroDivisionError), lane():
        1 / 0  # noqa: B018 - the failure is the point
    assert free_cores() == everything
    with pytest.raises(UsageError, match="can have 1 to"), lane(len(everything) + 1):
        pass
    monkeypatch.setattr(lanes, "_physical", lambda _core: 0)
    assert len(free_cores()) == 1, "two hyperthreads of a core count once"


def test_another_process_cannot_lock_the_same_core_until_it_is_killed() -> None:
    everything = free_cores()
    with another_process_holding(len(everything)) as holder:
        assert free_cores() == ()
        with waiting() as got:
            assert not got.wait(0.1)
            holder.send_signal(signal.SIGKILL)
    assert got.is_set()
    assert free_cores() == everything


def test_other_users_share_locks_and_links_are_refused(own_lanes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o077)
    try:
        with lane():
            assert own_lanes.stat().st_mode & 0o7777 == 0o1777
            assert {file.stat().st_mode & 0o777 for file in own_lanes.iterdir()} == {0o666}
    finally:
        os.umask(before)
    for lock in own_lanes.iterdir():
        lock.rename(elsewhere := own_lanes.parent / lock.name)
        lock.symlink_to(elsewhere)
    with pytest.raises(MachineError, match="Delete it"), lane():
        pass
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(own_lanes.parent / "missing" / "lanes"))
    with pytest.raises(MachineError, match=f"Set {DIRECTORY_VARIABLE}"), lane():
        pass


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_a_wide_lane_takes_all_its_cores_or_none() -> None:
    everything = free_cores()
    with lane(2) as held:
        assert set(held.cores).isdisjoint(free_cores())
        assert len(held.cores) == 2
    with another_process_holding(len(everything) - 1) as holder, waiting(2) as got:
        assert not got.wait(0.1)
        with lane():
            pass
        holder.kill()
    assert got.is_set()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs /proc/locks")
def test_a_wait_for_a_stopped_process_names_this_process(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lanes, "_LOOK_S", 0.0)
    with another_process_holding(len(free_cores())) as holder, waiting() as got:
        assert not got.wait(0.2)
        assert capfd.readouterr().err == ""
        holder.send_signal(signal.SIGSTOP)
        said, deadline_s = "", time.monotonic() + 30
        while "Waiting for a CPU core." not in said and time.monotonic() < deadline_s:
            said += capfd.readouterr().err
        holder.kill()
    assert f"(process {holder.pid})" in said
    assert "Waiting" not in capfd.readouterr().err, "only one line"
