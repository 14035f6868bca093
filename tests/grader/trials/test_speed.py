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
from harness.paired.rounds import Outcome, Round, judge
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


def test_the_baseline_itself_reaches_no_tier_and_both_orders_are_played(task: Task) -> None:
    outcome = duel(task, BY_ROWS)
    assert outcome.tier_index == 0
    assert 0.5 < outcome.estimate.ratio < 2
    assert {round_.baseline_first for round_ in outcome.rounds} == {True, False}


def test_a_nap_gains_nothing(task: Task, trees: Trees) -> None:
    """The CPU clock does not advance during a sleep, so the wall clock counts."""
    napping = "import time\n" + BY_ROWS.replace("out = ", "time.sleep(0.005); out = ")
    outcome = judge(play(task, trees, napping), [2.0, 4.0], QUICK)
    assert outcome.hidden_work
    assert outcome.highest_tier_index() == 0


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
    monkeypatch.setattr(physical_limit, "MARGIN", math.inf)  # no time is impossible, which would repeat the duel
    verdict = grade_task(task, hand_in(AT_ONCE), BARE)
    assert verdict.attempt.control is not None
    assert verdict.attempt.control.voided == 2
    assert len(controls) == 1, "a void duel needs no control"


BURNS = """
import hashlib, threading
WASTE = bytes(1 << 18)
def burn():
    while True: hashlib.blake2b(WASTE).digest()
burning = []
"""
STARTS = """
    if not burning:
        burning.append(threading.Thread(target=burn, daemon=True))
        burning[0].start()
"""


def test_computing_on_ends_the_submission_with_what_it_used() -> None:
    cpu, now = iter([50.0, 50.1]).__next__, iter([7.0, 7.2]).__next__
    said = "kept computing while it was not its turn: for 100 ms of 200 ms"
    with pytest.raises(WorkerFault, match=said) as caught, OutOfTurn(cpu, now).watched():
        pass
    assert caught.value.status is Status.CRASHED


def doing(before: str, in_each_call: str) -> str:
    """Return the baseline's source with additional code."""
    return before + BY_ROWS.replace("    out = ", f"{in_each_call}\n    out = ", 1)


@pytest.mark.parametrize("alone", [False, True])
def test_a_thread_that_never_rests_ends_its_submission(task: Task, trees: Trees, *, alone: bool) -> None:
    """The submission is blamed, not the machine, also if only the baseline plays, as in a control.

    On a busy machine, the thread sometimes gets no share of the core, and disturbs nothing. Then the test tries again.
    """
    found = ""
    for _ in range(4):
        with BARE.pool.fresh(tensors=True) as tree, pair_of(task, (trees[0], tree), doing(BURNS, STARTS)) as pair:
            found = found or burned(pair, alone=alone)
    assert "kept computing while it was not its turn" in found


def burned(pair: TimedPair, *, alone: bool) -> str:
    """Return the fault that ends these turns, or ""."""
    try:
        for number in range(60):
            if not alone:
                pair.play(baseline_first=number % 2 == 0)
            with pair.out_of_turn.watched():
                pair.baseline.turn(pair.supply.draw(pair.baseline.inputs()))
    except WorkerFault as fault:
        return str(fault)
    return ""


def test_what_an_earlier_worker_burns_counts_as_well(task: Task) -> None:
    with BARE.pool.fresh(tensors=False) as tree, worker(tree, task.limits) as earlier:
        others = OutOfTurn(tree.computed_s)
        earlier.load(f"{BURNS}\nthreading.Thread(target=burn, daemon=True).start()")
        until_s = tree.computed_s() + 0.05
        with worker(tree, task.limits), pytest.raises(WorkerFault), others.watched():
            next(filter(None, (tree.computed_s() > until_s for _ in repeat(0))))
