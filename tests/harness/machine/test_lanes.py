import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import MachineError, UsageError
from harness.machine import lanes
from harness.machine.lanes import DIRECTORY_VARIABLE, free_cores, lane

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


def test_other_users_can_lock_the_same_files_and_links_and_impossible_folders_are_refused(
    own_lanes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
