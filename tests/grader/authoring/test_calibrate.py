"""The problems with tiers that `calibrate` finds in invented verdicts, and one real run of the command."""

from dataclasses import replace
from pathlib import Path

import pytest
from commanding import grader
from small_tasks import negation

from grader.authoring.calibrate import Calibration
from grader.kinds.timing import TIME
from grader.records import Attempt, Speed, Status, Verdict
from grader.task import Tier


def calibrated(ratio: float, error: float, *tiers: float, least_gain: float = 2.0) -> Calibration:
    """Return the result for a solution with this ratio, measured with this relative error."""
    task = replace(negation(Path()), tiers=tuple(Tier(tier, 1.0) for tier in tiers), least_gain=least_gain)
    speed = Speed(ratio, ratio * 0.99, ratio * 1.01, rounds=50, tier=1)
    return Calibration(task, Verdict("small.negate", 10, 10, TIME, Attempt(Status.PASSED, speed=speed)), error)


def test_each_problem_of_a_tier_is_one_sentence() -> None:
    hard = "tier 2, 7×, is hard to reach on this machine: the solution reaches 8× (7.92 to 8.08) here, and at least "
    same = "tiers 1 and 2, 2× and 2.20×, cannot be distinguished: this machine measures a ratio to within 6 %"
    for one, problem in (
        (calibrated(9.0, 0.02, 2.0, 4.0), ""),
        (calibrated(6.4, 0.02, 2.0, 7.0), "tier 2, 7×, is out of reach: the solution reaches 6.40× (6.34 to 6.46)"),
        (calibrated(8.0, 0.02, 2.0, 7.0), f"{hard}14× where `lint` passes"),
        (calibrated(9.0, 0.04, 2.0, 2.2), ""),
        (calibrated(9.0, 0.06, 2.0, 2.2), same),
    ):
        assert (one.problems, one.notes) == ((problem,) if problem else (), ())
    by_design = calibrated(8.0, 0.02, 2.0, 7.0, least_gain=1.1)
    assert by_design.problems == ()
    assert by_design.notes == ("tier 2, 7×, is near the solution's ratio of 8× (7.92 to 8.08) by design",)
    raised = Verdict("small.negate", 0, 10, TIME, Attempt(Status.RAISED, rationale="no such operator"))
    assert replace(by_design, verdict=raised).problems == ("the solution is not right here: no such operator",)


@pytest.mark.slow
def test_the_command_measures_what_it_is_asked_for() -> None:
    ended = grader("calibrate", "04")
    assert ended.code == 0, ended.err
    first, last = ended.out.splitlines()
    assert first.startswith("✓ 04_autorange.blocked_autorange")
    assert "exactly" in first
    assert last == "This machine can reach and distinguish every tier."
