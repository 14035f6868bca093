import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from harness import clocks, twin_pairs, twins
from harness.blocks import COUNTED
from harness.clocks import Clock, FakeClock
from harness.errors import FairclockError, MachineError, UsageError
from harness.lanes import DIRECTORY_VARIABLE, free_cores
from harness.pairs import Ground, Side
from harness.rounds import Reading
from harness.twin import job
from harness.twin_pairs import TURN_S, Timed, Twin, TwinError, begin, calls_in_a_turn, end

KIT = Path(__file__).parent.parent.parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")


@contextmanager
def ground(
    candidate: str = "pass",
    baseline: str = "pass",
    *,
    setup: str = "pass",
    clock: Clock = COUNTED,
    wall: Clock = clocks.wall,
    at_once: int = 1,
) -> Iterator[Ground]:
    sides = Side("baseline", baseline, setup), Side("candidate", candidate, setup)
    with twin_pairs.twin_pairs(sides, random.Random(1), clock, wall, at_once) as here:
        yield here


def running(pid: int | None = None) -> list[psutil.Process]:
    """Twins that a process, by default this one, has started and that have not ended."""
    return [child for child in psutil.Process(pid).children() if _is_a_running_twin(child)]


def _is_a_running_twin(child: psutil.Process) -> bool:
    try:
        return "harness.twin" in child.cmdline()
    except psutil.NoSuchProcess:  # it has ended, and perhaps nobody has fetched its exit status yet
        return False


def fake(call_s: float, asking_s: float = 20e-6) -> Timed:
    """Calls of known cost, asked for at a known price, on a clock that is the wall as well."""
    clock = FakeClock()
    return Timed(lambda calls: clock.advance(asking_s + calls * call_s), clock, clock)


def test_a_turn_costs_its_calls_and_the_asking() -> None:
    turn = fake(call_s=1e-6).turn(100)
    assert [turn.cpu_s, turn.wall_s, turn.calls] == pytest.approx([120e-6, 120e-6, 100])


def test_a_turn_of_which_the_cpu_clock_sees_nothing_costs_what_it_took_by_the_wall() -> None:
    still, wall = FakeClock(), FakeClock()
    turn = Timed(lambda calls: wall.advance(calls * 1e-6), still, wall).turn(100)
    assert [turn.cpu_s, turn.wall_s] == pytest.approx([100e-6, 100e-6])


def test_the_price_of_asking_is_taken_off() -> None:
    one = fake(call_s=1e-6)
    asking = one.turn(0)
    net = one.net(1000, asking)
    assert [net.cpu_s, net.wall_s, net.calls] == pytest.approx([1e-3, 1e-3, 1000])


def test_no_more_than_half_of_a_turn_is_taken_for_the_price_of_asking() -> None:
    assert fake(call_s=1e-6).net(10, Reading(25e-6, 25e-6)).cpu_s == pytest.approx(15e-6)


@pytest.mark.parametrize("call_s", [1e-8, 1e-6, 1e-4])
def test_a_turn_is_filled_with_calls(call_s: float) -> None:
    filled_s = calls_in_a_turn(fake(call_s)) * call_s
    assert 0.7 * TURN_S <= filled_s <= 1.2 * TURN_S


def test_a_long_call_is_a_turn_by_itself() -> None:
    assert calls_in_a_turn(fake(call_s=0.5)) == 1


@linux
def test_what_a_process_does_is_on_its_clock_and_waiting_is_not() -> None:
    with ground("sum(range(20_000))", "time.sleep(0.005)", setup="import time") as here, here.open_pair(0) as pair:
        played = [pair.play(baseline_first=number % 2 == 0) for number in range(5)]
    assert min(one.baseline.wall_s for one in played) >= 0.004
    assert max(one.baseline.cpu_s for one in played) < 0.004
    assert min(one.candidate.cpu_s / one.candidate.calls for one in played) > 20_000 * 1e-9


def test_any_other_clock_of_the_caller_may_count() -> None:
    with ground("time.sleep(0.005)", setup="import time", clock=clocks.wall) as here, here.open_pair(0) as pair:
        assert pair.play(baseline_first=True).candidate.cpu_s >= 0.004


