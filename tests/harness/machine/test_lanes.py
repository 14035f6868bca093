import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.errors import MachineError, UsageError
from harness.machine import lanes
from harness.machine.lanes import DIRECTORY_VARIABLE, free_cores, lane

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs flock")

HOLDER = """
import sys
from harness.machine.lanes import lane
with lane([int(sys.argv[1])]) as held:
    print(held.core, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test its own folder of lock files, so that it does not disturb other measurements."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "lanes"))
    return tmp_path / "lanes"


@contextmanager
def another_process_holding(core: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == f"{core}\n"
        yield holder
        holder.kill()


def test_a_lane_locks_a_free_core_and_releases_it_even_when_its_block_raises() -> None:
    everything = free_cores()
    with lane() as held:
        assert free_cores() == tuple(core for core in everything if core != held.core)
    with pytest.raises(ZeroDivisionError), lane():
        1 / 0  # noqa: B018 - the failure is the point
    assert free_cores() == everything


def test_two_lanes_never_hold_the_same_core() -> None:
    with pytest.MonkeyPatch.context() as hyperthreads:
        hyperthreads.setattr("harness.machine.lanes._physical", lambda _core: 0)
        assert len(free_cores()) == 1
    everything = free_cores()
    with ExitStack() as stack:
        held = [stack.enter_context(lane(timeout_s=0)).core for _ in everything]
        assert sorted(held) == sorted(everything)
        with pytest.raises(MachineError, match="hold the requested cores"):
            stack.enter_context(lane(timeout_s=0))


def test_another_process_cannot_lock_the_same_core_until_it_is_killed() -> None:
    core = free_cores()[0]
    got = threading.Event()

    def wait() -> None:
        with lane([core]):
            got.set()

    with another_process_holding(core) as holder:
        assert core not in free_cores()
        with pytest.raises(MachineError, match=f"\\({core}\\)"), lane([core], timeout_s=0):
            pass
        waiter = threading.Thread(target=wait)
        waiter.start()
        assert not got.is_set()
        holder.send_signal(signal.SIGKILL)
        waiter.join()
    assert got.is_set()


def test_a_core_this_process_may_not_use_and_a_lane_wider_than_the_machine_are_refused() -> None:
    with pytest.raises(UsageError, match="choose among"), lane([100_000]):
        pass
    with pytest.raises(UsageError, match="can have 1 to"), lane(width=len(free_cores()) + 1):
        pass


def test_other_users_can_lock_the_same_files(own_lanes: Path) -> None:
    before = os.umask(0o077)
    try:
        with lane() as held:
            assert (own_lanes / f"core-{held.core}.lock").exists()
    finally:
        os.umask(before)
    assert own_lanes.stat().st_mode & 0o7777 == 0o1777
    assert {file.stat().st_mode & 0o777 for file in own_lanes.iterdir()} == {0o666}


def test_the_error_for_a_folder_that_cannot_be_made_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "missing" / "lanes"))
    with pytest.raises(MachineError, match=f"Set {DIRECTORY_VARIABLE}"), lane():
        pass


def test_a_link_in_place_of_a_lock_file_is_not_followed(own_lanes: Path, tmp_path: Path) -> None:
    with lane() as held:
        lock = own_lanes / f"core-{held.core}.lock"
    lock.unlink()
    (tmp_path / "elsewhere").touch()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MachineError, match="Delete it"), lane([held.core]):
        pass


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_a_wide_lane_takes_all_its_cores_or_none() -> None:
    everything = free_cores()
    with lane(width=2) as held:
        assert set(held.cores).isdisjoint(free_cores())
        assert len(held.cores) == 2
    with another_process_holding(everything[0]):
        with pytest.raises(MachineError, match="hold the requested cores"), lane(everything[:2], timeout_s=0, width=2):
            pass
        assert everything[1] in free_cores()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs /proc/locks")
def test_a_wait_for_a_stopped_process_names_this_process(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lanes, "_LOOK_S", 0.0)
    (core, *_) = free_cores()
    with another_process_holding(core) as holder:
        with pytest.raises(MachineError), lane([core], timeout_s=0.2):
            pass
        assert capfd.readouterr().err == ""
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(MachineError), lane([core], timeout_s=0.2):
            pass
    said = capfd.readouterr().err
    assert said.count("Waiting for a CPU core.") == 1
    assert f"(process {holder.pid})" in said
