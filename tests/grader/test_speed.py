"""Timed calls against the baseline: what is counted, what is checked, and who is blamed.

Timing claims are ratios with room: the baseline makes 64 steps where the answer makes one.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from small_tasks import AT_ONCE, BY_ROWS, hand_in, negation

from grader import speed
from grader.errors import GraderFault, WorkerFault
from grader.grade import grade_task
from grader.inputs import generator, pack
from grader.records import Status
from grader.supervisor import Settings, Worker, worker
from grader.task import Limits, Task, TensorExam
from harness import twins
from harness.decide import Rules
from harness.rounds import Outcome, Reading, Round, judge

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process"),
    pytest.mark.slow,
]

QUICK = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=20, slice_s=0.02, cap_s=0.3)
LIMITS = Limits(load_s=60, call_s=5, memory_bytes=1 << 30)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return negation(tmp_path, limits=LIMITS)


def core() -> int:
    return max(os.sched_getaffinity(0))


BARE = Settings("a secret", sandboxed=False, core=core() if sys.platform == "linux" else None)


def opened() -> AbstractContextManager[Worker]:
    return worker(LIMITS, BARE, tensors=True)


@pytest.fixture(scope="module")
def trusted() -> Iterator[Worker]:
    """A worker for baselines; starting one costs more than all that a test does with it."""
    with opened() as one:
        yield one


@pytest.fixture(scope="module")
def patient() -> Iterator[Worker]:
    """A worker for submissions that do not end their process."""
    with opened() as one:
        yield one


def play(task: Task, baseline: Worker, candidate: Worker, source: str, rounds: int = 12) -> list[Round]:
    """Play some rounds as a duel does."""
    assert isinstance(task.exam, TensorExam)
    pair = speed.TensorPair(0, task, task.exam, baseline, candidate, generator("a secret"))
    pair.load(source)
    with twins.pinned(core()):
        pair.arrange()
        return [pair.play(baseline_first=number % 2 == 0) for number in range(rounds)]


def duel(task: Task, source: str, settings: Settings = BARE) -> Outcome:
    assert isinstance(task.exam, TensorExam)
    return speed.duel(task, task.exam, source, settings, generator("a secret"))


WHEN_TIMED = """
import os, stat, threading, torch
calls = 0
def negate(x):
    global calls
    calls += 1
    {trick}
    return -x
