"""The problems with tiers that `calibrate` finds in invented verdicts, and one real run of the command."""

from dataclasses import replace
from pathlib import Path

import pytest
from commanding import grader
from small_tasks import negation

from grader import catalogue
from grader.authoring import tier_records
from grader.authoring.calibrate import notes, problems, recorded_gain
from grader.authoring.tier_records import Machine, Record, Row
from grader.records import Attempt, Cost, Speed, Status, Verdict
from grader.task import Task, Tier

MACHINE = Machine("A CPU", 4, "Linux 6", (("python", "3.14.1"), ("torch", "2.15.0")), 0)


def task(tmp_path: Path, *ratios: float) -> Task:
    return replace(negation(tmp_path), tiers=tuple(Tier(ratio, 1.0) for ratio in ratios))


def verdict(ratio: float) -> Verdict:
    speed = Speed(ratio, ratio * 0.99, ratio * 1.01, rounds=50, tier=1)
    return Verdict("small.negate", 10, 10, Cost.TIME, Attempt(Status.PASSED, speed=speed))


def test_tiers_well_below_the_gain_and_far_apart_are_fine(tmp_path: Path) -> None:
    assert list(problems(task(tmp_path, 2.0, 4.0), verdict(9.0), uncertainty=0.02)) == []


def test_a_tier_above_the_gain_is_out_of_reach(tmp_path: Path) -> None:
    (told,) = problems(task(tmp_path, 2.0, 7.0), verdict(6.4), uncertainty=0.02)
    assert told.startswith("tier 2, 7×, is out of reach: the solution reaches 6.40×")


def test_a_tier_that_is_hard_to_reach_on_every_machine_is_so_by_design_and_no_problem(tmp_path: Path) -> None:
    hard = task(tmp_path, 2.0, 7.0)
    for recorded in (8.1, None):
        assert list(problems(hard, verdict(8.0), 0.02, recorded)) == []
        (told,) = notes(hard, verdict(8.0), recorded)
        assert told.startswith("tier 2, 7×, is near the solution's ratio of 8×")


def test_a_tier_that_this_machine_makes_harder_than_the_record_says_is_a_problem(tmp_path: Path) -> None:
    hard = task(tmp_path, 2.0, 7.0)
    (told,) = problems(hard, verdict(8.0), 0.02, 14.0)
    assert told.startswith("tier 2, 7×, is hard to reach on this machine: the solution reaches 8×")
    assert told.endswith("at least 14× on the recorded machines")
    assert list(notes(hard, verdict(8.0), 14.0)) == []


def test_the_smallest_ratio_of_the_solutions_present_code_is_read_from_the_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = next(task for task in catalogue.all_tasks() if task.name == "scores")
    digest = tier_records.measured_digest(task, tier_records.right_submissions(task)["solution"])
    rows = [Row(task.full_name, "solution", ratio, ratio, ratio, digest) for ratio in (9.0, 7.0)]
    old = Row(task.full_name, "solution", 3.0, 3.0, 3.0, "older code")
    monkeypatch.setattr(tier_records, "read_all", lambda: [Record(MACHINE, (row,)) for row in (*rows, old)])
    assert recorded_gain(task) == 7.0
    monkeypatch.setattr(tier_records, "read_all", lambda: [Record(MACHINE, (old,))])
    assert recorded_gain(task) is None


def test_tiers_nearer_than_twice_the_doubt_cannot_be_told_apart(tmp_path: Path) -> None:
    near = task(tmp_path, 2.0, 2.2)
    assert list(problems(near, verdict(9.0), uncertainty=0.04)) == []
    (told,) = problems(near, verdict(9.0), uncertainty=0.06)
    assert told == "tiers 1 and 2, 2× and 2.20×, cannot be distinguished: this machine measures a ratio to within 6 %"


def test_a_solution_that_is_not_right_here_is_the_only_problem(tmp_path: Path) -> None:
    raised = Verdict("small.negate", 0, 10, Cost.TIME, Attempt(Status.RAISED, rationale="no such operator"))
    assert list(problems(task(tmp_path, 2.0), raised, uncertainty=0.0)) == [
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
