"""The physical limit of a task: the shortest possible time, and times that are shorter."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from small_tasks import AT_ONCE, hand_in, negation
from trees import BARE

from grader import kinds
from grader.grade import grade_task
from grader.kinds.timing import TIME
from grader.limits import HandInTime
from grader.records import Control, Status
from grader.task import Task, TensorExam
from grader.trials import control, physical_limit, speed
from harness.paired.decide import Estimate, Rules
from harness.paired.rounds import Outcome, Reading

QUICK = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=9, slice_s=0.02, cap_s=0.2)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Return the task `negate`, with more necessary operations than any core makes in its time."""
    plain = negation(tmp_path)
    assert isinstance(plain.exam, TensorExam)
    return replace(plain, exam=replace(plain.exam, operations=lambda _: 1e15))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")
def test_an_answer_without_the_necessary_operations_takes_an_impossible_time(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(speed, "PAUSES_S", (0.0,))
    monkeypatch.setattr(control, "judge", lambda *_: Control(1.0, 1.05, 0.05, holds=True))
    verdict = grade_task(task, hand_in(AT_ONCE), BARE)
    assert (verdict.status, verdict.points) == (Status.IMPOSSIBLE, task.points * task.correct_share)
    assert "The measured time is impossible" in verdict.attempt.rationale
    assert verdict.attempt.speed is not None
    assert verdict.attempt.speed.tier == 0


READ = 8_000_000
PEAKS = {"read_bytes_per_s": 1e9, "operations_per_s": 4e9}


def test_the_longer_of_reading_and_computing_is_the_limit(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core reads 1 GB and computes 4 billion operations per second."""
    monkeypatch.setattr(physical_limit, "_measuring", lambda *_: nullcontext(lambda name, *_: PEAKS[name]))
    inputs, nothing = (np.zeros(READ, np.uint8),), cast("Any", None)
    for count, limit_s in ((None, 0.009), (0.0, 0.009), (35e6, 0.009), (40e6, 0.010)):
        counted = None if count is None else lambda _, count=count: count
        exam = replace(cast("TensorExam", task.exam), operations=counted)
        assert physical_limit.seconds(exam, inputs, READ // 8, nothing, None) == pytest.approx(limit_s)


def test_memory_that_inputs_share_is_read_once() -> None:
    x, y = np.zeros((10, 4), np.float32), np.zeros(3, np.float64)
    assert physical_limit.least_bytes((x, y), 100) == 160 + 24 + 100
    assert physical_limit.least_bytes((x, x.T), 0) == 160
    assert physical_limit.least_bytes((x[:, 0], x[:, 1]), 0) == 40
    assert physical_limit.least_bytes((np.broadcast_to(y, (50, 3)),), 0) == 24


def test_the_call_of_the_median_pair_counts() -> None:
    turns = [[Reading(1.8, 90.0, 3)] * 3, [Reading(0.001, 90.0)], [Reading(0.6, 9.0)]]
    assert physical_limit.call_s(turns) == pytest.approx(0.6)
    assert physical_limit.call_s(turns, by_wall=True) == pytest.approx(30.0)


def test_one_possible_time_outweighs_impossible_ones(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome((), Estimate(9.0, 8.0, 10.0, rounds=9, pairs=3), (2.0, 4.0), 2, hidden_work=False)
    pool = SimpleNamespace(trusted=lambda **_: nullcontext())
    session: Any = SimpleNamespace(pool=pool, lane=lambda _: nullcontext())
    tree: Any = SimpleNamespace(tensors=True, time=HandInTime())
    ended = list[str]()

    def run(*_: object) -> tuple[Outcome, Control]:
        end = ended.pop(0)
        if end == "void":
            raise speed.VoidDuelError("other programs ran")
        return outcome, Control(1.0, 1.05, 0.05, holds=True, impossible=end == "impossible")

    monkeypatch.setattr(speed.Contestants, "run", run)
    monkeypatch.setattr(speed, "PAUSES_S", (0.0,) * 3)
    for tries, status, voided in (
        ("impossible, possible", Status.PASSED, 0),
        ("void, impossible, possible", Status.PASSED, 1),
        ("impossible, impossible, impossible, impossible", Status.IMPOSSIBLE, 0),
        ("void, void, impossible, void", Status.IMPOSSIBLE, 3),
    ):
        ended += tries.split(", ")
        attempt = TIME.measure(kinds.examiner(task, "a", "seed"), tree, "", session)
        assert attempt.status is status
        assert attempt.control is not None
        assert attempt.speed is not None
        assert (attempt.control.voided, attempt.speed.tier) == (voided, 2 if status is Status.PASSED else 0)
        assert ended == []