@linux
def test_while_it_asks_the_caller_holds_a_lane_and_shares_its_core_with_the_twins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "lanes"))  # nobody else's come and go here
    before, free = os.sched_getaffinity(0), free_cores()
    with ground(at_once=2) as here, here.open_pair(0), here.open_pair(1):
        (core,) = os.sched_getaffinity(0)
        assert core not in free_cores()
        assert [os.sched_getaffinity(one.pid) for one in running()] == [{core}] * 4
    assert os.sched_getaffinity(0) == before
    assert free_cores() == free


def test_pairs_beyond_those_started_at_once_are_started_when_needed() -> None:
    with ground(at_once=1) as here, here.open_pair(0):
        assert len(running()) == 2
        with here.open_pair(1) as pair:
            assert len(running()) == 4
            assert pair.play(baseline_first=True).pair == 1
    assert running() == []


def test_nothing_of_the_callers_environment_comes_along_but_what_starts_an_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.delenv("SYSTEMROOT", raising=False)
    theirs = twin_pairs.environment()
    assert theirs["LD_LIBRARY_PATH"] == "/nowhere"
    assert set(theirs) == {*twins.ENVIRONMENT, "LD_LIBRARY_PATH", "PYTHONPATH", "FAIRCLOCK_TWIN"}


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (("1 +", "pass", "pass"), UsageError, "In the candidate: The statement cannot be timed"),
        (("pass", "1 / 0", "pass"), TwinError, "The baseline raised ZeroDivisionError: division by zero. Correct it"),
        (("pass", "pass", "import nowhere"), TwinError, "raised ModuleNotFoundError: No module named 'nowhere'"),
        (("os._exit(7)", "pass", "import os"), TwinError, "of the candidate ended with exit status 7"),
    ],
)
def test_what_goes_wrong_in_a_twin_is_one_sentence_here(
    code: tuple[str, str, str], kind: type[FairclockError], message: str
) -> None:
    candidate, baseline, setup = code
    with pytest.raises(kind) as caught, ground(candidate, baseline, setup=setup):
        pass
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert running() == []


def test_the_traceback_of_a_twin_comes_as_a_note() -> None:
    with pytest.raises(TwinError) as caught, ground("int('x')"):
        pass
    assert "Traceback" in caught.value.__notes__[0]


def test_without_the_clock_or_a_fixed_layout_it_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> Clock:
        raise MachineError("not on this system")

    monkeypatch.setattr(twin_pairs, "process_cpu", refuse)
    monkeypatch.setattr(twins, "fixed_layout", lambda: False)
    with ground("time.sleep(0.005)", setup="import time") as here, here.open_pair(0) as pair:
        assert "the wall clock counted; without setarch" in here.caveat
        assert pair.play(baseline_first=True).candidate.cpu_s >= 0.004


def test_a_twin_does_not_start_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRCLOCK_TWIN", "1")
    with pytest.raises(UsageError, match="__main__"), ground():
        pass


def test_one_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twin_pairs, "_END_S", 0.1)
    endless = Twin("candidate", job("pass", "while True: pass"), begin())
    end([endless])
    assert not psutil.pid_exists(endless.pid)


ENDLESS_DUEL = """
from harness.duel import duel
while True:  # with so small a margin, a disturbed duel may come to a verdict
    duel("total += 1", "total += 1", setup="total = 0", margin=1e-9, budget_s=1e6, twins=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("busy", [False, True], ids=["at once", "while they take turns"])
def test_nothing_is_left_behind_by_one_who_is_interrupted(how: signal.Signals, busy: bool) -> None:
    script = [sys.executable, "-c", ENDLESS_DUEL]
    environment = {**os.environ, "PYTHONPATH": str(KIT)}
    with subprocess.Popen(script, env=environment, stderr=subprocess.PIPE, text=True) as caller:
        started = _wait_for_twins(caller.pid, most_s=30)
        if busy:
            time.sleep(1)
            started = _wait_for_twins(caller.pid, most_s=30)  # between one pair of processes and the next are none
        caller.send_signal(how)
        _, told = caller.communicate(timeout=30)
    assert started
    assert ("KeyboardInterrupt" in told) == (how is signal.SIGINT)
    assert told.count("Traceback") == (how is signal.SIGINT)
    _, there = psutil.wait_procs(started, timeout=10)
    assert [each for each in there if _runs(each)] == []


def _runs(process: psutil.Process) -> bool:
    """Return whether a process has not ended. Process 1 has to collect it, and in a bare container that is pytest."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _wait_for_twins(pid: int, most_s: float) -> list[psutil.Process]:
    deadline_s = time.monotonic() + most_s
    while not (started := running(pid)):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return started
