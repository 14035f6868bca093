"""The environment of a measurement, background load, and cores that are locked."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import MachineError, UsageError
from harness.machine import lanes
from harness.machine.clocks import watch_background_load
from harness.machine.environment import GIL_OFF, GIL_ON, GIL_ON_AGAIN, NOT_ASKED, Environment
from harness.machine.lanes import DIRECTORY_VARIABLE, core_without_measurements, free_cores, lane

HERE = replace(Environment.capture(ask_cuda=False), cuda_device=None, gil=GIL_ON)


def test_an_environment_survives_json_and_a_damaged_record_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    captured = Environment.capture()
    assert dict(captured.settings)["OMP_NUM_THREADS"] == "7"
    for environment in (HERE, captured):
        assert Environment.from_dict(json.loads(json.dumps(environment.to_dict()))) == environment
    record = HERE.to_dict()
    for wrong in ({**record, "settings": []}, {**record, "other": 1}, {k: v for k, v in record.items() if k != "libc"}):
        with pytest.raises(UsageError, match="wrong fields"):
            Environment.from_dict(wrong)


def test_the_fingerprint_changes_only_with_what_changes_timings() -> None:
    same = (replace(HERE, kit="9.9"), replace(HERE, cuda_device=NOT_ASKED))
    other = (replace(HERE, cpu="Other"), replace(HERE, settings=(("A", "1"),)), replace(HERE, torch="2.1"))
    gils = (replace(HERE, gil=GIL_OFF), replace(HERE, gil=GIL_ON_AGAIN))
    assert {environment.fingerprint() for environment in same} == {HERE.fingerprint()}
    assert HERE.fingerprint() not in {environment.fingerprint() for environment in (*other, *gils)}


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


def test_servers_share_one_core_that_no_measurement_gets() -> None:
    everything = free_cores()
    with core_without_measurements() as one, core_without_measurements() as other:
        assert one == other
        assert free_cores() == tuple(core for core in everything if core != one)
    assert free_cores() == everything


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
