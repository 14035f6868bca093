"""Control measurements: when they hold. Without a valid control a duel is void, repeated, and never published."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from small_tasks import AT_ONCE, hand_in, negation
from trees import BARE

from grader.grade import grade_task
from grader.records import Control, Status
from grader.seeds import generator
from grader.task import TensorExam
from grader.trials import control, speed
from grader.trials.tensor_supply import TensorSupply
from grader.trials.turns import Side
from harness.paired.decide import BENEFIT, Rules
from harness.paired.rounds import Reading

QUICK = Rules(error_rate=0.2, layout_sd=0.01, min_pairs=1, max_pairs=1, min_rounds=9, slice_s=0.01, cap_s=0.1)


def casts(ratio: float, spread: float = 0.002) -> list[list[float]]:
    """Return five pairs of processes with seven rounds each, scattered evenly around one ratio."""
    return [[ratio * (1 + spread * step) for step in (-3, 3, -2, 2, -1, 1, 0)] for _ in range(5)]


def test_a_control_holds_when_both_parts_come_out_as_planted() -> None:
    for same, slowed in ((1.0, 1.05), (1.01, 1.06)):
        assert control.judge(casts(same), casts(slowed)).holds
    for same, slowed in ((1.05, 1.05), (0.95, 1.05), (1.0, 1.0), (1.0, 1.1)):
        found = control.judge(casts(same), casts(slowed))
        assert (found.same, found.slowed) == pytest.approx((same, slowed))
        assert not found.holds
    assert control.judge(casts(1.05, spread=0.1), casts(1.05, spread=0.1)).holds, "too noisy to say anything"


def test_the_more_restless_the_control_the_more_is_given_in_doubt_up_to_a_limit() -> None:
    calm, restless, wild = (control.judge(casts(1.0, spread), casts(1.05, spread)) for spread in (0.002, 0.01, 0.1))
    assert 1 < calm.benefit < restless.benefit < wild.benefit == BENEFIT


class Burner:
    """A fake worker whose calls take `cost_s`, plus the extra time set by `slow`."""

    def __init__(self, cost_s: float) -> None:
        self.cost_s, self.extra_s, self.slowed = cost_s, 0.0, 0

    def slow(self, extra_s: float) -> None:
        self.extra_s = extra_s
        self.slowed += extra_s > 0


class Scripted(Side):
    """A side without a process. Its turns take the time that its fake worker gives."""

    def turn(self, drawn: object, *, warm_up: bool = True) -> Reading:  # noqa: ARG002 - any input costs the same here
        burner = self.worker
        assert isinstance(burner, Burner)
        return Reading(burner.cost_s + burner.extra_s, burner.cost_s + burner.extra_s)


def scripted(*costs_s: float) -> list[Side]:
    return [
        Scripted(
            Burner(cost_s),  # type: ignore[arg-type]
            "negate",
            lambda _: pytest.fail("no submission may be blamed"),
        )
        for cost_s in costs_s
    ]


@pytest.fixture
def supply() -> TensorSupply:
    exam = negation(Path()).exam
    assert isinstance(exam, TensorExam)
    return TensorSupply(exam, generator("a secret"))


def test_equal_baselines_come_out_as_planted_and_each_of_three_is_slowed_once(supply: TensorSupply) -> None:
    sides = scripted(2.0, 2.0, 2.0)
    found = control.play(sides, supply, 2.0, random.Random(1))
    assert replace(found, benefit=1.0) == Control(1.0, 1.05, 0.05, holds=True, benefit=1.0)
    burners = [side.worker for side in sides]
    assert [(burner.slowed, burner.extra_s) for burner in burners] == [(1, 0.0)] * 3  # type: ignore[attr-defined]


def test_a_clock_that_misses_what_is_added_is_noticed(supply: TensorSupply) -> None:
    assert not control.play(scripted(2.0, 2.0, 2.0, 2.0, 2.0), supply, 1e-9, random.Random(1)).holds


@pytest.mark.slow
@pytest.mark.parametrize("held", [(False, False, True), (False,) * 4])
def test_a_void_duel_is_fought_again_until_the_machine_counts_as_too_noisy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: tuple[bool, ...]
) -> None:
    answers = iter(held)
    monkeypatch.setattr(speed, "RULES", QUICK)
    monkeypatch.setattr(speed, "PAUSES_S", (0.0,) * 3)
    monkeypatch.setattr(speed, "queueing", lambda *_, **__: 0.0)  # other programs on the core make no duel void
    monkeypatch.setattr(control, "judge", lambda *_: Control(1.1, 1.2, 0.05, next(answers)))
    verdict = grade_task(negation(tmp_path), hand_in(AT_ONCE), BARE)
    if held[-1]:
        assert verdict.status in {Status.PASSED, Status.UNDECIDED}
        assert verdict.attempt.control is not None
        assert verdict.attempt.control.voided == 2
    else:
        assert (verdict.status, verdict.attempt.speed) == (Status.TOO_NOISY, None)
        assert "the baseline compared with itself had a ratio of 1.100× instead of 1×" in verdict.attempt.rationale
