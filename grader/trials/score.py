"""Give points for a graded submission, and describe the measurement in sentences for the student.

All functions are pure.
"""

from dataclasses import replace
from typing import Final

from grader.records import Attempt, Cost, Speed, Status, Verdict
from grader.task import Task
from harness.paired.decide import BENEFIT
from harness.rendering import measured
from harness.rendering.units import percent, ratio

EARNS = frozenset({Status.PASSED, Status.UNDECIDED})
"""The statuses of a graded submission that earn points."""

_BASELINE: Final = {
    Cost.TIME: "takes {} as long",
    Cost.WALL_TIME: "takes {} as long",
    Cost.SIMULATED_TIME: "takes {} as much simulated time",
    Cost.CALLS: "makes {} as many calls",
    Cost.INSTRUCTIONS: "executes {} as many instructions",
    Cost.PEAK_MEMORY: "needs {} as much memory",
    Cost.OPCODES: "executes {} as many opcodes",
}


def score(task: Task, attempt: Attempt) -> Verdict:
    """Return the verdict on a graded submission: its points, and a text for the student."""
    points, speed = 0.0, attempt.speed
    if attempt.status in EARNS and speed is not None:
        attempt = replace(attempt, rationale=f"{_right(task, attempt, speed)}\n{attempt.rationale}".rstrip())
        points = task.points * share(task, speed.tier)
    return Verdict(task.full_name, round(points, 2), task.points, task.cost, attempt)


def share(task: Task, tier: int) -> float:
    """Return the share of a task's points for a right submission that is fast enough for `tier` of the task's tiers."""
    if not task.tiers:
        return 1.0
    return task.tiers[tier - 1].share if tier else task.correct_share


def compared(cost: Cost | None, speed: Speed) -> str:
    """Return a measured ratio as a clause: "the baseline takes 44× as long as the submission"."""
    times = measured.ratio(speed.ratio, speed.low, speed.high)
    return f"the baseline {_BASELINE.get(cost or Cost.TIME, 'takes {} as much').format(times)} as the submission"


def _right(task: Task, attempt: Attempt, speed: Speed) -> str:
    cases = f"Right on all {attempt.cases} cases."
    if not task.tiers:
        return cases
    found = f"{cases} {_sentence(compared(task.cost, speed))}"
    if speed.low < speed.high:
        low, high = measured.interval(speed.ratio, speed.low, speed.high)
        found += f" ({low} to {high}; {speed.rounds} rounds)"
    if speed.undecided and speed.tier and task.tiers[speed.tier - 1].ratio > speed.low:
        edge = ratio(task.tiers[speed.tier - 1].ratio)
        return f"{found}. The tier at {edge} lies within this interval, so you get the higher tier."
    if speed.undecided:
        edge = ratio(task.tiers[speed.tier].ratio)
        benefit = attempt.control.benefit if attempt.control else BENEFIT
        return (
            f"{found}. The rounds differ so much that the true ratio may reach the tier at {edge}. But this tier is "
            f"more than {percent(benefit - 1)} above the measured ratio, and the control measurement was more exact "
            "than that. So this tier does not count."
        )
    if speed.tier < len(task.tiers):
        following = task.tiers[speed.tier]
        return f"{found}. Next tier: {ratio(following.ratio)}, {task.points * following.share:g} points."
    return f"{found}. That is the top tier."


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