"""

LEAVE_THE_CORE = "os.sched_setaffinity(0, range(os.cpu_count()))"
SPEAK_FIRST = (
    "os.write(next(n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}')"
    " and stat.S_ISSOCK(os.fstat(n).st_mode)), b'\\1\\0\\0\\0D')"
)


def test_a_faster_answer_reaches_the_top_tier_and_keeps_its_rounds(task: Task) -> None:
    verdict = grade_task(task, hand_in(AT_ONCE), BARE)
    assert (verdict.status, verdict.points) == (Status.PASSED, 10), verdict.attempt
    assert verdict.attempt.speed is not None
    assert verdict.attempt.speed.ratio > 4
    assert len(verdict.attempt.rounds) == verdict.attempt.speed.rounds >= QUICK.min_rounds


def test_the_baseline_itself_reaches_no_tier_and_both_orders_are_played(task: Task) -> None:
    outcome = duel(task, BY_ROWS)
    assert outcome.cell == 0
    assert 0.5 < outcome.estimate.ratio < 2
    assert {round_.baseline_first for round_ in outcome.rounds} == {True, False}


@pytest.mark.sandbox
def test_in_the_sandbox_the_same_is_measured(task: Task) -> None:
    assert duel(task, AT_ONCE, replace(BARE, sandboxed=True)).estimate.ratio > 4


def test_a_nap_gains_nothing(task: Task, trusted: Worker, patient: Worker) -> None:
    """The CPU clock does not see it, so the wall clock counts."""
    napping = "import time\n" + BY_ROWS.replace("out = ", "time.sleep(0.005); out = ")
    outcome = judge(play(task, trusted, patient, napping), [2.0, 4.0], QUICK)
    assert outcome.hidden_work
    assert outcome.upper_cell == 0


@pytest.mark.parametrize(
    ("trick", "status", "said"),
    [
        ("x = x if calls < 40 else -x", Status.WRONG, "wrong in a timed call"),
        ("return x.neg_()", Status.WRONG, "an input that was changed"),
        ("return x.neg_() if calls % 3 else -x", Status.WRONG, "an input that was changed"),
        ("return -x.double()", Status.WRONG, "Tensor of another dtype or shape"),
        ("return (-x).tolist()", Status.WRONG, "list of another dtype or shape"),
        ("return globals().setdefault('first', -x)", Status.WRONG, "wrong in a timed call"),
        ("return torch.full_like(x, float('nan'))", Status.WRONG, "wrong in a timed call"),
        ("raise ValueError('only when timed')", Status.RAISED, "raised ValueError: only when timed (line 7"),
        ("raise SystemExit(0)", Status.RAISED, "raised SystemExit"),
    ],
)
def test_another_behaviour_when_timed_is_the_submissions_fault(
    task: Task, trusted: Worker, patient: Worker, trick: str, status: Status, said: str
) -> None:
    with pytest.raises(WorkerFault) as caught:
        play(task, trusted, patient, WHEN_TIMED.format(trick=trick))
    assert caught.value.status is status
    assert said in caught.value.rationale


@pytest.mark.parametrize(
    ("trick", "status"),
    [
        ("calls > 20 and os._exit(0)", Status.CRASHED),
        ("calls == 20 and threading.Timer(0.0005, os._exit, (0,)).start()", Status.CRASHED),
        ("calls == 20 and (os.fork() or os.execvp('sleep', ['sleep', '9']))", Status.CRASHED),
        (SPEAK_FIRST, Status.CRASHED),
        pytest.param(
            LEAVE_THE_CORE,
            Status.CHEATED,
            marks=pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores"),
        ),
    ],
    ids=["exits", "exits after answering", "starts a helper", "answers before it is asked", "leaves its core"],
)
def test_a_process_that_does_more_than_it_was_asked_is_noticed(
    task: Task, trusted: Worker, trick: str, status: Status
) -> None:
    with opened() as candidate, pytest.raises(WorkerFault) as caught:
        play(task, trusted, candidate, WHEN_TIMED.format(trick=trick), rounds=100)
    assert caught.value.status is status


@pytest.mark.parametrize(
    "broken", ["raise ValueError", "return x.double().neg()", "return x.clone()", "return x.neg_()"]
)
def test_a_faulty_baseline_is_the_kits_fault(tmp_path: Path, trusted: Worker, patient: Worker, broken: str) -> None:
    task = negation(tmp_path, baseline=f"def negate(x):\n  {broken}", limits=LIMITS)
    with pytest.raises(GraderFault, match=r"baseline of 00_small\.negate"):
        play(task, trusted, patient, AT_ONCE)


def test_work_between_turns_is_on_the_next_turns_clock(task: Task, trusted: Worker) -> None:
    """While it is somebody else's turn, a thread of the submission works ahead: it pays all the same."""
    busy = (
        AT_ONCE
        + """
import threading
def ahead():
    while True: sum(range(1000))
threading.Thread(target=ahead, daemon=True).start()
"""
    )
    assert isinstance(task.exam, TensorExam)
    packed = pack(task.exam.timed(generator("a secret")))
    spent_s = []
    with opened() as candidate:
        for side, source in ((trusted, AT_ONCE), (candidate, busy)):
            side.load(source)
            packed.write(side.inputs)
            with twins.pinned(core()):
                side.arrange("negate", packed, "float32", (64, 64))
                side.timed(64 * 64 * 4)
            time.sleep(0.2)
            with twins.pinned(core()):
                spent_s.append(side.timed(64 * 64 * 4)[0].cpu_s)
    assert spent_s[1] > 5 * spent_s[0]


def test_the_median_call_counts_less_the_price_of_asking() -> None:
    calls = [Reading(cpu_s, cpu_s + 1) for cpu_s in (3.0, 5.0, 100.0)]
    assert speed._net(calls, (1.0, 1.5)) == Reading(4.0, 4.5)


def test_a_cost_below_the_price_of_asking_is_not_resolved() -> None:
    assert speed._net([Reading(1.0, 1.0)], (1.0, 1.0)) == Reading(speed.LEAST_NET, speed.LEAST_NET)


def test_wall_time_is_never_less_than_cpu_time() -> None:
    assert speed._net([Reading(5.0, 5.0)], (1.0, 4.0)) == Reading(4.0, 4.0)
