"""Timed calls against the baseline: what is counted, what is checked, and who is blamed.

Timing claims are ratios with room: the baseline makes 64 steps where the answer makes one.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_tasks import AT_ONCE, BY_ROWS, hand_in, negation

from grader import speed
from grader.grade import grade_task
from grader.inputs import generator, pack
from grader.records import Status, Verdict
from grader.supervisor import Settings, worker
from grader.task import Limits, Task, TensorExam
from harness import twins
from harness.decide import Rules
from harness.rounds import Outcome, Reading

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


def settings() -> Settings:
    return Settings("a secret", sandboxed=False, core=core())


def duel(task: Task, source: str) -> Outcome:
    assert isinstance(task.exam, TensorExam)
    return speed.duel(task, task.exam, source, settings(), generator("a secret"))


def graded(task: Task, source: str) -> Verdict:
    return grade_task(task, hand_in(source), settings())


WHEN_TIMED = """
import torch
calls = 0
def negate(x):
    global calls
    if x.shape == (64, 64):
        calls += 1
        {trick}
    return -x
"""
"""Honest in the correctness cases, whose shapes are others."""


def test_a_faster_answer_reaches_the_top_tier_and_keeps_its_rounds(task: Task) -> None:
    verdict = graded(task, AT_ONCE)
    assert (verdict.status, verdict.points) == (Status.PASSED, 10), verdict.attempt
    assert verdict.attempt.speed is not None
    assert verdict.attempt.speed.ratio > 4
    assert len(verdict.attempt.rounds) == verdict.attempt.speed.rounds >= QUICK.min_rounds


def test_the_baseline_itself_reaches_no_tier_and_both_orders_are_played(task: Task) -> None:
    outcome = duel(task, BY_ROWS)
    assert outcome.cell == 0
    assert 0.5 < outcome.estimate.ratio < 2
    assert {round_.baseline_first for round_ in outcome.rounds} == {True, False}


def test_a_nap_gains_nothing(task: Task) -> None:
    outcome = duel(task, "import time\n" + BY_ROWS.replace("out = ", "time.sleep(0.003); out = "))
    assert outcome.hidden_work
    assert outcome.upper_cell == 0


@pytest.mark.parametrize(
    ("trick", "status"),
    [
        ("x = x if calls < 40 else -x", Status.WRONG),
        ("return x.neg_()", Status.WRONG),
        ("return -x.double()", Status.WRONG),
        ("return (-x).tolist()", Status.WRONG),
        ("return globals().setdefault('first', -x)", Status.WRONG),
        ("return torch.empty_like(x)", Status.WRONG),
        ("raise ValueError('only when timed')", Status.RAISED),
        ("raise SystemExit(0)", Status.RAISED),
        ("import os; os._exit(0)", Status.CRASHED),
        ("import os; os.fork() or os.execvp('sleep', ['sleep', '9'])", Status.CRASHED),
    ],
)
def test_another_behaviour_when_timed_is_the_submissions_fault(task: Task, trick: str, status: Status) -> None:
    verdict = graded(task, WHEN_TIMED.format(trick=trick))
    assert (verdict.status, verdict.points) == (status, 0), verdict.attempt


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_leaving_the_core_one_is_timed_on_is_cheating(task: Task) -> None:
    verdict = graded(task, WHEN_TIMED.format(trick="import os; os.sched_setaffinity(0, range(os.cpu_count()))"))
    assert (verdict.status, verdict.points) == (Status.CHEATED, 0), verdict.attempt


def test_a_mutation_in_some_calls_alone_is_found(task: Task) -> None:
    verdict = graded(task, WHEN_TIMED.format(trick="\n        if calls % 3: return x.neg_()"))
    assert verdict.status is Status.WRONG
    assert "an input that was changed by the call" in verdict.attempt.rationale


def test_an_answer_of_its_own_on_the_channel_is_checked_like_any_other(task: Task) -> None:
    forged = """
import os, stat
DESCRIPTOR = next(n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")
                  and stat.S_ISSOCK(os.fstat(n).st_mode))
""" + WHEN_TIMED.format(trick="os.write(DESCRIPTOR, b'\\1\\0\\0\\0D')")
    verdict = graded(task, forged)
    assert (verdict.status, verdict.points) == (Status.WRONG, 0), verdict.attempt


def test_one_that_dies_right_after_its_answer_has_crashed(task: Task) -> None:
    dying = "import os, threading\n" + WHEN_TIMED.format(
        trick="calls == 20 and threading.Timer(0.0005, os._exit, (0,)).start()"
    )
    verdict = graded(task, dying)
    assert (verdict.status, verdict.points) == (Status.CRASHED, 0), verdict.attempt


@pytest.mark.parametrize(
    "broken",
    ["raise ValueError", "return x.double().neg()", "return x.clone()", "import os; os._exit(0)", "return x.neg_()"],
)
def test_a_faulty_baseline_is_the_kits_fault(tmp_path: Path, broken: str) -> None:
    verdict = graded(negation(tmp_path, baseline=f"def negate(x):\n  {broken}", limits=LIMITS), AT_ONCE)
    assert (verdict.status, verdict.points) == (Status.GRADER_ERROR, 0)
    assert "baseline of 00_small.negate" in verdict.attempt.rationale
    assert "not the submission's fault" in verdict.attempt.rationale


def test_work_between_turns_is_on_the_next_turns_clock(task: Task) -> None:
    """While it is somebody else's turn, a thread of the submission works ahead: it pays all the same."""
    busy = """
import threading, time
def ahead():
    while True:
        deadline = time.thread_time() + 0.02
        while time.thread_time() < deadline: pass
        time.sleep(0.001)
def negate(x): return -x
"""
    source = busy + "threading.Thread(target=ahead, daemon=True).start()"
    assert isinstance(task.exam, TensorExam)
    (x,) = task.exam.timed(generator("a secret"))
    spent_s = []
    for text in (busy, source):
        with worker(LIMITS, settings(), tensors=True) as one:
            one.load(text)
            packed = pack((x,))
            with twins.pinned(core()):
                packed.write(one.inputs)
                one.arrange("negate", packed, "float32", x.shape)
            for _ in range(3):
                one.timed(x.nbytes)
            os.sched_yield()
            __import__("time").sleep(0.3)
            with twins.pinned(core()):
                spent_s.append(one.timed(x.nbytes)[0].cpu_s)
    idle_s, busy_s = spent_s
    assert busy_s > 10 * idle_s


def test_the_median_call_counts_less_the_price_of_asking() -> None:
    calls = [Reading(cpu_s, cpu_s + 1) for cpu_s in (3.0, 5.0, 100.0)]
    assert speed._net(calls, (1.0, 1.5)) == Reading(4.0, 4.5)


def test_a_cost_below_the_price_of_asking_is_not_resolved() -> None:
    assert speed._net([Reading(1.0, 1.0)], (1.0, 1.0)) == Reading(speed.LEAST_NET, speed.LEAST_NET)


def test_wall_time_is_never_less_than_cpu_time() -> None:
    assert speed._net([Reading(5.0, 5.0)], (1.0, 4.0)) == Reading(4.0, 4.0)


@pytest.mark.sandbox
def test_in_the_sandbox_the_same_is_measured(task: Task) -> None:
    assert isinstance(task.exam, TensorExam)
    safe = replace(settings(), sandboxed=True)
    outcome = speed.duel(task, task.exam, AT_ONCE, safe, generator("a secret"))
    assert outcome.estimate.ratio > 4
