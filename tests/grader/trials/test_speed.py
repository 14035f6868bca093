"""Timed calls compared with the baseline: what is counted, what is checked, and whose fault an error is.

The tests compare ratios with a wide margin: the baseline takes 64 steps, and the answer takes one.
"""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest
from busy_core import busy_core
from small_tasks import AT_ONCE, BY_ROWS, hand_in, negation
from trees import BARE

from grader.errors import WorkerFault
from grader.grade import grade_task
from grader.isolation.forkserver import ForkServer
from grader.limits import Limits
from grader.records import Control, Status
from grader.seeds import generator
from grader.session import Session
from grader.task import Task, TensorExam
from grader.trials import control, physical_limit, speed
from grader.trials.speed import TimedPair
from grader.trials.tensor_supply import TensorSupply
from grader.trials.turns import OutOfTurn
from grader.trials.worker_client import worker
from harness.paired.decide import Rules
from harness.paired.rounds import Outcome, Round
from harness.processes import process_env

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process"),
    pytest.mark.slow,
]

QUICK = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=20, slice_s=0.02, cap_s=0.3)
LIMITS = Limits(load_s=60, call_s=5, memory_bytes=1 << 30)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(control, "judge", lambda *_: Control(1.0, 1.05, 0.05, holds=True))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return negation(tmp_path, limits=LIMITS)


def core() -> int:
    return max(os.sched_getaffinity(0))


Trees = tuple[ForkServer, ForkServer]


@pytest.fixture(scope="module")
def trees() -> Iterator[Trees]:
    """Yield a tree for baselines and one for submissions that attack no other processes: starting a tree takes long."""
    with BARE.pool.trusted(tensors=True) as trusted, BARE.pool.trusted(tensors=True) as patient:
        yield trusted, patient


@contextmanager
def pair_of(task: Task, trees: Trees, source: str) -> Iterator[TimedPair]:
    """Start a baseline and this source on one core."""
    assert isinstance(task.exam, TensorExam)
    supply = TensorSupply(task.exam, generator("a secret"))
    with process_env.pinned(core()), ExitStack() as stack:
        contestants = speed.Contestants(task, source, *trees, core())
        yield contestants.open_pair(0, supply, stack, OutOfTurn(trees[1].computed_s))


def play(task: Task, trees: Trees, source: str, rounds: int = 12) -> list[Round]:
    with pair_of(task, trees, source) as pair:
        return [pair.play(baseline_first=number % 2 == 0) for number in range(rounds)]


def duel(task: Task, source: str, session: Session = BARE, *, by_wall: bool = False) -> Outcome:
    assert isinstance(task.exam, TensorExam)
    with session.pool.fresh(tensors=True) as tree:
        rng = generator("a secret")
        return speed.duel(task, TensorSupply(task.exam, rng), tree, source, session, rng, by_wall=by_wall)[0]


WHEN_TIMED = """
import os, stat, threading, torch
calls = 0
def negate(x):
    global calls
    calls += 1
    {trick}
    return -x
"""


def test_beside_busy_programs_a_short_call_hides_no_work(task: Task, trees: Trees) -> None:
    """Each request waits for milliseconds, which is long beside a call of 0.3 ms and short beside a call of 6 ms."""
    slow, fast = (
        source.replace("return", f"for _ in range({times}): x.exp()\n    return")
        for source, times in ((BY_ROWS, 1400), (AT_ONCE, 60))
    )
    (task.known / "baseline.py").write_text(slow, encoding="utf-8")
    with busy_core(core(), 2):
        rounds = play(task, trees, fast, rounds=30)
    assert sum(one.shows_hidden_work for one in rounds) <= 3


def test_a_wall_time_is_at_least_cpu_per_thread(task: Task, trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads on two cores use a minute of CPU time in half a minute of wall time."""
    assert isinstance(task.exam, TensorExam)
    first = TensorSupply(task.exam, generator("a secret")).first
    for threads, least_s in ((1, 60.0), (2, 30.0)):
        with worker(trees[1], replace(LIMITS, threads=threads)) as one, monkeypatch.context() as patched:
            one.load(AT_ONCE)
            first.arrange(one, task.name, None)
            patched.setattr(trees[1], "spent_s", lambda: 60.0)
            assert first.call(one)[0].wall_s == least_s


def test_by_the_wall_clock_waiting_costs_as_much_as_working(task: Task) -> None:
    napping = "import time\n" + AT_ONCE.replace("return", "time.sleep(0.01); return")
    (task.known / "baseline.py").write_text(napping, encoding="utf-8")
    outcome = duel(task, AT_ONCE, by_wall=True)
    assert outcome.estimate.ratio > 5 * median(round_.ratio for round_ in outcome.rounds)


def test_another_behaviour_when_timed_is_the_submissions_fault(task: Task, trees: Trees) -> None:
    for trick, status, said in (
        ("x = x if calls < 40 else -x", Status.WRONG, "wrong in a timed call"),
        ("return x.neg_()", Status.WRONG, "an input that was changed"),
        ("return -x.double()", Status.WRONG, "Tensor of another dtype or shape"),
        ("return globals().setdefault('first', -x)", Status.WRONG, "wrong in a timed call"),
        ("raise ValueError('only when timed')", Status.RAISED, "raised ValueError: only when timed (line 7"),
        ("raise SystemExit(0)", Status.RAISED, "raised SystemExit"),
    ):
        with pytest.raises(WorkerFault) as caught:
            play(task, trees, WHEN_TIMED.format(trick=trick))
        assert caught.value.status is status
        assert said in caught.value.rationale


def test_queueing_is_the_part_of_its_time_that_trusted_code_waits_for_its_core() -> None:
    for queued_s, ran_s, by_cpu, by_wall in ((0.0, 0.0, 0.0, 0.0), (1.5, 0.5, 0.75, 0.25), (4.5, 4.5, 0.5, 0.5)):
        side: Any = SimpleNamespace(worker=SimpleNamespace(queued_s=queued_s / 2, ran_s=ran_s / 2, took_s=2.25))
        assert speed.queueing([side] * 2) == by_cpu
        assert speed.queueing([side] * 2, by_wall=True) == by_wall


def test_a_duel_on_a_crowded_core_is_void(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = chain([0.9, 0.71], repeat(0.69))
    controls = list[Control]()
    monkeypatch.setattr(speed, "queueing", lambda _sides, **_: next(crowds))
    monkeypatch.setattr(speed, "check_holds", controls.append)
    monkeypatch.setattr(speed, "PAUSES_S", (0.0,) * 3)
    monkeypatch.setattr(physical_limit, "MARGIN", math.inf)  # no time is impossible, which would repeat the duel
    verdict = grade_task(task, hand_in(AT_ONCE), BARE)
    assert verdict.attempt.control is not None
    assert verdict.attempt.control.voided == 2
    assert len(controls) == 1, "a void duel needs no control"
