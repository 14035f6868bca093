"""The problems with tiers that `calibrate` finds in invented verdicts, and one real run of the command."""

from dataclasses import replace
from pathlib import Path

import pytest
from commanding import grader
from small_tasks import negation

from grader.authoring.calibrate import Calibration
from grader.kinds.timing import TIME
from grader.records import Attempt, Speed, Status, Verdict
from grader.task import Task, Tier


def task(tmp_path: Path, *ratios: float) -> Task:
    return replace(negation(tmp_path), tiers=tuple(Tier(ratio, 1.0) for ratio in ratios))


def verdict(ratio: float) -> Verdict:
    speed = Speed(ratio, ratio * 0.99, ratio * 1.01, rounds=50, tier=1)
    return Verdict("small.negate", 10, 10, TIME, Attempt(Status.PASSED, speed=speed))


def test_tiers_well_below_the_gain_and_far_apart_are_fine(tmp_path: Path) -> None:
    assert list(Calibration(task(tmp_path, 2.0, 4.0), verdict(9.0), 0.02).problems) == []


def test_a_tier_above_the_gain_is_out_of_reach(tmp_path: Path) -> None:
    (told,) = Calibration(task(tmp_path, 2.0, 7.0), verdict(6.4), 0.02).problems
    assert told.startswith("tier 2, 7×, is out of reach: the solution reaches 6.40×")


def test_a_tier_near_the_solutions_ratio_is_a_problem_unless_the_task_allows_it(tmp_path: Path) -> None:
    hard = task(tmp_path, 2.0, 7.0)
    (told,) = Calibration(hard, verdict(8.0), 0.02).problems
    assert told.startswith("tier 2, 7×, is hard to reach on this machine: the solution reaches 8×")
    assert told.endswith("at least 14× where `lint` passes")
    assert list(Calibration(hard, verdict(8.0), 0.02).notes) == []
    by_design = replace(hard, least_gain=1.1)
    assert list(Calibration(by_design, verdict(8.0), 0.02).problems) == []
    (told,) = Calibration(by_design, verdict(8.0), 0.02).notes
    assert told.startswith("tier 2, 7×, is near the solution's ratio of 8×")


def test_tiers_nearer_than_twice_the_doubt_cannot_be_told_apart(tmp_path: Path) -> None:
    near = task(tmp_path, 2.0, 2.2)
    assert list(Calibration(near, verdict(9.0), 0.04).problems) == []
    (told,) = Calibration(near, verdict(9.0), 0.06).problems
    assert told == "tiers 1 and 2, 2× and 2.20×, cannot be distinguished: this machine measures a ratio to within 6 %"


def test_a_solution_that_is_not_right_here_is_the_only_problem(tmp_path: Path) -> None:
    raised = Verdict("small.negate", 0, 10, TIME, Attempt(Status.RAISED, rationale="no such operator"))
    assert list(Calibration(task(tmp_path, 2.0), raised, 0.0).problems) == [
        "the solution is not right here: no such operator"
    ]


@pytest.mark.slow
def test_the_command_measures_what_it_is_asked_for() -> None:
    ended = grader("calibrate", "04")
    assert ended.code == 0, ended.err
    first, last = ended.out.splitlines()
    assert first.startswith("✓ 04_autorange.blocked_autorange")
    assert "exactly" in first
    assert last == "This machine can reach and distinguish every tier."
