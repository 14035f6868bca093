import sys
import time

import pytest
from trees import CHANNEL, bare, opened

from grader import limits
from grader.errors import NoisyMachineError, WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.isolation.pool import Pool
from grader.limits import HandInTime, Limits
from grader.records import Status
from grader.trials.deadline import ANSWERED_S, MOST_FORGIVEN, Deadline
from grader.trials.worker_client import worker
from harness.machine.clocks import FakeClock

HASTY = Limits(load_s=20, call_s=0.3, wall_factor=4.0)
COMPUTES = (
    "import time\ndef f(x):\n  end = time.process_time() + x\n  while time.process_time() < end: pass\n  return 1"
)
SLEEPS = "import time\ndef f(x):\n  time.sleep(x)\n  return 1"


def begun() -> tuple[Deadline, FakeClock, FakeClock]:
    """Return a deadline of 3 s of CPU time and 12 s of wall time, whose CPU clock was read once."""
    cpu, wall = FakeClock(100.0), FakeClock(7.0)
    deadline = Deadline(3.0, 4.0, cpu, wall)
    assert not deadline.passed
    return deadline, cpu, wall


@pytest.mark.parametrize(
    ("cpu_s", "wall_s", "passed", "left_s"),
    [(2.9, 2.9, False, 9.1), (3.1, 3.1, True, 8.9), (2.9, 11.0, False, 1.0), (0.0, 12.5, True, 0.0)],
)
def test_a_request_may_use_its_cpu_time(cpu_s: float, wall_s: float, left_s: float, *, passed: bool) -> None:
    deadline, cpu, wall = begun()
    cpu.advance(cpu_s)
    wall.advance(wall_s)
    assert deadline.passed is passed
    assert deadline.left_s == pytest.approx(left_s)
    assert str(deadline) == ("3 s of computing" if left_s else "12 s")


def test_a_question_is_forgiven_a_little_and_all_of_them_not_for_ever() -> None:
    deadline, _, wall = begun()
    for _ in range(100):
        wall.advance(0.5)
        deadline.forgive(0.5)
    assert deadline.left_s == 0.0
    deadline, _, wall = begun()
    while deadline.left_s:
        wall.advance(ANSWERED_S / 2)
        deadline.forgive(ANSWERED_S / 2)
    assert wall.now_s - 7.0 == pytest.approx(12.0 * (1 + MOST_FORGIVEN), abs=0.1)


def test_who_nearly_sleeps_until_the_wall_has_less_of_it_the_next_time() -> None:
    deadline, _, wall = begun()
    wall.advance(11.0)
    again = Deadline(3.0, 4.0, FakeClock(), wall, slept_s=deadline.ended())
    assert again.wall_s == pytest.approx(4.0)
    wall.advance(3.9)
    assert Deadline(3.0, 4.0, FakeClock(), wall, slept_s=again.ended()).wall_s == pytest.approx(3.1)


NAPS = "import time\ndef f(x): time.sleep(0.25)"


def test_calls_that_each_keep_their_limit_end_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second task gets no time of its own."""
    monkeypatch.setattr(limits, "HAND_IN_S", 1.5)
    began_s = time.monotonic()
    with Pool(sandboxed=False) as pool, pool.one_hand_in(tensors=False) as trees:
        for _ in range(2):
            with pytest.raises(WorkerFault, match="the limit for all of its tasks"), trees.fresh(tensors=False) as tree:
                call_for_ever(tree, NAPS)
    assert time.monotonic() - began_s < 10


def call_for_ever(tree: ForkServer, source: str) -> None:
    with worker(tree, Limits(load_s=0.5, call_s=0.5, wall_factor=1.0)) as one:
        one.load(source)
        while True:
            one.values("f", [{"value": None}], lambda _name, _arguments: None, 1)


def test_a_submission_is_not_blamed_if_its_own_code_took_less_than_half_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "HAND_IN_S", 1.0)
    with Pool(sandboxed=False) as pool, pool.one_hand_in(tensors=False) as trees:
        for _ in range(2):
            with pytest.raises(NoisyMachineError, match="did not run"), trees.fresh(tensors=False) as tree:
                slow_beside_a_submission(tree)


def test_waiting_for_a_core_is_not_the_submissions_own_time_but_computing_meanwhile_is() -> None:
    """Threads of a submission can make its first thread wait, but they compute."""
    cpu, waited, hand_in = FakeClock(), FakeClock(), HandInTime()
    for computed_s, own_s in ((0.0, 0.0), (3.0, 3.0)):
        deadline = Deadline(3.0, 4.0, cpu, time=hand_in, waited=waited)
        cpu.advance(computed_s)
        waited.advance(100.0)
        deadline.ended()
        assert hand_in.own_s == pytest.approx(own_s)


def slow_beside_a_submission(tree: ForkServer) -> None:
    with worker(tree, Limits()) as one:
        one.load("def f(x): pass")
        time.sleep(1.5)  # in place of a slow baseline
        while True:  # an answer that is there before the first look at the time is taken
            one.values("f", [{"value": None}], lambda _name, _arguments: None, 1)


def called(source: str, seconds: float, limits: Limits = HASTY) -> object:
    with bare() as session, opened(limits, session, tensors=False) as one:
        one.load(source)
        return one.values("f", [{"value": seconds}], lambda _name, _arguments: None, 100_000).get("answer")


STOPS = "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)"
DRIPS = (
    CHANNEL
    + """
import threading, time
def drip():
    os.write(DESCRIPTOR, struct.pack("<I", 1 << 19) + b"D")
    while True:
        os.write(DESCRIPTOR, b" ")
        time.sleep(0.005)
def f(x):
    threading.Thread(target=drip, daemon=True).start()
    while True: pass
"""
)
"""The supervisor checks the clock also while bytes keep arriving."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one process read another's CPU clock")
def test_a_call_that_computes_too_long_sleeps_or_stops_is_ended() -> None:
    far = Limits(load_s=20, call_s=0.3, wall_factor=1e3)
    for source, given in ((COMPUTES, far), (DRIPS, far), (SLEEPS, HASTY), (STOPS, HASTY)):
        with pytest.raises(WorkerFault) as caught:
            called(source, 60, given)
        assert caught.value.status is Status.TIMED_OUT
        assert ("of computing in f" if given is far else "No answer within 1.2 s in f") in caught.value.rationale


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one process read another's CPU clock")
def test_asking_without_a_pause_saves_nobody_but_the_scenarios_own_time_is_not_counted() -> None:
    """The supervisor checks the CPU time even if it never has to wait for the next message."""
    given: list[dict[str, object]] = [{"value": 0}, {"simulated": "g"}]

    def slow(_name: str, _arguments: object) -> int:
        end_s = time.thread_time() + 0.1
        while time.thread_time() < end_s:
            pass
        return 1

    with bare() as session, opened(Limits(load_s=20, call_s=0.3, wall_factor=1e3), session, tensors=False) as one:
        one.load("def f(x, g): return [g() for _ in range(6)]")
        assert one.values("f", given, slow, 10)["answer"] == [1] * 6
        one.load("def f(x, g):\n  while True: g()")
        with pytest.raises(WorkerFault, match="of computing in f"):
            one.values("f", given, lambda _name, _arguments: None, 10**9)
