from dataclasses import replace
from pathlib import Path

from small_tasks import negation

from grader.records import Attempt, Control, Speed, Status
from grader.task import SimulatedExam, Tier
from grader.trials.score import RIGHT, score

TASK = negation(Path(), tiers=(Tier(2, 0.6), Tier(4, 1.0)))
CALM = Control(1.0, 1.05, 0.05, holds=True, benefit=1.015)
EVIDENCE = Speed(ratio=3.0, low=2.9, high=3.1, rounds=60, tier=1)


def passed(speed: Speed | None, status: Status = Status.PASSED) -> Attempt:
    return Attempt(status, speed=speed, cases_passed=7, cases=7)


def test_each_tier_earns_its_share_and_no_other_status_earns_a_point() -> None:
    for tier, points in enumerate((4.0, 6.0, 10.0)):
        assert score(TASK, passed(replace(EVIDENCE, tier=tier))).points == points
    for status in set(Status) - set(RIGHT):
        verdict = score(TASK, replace(passed(EVIDENCE, status), rationale="why"))
        assert (verdict.points, verdict.attempt.rationale) == (0, "why"), status
    assert score(TASK, passed(None)).points == 0, "a pass without evidence"


def test_a_forgiven_wrong_answer_is_reported() -> None:
    task = replace(TASK, exam=SimulatedExam(lambda _: (), forgiven=2), tiers=())
    verdict = score(task, replace(passed(EVIDENCE), cases_passed=5))
    assert verdict.attempt.rationale == "Right on 5 of 7 cases, and 2 may be wrong."


def test_an_impossible_time_earns_only_the_points_for_right_answers() -> None:
    held = replace(CALM, most_ratio=120.0, impossible=True)
    beyond = Speed(ratio=9000.0, low=8000.0, high=9999.0, rounds=60, tier=0)
    verdict = score(TASK, replace(passed(beyond, Status.IMPOSSIBLE), control=held))
    assert verdict.points == TASK.points * TASK.correct_share
    said = verdict.attempt.rationale
    assert "The measured time is impossible" in said
    assert "The ratio to the baseline is 9 000×. On this core, it cannot be larger than 120×." in said
    assert said.endswith("The instructor must check this result.")


def test_the_undecided_get_a_tier_near_the_measured_ratio_and_are_told_why() -> None:
    def told(ratio: float, low: float, tier: int, *, calm: bool = False) -> str:
        attempt = passed(Speed(ratio, low, 4.1, 600, tier=tier, undecided=True), Status.UNDECIDED)
        verdict = score(TASK, replace(attempt, control=CALM if calm else None))
        assert verdict.points == TASK.points * TASK.tiers[tier - 1].share
        return verdict.attempt.rationale

    assert "The tier at 4× lies within this interval, so you get the higher tier" in told(3.99, 3.9, tier=2)
    assert "you get the higher tier" in told(2.5, 1.9, tier=1)  # the tier at 2× was undecided
    assert "the true ratio may reach the tier at 4×" in told(2.5, 2.1, tier=1)
    assert "more than 10 % above the measured ratio" in told(2.5, 2.1, tier=1)
    assert "more than 1.5 % above the measured ratio" in told(3.9, 2.1, tier=1, calm=True)
