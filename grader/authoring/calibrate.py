"""Check on this machine that each exercise's reference solution reaches all of its tiers.

A submission's ratio is the baseline's cost divided by the submission's cost. A tier is a ratio that earns points. The
author chose the tiers on another machine. On this machine, caches may be smaller or the baseline cheaper. Full marks
are then hard or impossible to reach. The noise of this machine may also be too large to distinguish two tiers. So each
solution is graded a second time. This grading always uses its whole time limit, and shows how precise ratios are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from grader import catalogue, paths
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.records import Speed, Submission, Verdict
from grader.session import Session
from grader.task import Task, Tier
from grader.trials.score import EARNS
from harness.rendering import units

SAFE_GAIN: Final = 1.25
"""A grade threshold is safe if the reference solution's measured ratio is at least this many times larger.

Otherwise an equally good submission of a student may miss the threshold because of noise.
"""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The grade of one task's reference solution on this machine, and the precision of its measured ratio."""

    task: Task
    verdict: Verdict
    uncertainty: float
    """The relative error of the ratio, such as 0.02 for 2 %. It is 0 for costs that are counted and not timed."""

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each grade threshold that the reference solution cannot safely reach on this machine."""
        return tuple(problems(self.task, self.verdict, self.uncertainty))

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each grade threshold that the task itself puts near the reference solution's ratio."""
        return tuple(notes(self.task, self.verdict))

    @property
    def line(self) -> str:
        """The reference solution's measured ratio and the ratios that earn points, as one line of text."""
        attempt = self.verdict.attempt
        if attempt.speed is None:
            return f"{self.task.full_name:36} {attempt.status}: {attempt.rationale}"
        speed = attempt.speed
        tiers = ", ".join(units.ratio(tier.ratio) for tier in self.task.tiers)
        known = f"± {units.percent(self.uncertainty)}" if self.uncertainty else "exactly"
        gain = f"{units.ratio(speed.ratio):>8} {known:10} tiers at {tiers}" if tiers else "right; no tiers"
        return f"{self.task.full_name:36} {gain}"


def calibrate(lessons: tuple[str, ...], session: Session) -> Iterator[Calibration]:
    """Grade the reference solution of each task of these lessons. Yield each result.

    Raise `UsageError` in a student kit, which has no solutions.
    """
    paths.require_solutions("calibrate", lessons)
    for lesson in lessons:
        path = paths.solution(lesson)
        source = path.read_text(encoding="utf-8")
        submission = Submission("calibrate", lesson, path.name, digest(source.encode()), source)
        for task in catalogue.load().tasks(lesson):
            verdict = grade_task(task, submission, session)
            yield Calibration(task, verdict, _uncertainty(task, submission, session, verdict.attempt.speed))


def problems(task: Task, verdict: Verdict, uncertainty: float) -> Iterator[str]:
    """Yield one sentence for each grade threshold that the reference solution cannot safely reach, or that noise hides.

    `verdict` is the solution's grade on this machine, and `uncertainty` the relative error of its ratio. A threshold
    that the task itself puts near the solution's ratio (`Task.least_gain`) is left out.
    """
    speed = verdict.attempt.speed
    if verdict.status not in EARNS or (task.tiers and speed is None):
        yield f"the solution is not right here: {verdict.attempt.rationale or verdict.status}"
        return
    if not task.tiers or speed is None:
        return
    for number, tier in enumerate(task.tiers, start=1):
        if speed.ratio < tier.ratio:
            yield f"tier {number}, {units.ratio(tier.ratio)}, is out of reach: the solution reaches {_gain(speed)}"
        elif speed.ratio < SAFE_GAIN * tier.ratio and task.least_gain >= SAFE_GAIN:
            yield (
                f"tier {number}, {units.ratio(tier.ratio)}, is hard to reach on this machine: the solution reaches "
                f"{_gain(speed)} here, and at least {units.ratio(task.least_gain * tier.ratio)} where `lint` passes"
            )
    nearest = (1 + uncertainty) ** 2
    for number, (tier, above) in enumerate(zip(task.tiers, task.tiers[1:], strict=False), start=1):
        if above.ratio < tier.ratio * nearest:
            yield (
                f"tiers {number} and {number + 1}, {units.ratio(tier.ratio)} and {units.ratio(above.ratio)}, cannot be "
                f"distinguished: this machine measures a ratio to within {units.percent(uncertainty)}"
            )


def notes(task: Task, verdict: Verdict) -> Iterator[str]:
    """Yield one sentence for each grade threshold that the task itself puts near the reference solution's ratio."""
    speed = verdict.attempt.speed
    if verdict.status not in EARNS or speed is None or task.least_gain >= SAFE_GAIN:
        return
    for number, tier in enumerate(task.tiers, start=1):
        if tier.ratio <= speed.ratio < SAFE_GAIN * tier.ratio:
            yield f"tier {number}, {units.ratio(tier.ratio)}, is near the solution's ratio of {_gain(speed)} by design"


def _uncertainty(task: Task, submission: Submission, session: Session, speed: Speed | None) -> float:
    if speed is None or not task.cost.clocked or not task.tiers:
        return 0.0
    tier_at_ratio = replace(task, tiers=(Tier(speed.ratio, 1.0),))
    longer = grade_task(tier_at_ratio, submission, session).attempt.speed
    return math.inf if longer is None else math.sqrt(longer.high / longer.low) - 1


def _gain(speed: Speed) -> str:
    return f"{units.ratio(speed.ratio)} ({units.number(speed.low)} to {units.number(speed.high)})"
