"""Attempt → points and words. Pure: what a measurement is worth, and how a student reads it."""

from dataclasses import replace

from grader.records import Attempt, Speed, Status, Verdict
from grader.task import Task
from harness.decide import BENEFIT
from harness.units import percent, ratio

EARNS = frozenset({Status.PASSED, Status.UNDECIDED})
"""Statuses that rest on positive evidence; nothing else earns points."""


def score(task: Task, attempt: Attempt) -> Verdict:
    """Give points for an attempt and complete its rationale."""
    points, speed = 0.0, attempt.speed
    if attempt.status in EARNS and speed is not None:
        attempt = replace(attempt, rationale=f"{_right(task, attempt, speed)}\n{attempt.rationale}".rstrip())
        points = task.points * share(task, speed.tier)
    return Verdict(task.full_name, round(points, 2), task.points, task.cost, attempt)


def share(task: Task, tier: int) -> float:
    """Part of the points earned by a right answer that reaches `tier` tiers."""
    if not task.tiers:
        return 1.0
    return task.tiers[tier - 1].share if tier else task.correct_share


def _right(task: Task, attempt: Attempt, speed: Speed) -> str:
    cases = f"Right on all {attempt.cases} cases."
    if not task.tiers:
        return cases
    measured = f"{ratio(speed.ratio)} the baseline"
    if speed.low < speed.high:
        measured += f" ({ratio(speed.low)} to {ratio(speed.high)}; {speed.rounds} rounds)"
    if speed.undecided and speed.tier and task.tiers[speed.tier - 1].ratio > speed.low:
        edge = ratio(task.tiers[speed.tier - 1].ratio)
        return f"{cases} {measured} against a tier at {edge}: no telling them apart here, so you get the higher tier."
    if speed.undecided:
        edge = ratio(task.tiers[speed.tier].ratio)
        benefit = attempt.control.benefit if attempt.control else BENEFIT
        return (
            f"{cases} {measured}. The rounds differ so much that a tier at {edge} cannot be ruled out. But it is more "
            f"than {percent(benefit - 1)} above what was measured, and the machine was steadier than that."
        )
    if speed.tier < len(task.tiers):
        following = task.tiers[speed.tier]
        return f"{cases} {measured}. Next tier: {ratio(following.ratio)}, {task.points * following.share:g} points."
    return f"{cases} {measured}. That is the top tier."
