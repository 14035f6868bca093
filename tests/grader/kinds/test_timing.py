"""If a function is timed at several sizes, its worst size determines the grade."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from small_tasks import AT_ONCE, hand_in, negation
from trees import BARE

from grader.grade import grade_task
from grader.kinds.timing import SizedDuel, graded
from grader.limits import Limits
from grader.records import Control
from grader.task import Inputs, Task, TensorExam
from grader.trials import control, speed
from harness.paired.decide import Estimate, Rules
from harness.paired.rounds import Outcome

HELD = Control(1.0, 1.05, 0.05, holds=True)
CALM = replace(HELD, benefit=1.01)
"""A control so exact that no submission gets more than 1 % in doubt."""


def fought(name: str, ratio: float, cell: int | None) -> SizedDuel:
    """Return a duel with tiers at 2 and 4. If `cell` is None, the tier of its ratio is undecided."""
    estimate = Estimate(ratio, ratio * 0.9, ratio * 1.1, rounds=9, pairs=3)
    return SizedDuel(name, Outcome((), estimate, (2.0, 4.0), cell, hidden_work=False), HELD)


@pytest.mark.parametrize(
    ("ended", "decides"),
    [
        ([("a", 9.0, 2), ("b", 3.0, 1), ("c", 50.0, 2)], "b"),  # the fewest tiers
        ([("a", 3.5, 1), ("b", 2.5, 1)], "b"),  # within a tier, the lowest ratio
        ([("open", 3.9, None), ("clear", 3.0, 1)], "clear"),  # an undecided one counts as the tier it may reach
        ([("open", 3.9, None), ("clear", 5.0, 2)], "open"),
    ],
)
def test_the_worst_size_decides(ended: list[tuple[str, float, int | None]], decides: str) -> None:
    assert (fought("", 3.9, None).tier, replace(fought("", 3.9, None), control=CALM).tier) == (2, 1)
    told = graded([fought(*one) for one in ended]).rationale
    assert [line for line in told.splitlines() if line.endswith(f" with {decides} (the worst)")]


def rows_of(count: int, rngs: Iterator[np.random.Generator]) -> Iterator[Inputs]:
    for rng in rngs:
        yield (rng.standard_normal((count, 64)).astype(np.float32),)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Return the task `negate`, timed at 64 rows, where a loop over rows is slow, and at 1 row."""
    task = negation(tmp_path, limits=Limits(load_s=60, call_s=5, memory_bytes=1 << 30))
    assert isinstance(task.exam, TensorExam)
    return replace(task, exam=replace(task.exam, also_timed=(partial(rows_of, 1),)))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")
def test_every_size_is_fought_and_the_worst_decides(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=20, slice_s=0.02, cap_s=0.3)
    monkeypatch.setattr(speed, "RULES", rules)
    monkeypatch.setattr(control, "judge", lambda *_: HELD)
    verdict = grade_task(task, hand_in(AT_ONCE), BARE)
    told = verdict.attempt.rationale.splitlines()
    assert told[1] == "The worst of 2 sizes counts:"
    ratios = [float(line.split("×")[0]) for line in told[2:]]
    assert [line.split(" with ")[1] for line in told[2:]] == ["x (64, 64)", "x (1, 64) (the worst)"]
    assert ratios[0] > 4 > ratios[1]
    assert verdict.attempt.speed is not None
    assert verdict.attempt.speed.ratio == pytest.approx(ratios[1], rel=0.01)
    assert len(verdict.attempt.rounds) == verdict.attempt.speed.rounds
