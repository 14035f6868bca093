"""Check on this machine that each exercise's reference solution reaches all of its tiers.

The author chose the tiers on another machine. Here, caches may be smaller, the baseline cheaper, or the noise larger.
Each solution is graded a second time with the whole time limit, which shows how precise ratios are.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
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
"""A grade threshold is safe if the reference solution's measured ratio is at least this many times larger."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The grade of one task's reference solution on this machine, and the precision of its measured ratio."""

    task: Task
    verdict: Verdict
    uncertainty: float
    """The relative error of the ratio, such as 0.02 for 2 %. It is 0 for costs that are counted and not timed."""

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each tier that the reference solution cannot safely reach here, or that noise hides."""
        speed, tiers, found = self.verdict.attempt.speed, self.task.tiers, list[str]()
        safe = min(SAFE_GAIN, self.task.least_gain)
        if self.verdict.status in EARNS and not tiers:
            return ()
        if self.verdict.status not in EARNS or speed is None:
            return (f"the solution is not right here: {self.verdict.attempt.rationale or self.verdict.status}",)
        for tier in tiers:
            if speed.ratio < tier.ratio:
                found.append(f"{self._named(tier)}, is out of reach: the solution reaches {_gain(speed)}")
            elif speed.ratio < safe * tier.ratio:
                found.append(f"{self._named(tier)}, is hard to reach: the solution reaches only {_gain(speed)}")
        for number, (tier, above) in enumerate(pairwise(tiers), start=1):
            if above.ratio < tier.ratio * (1 + self.uncertainty) ** 2:
                both = f"tiers {number} and {number + 1}, {units.ratio(tier.ratio)} and {units.ratio(above.ratio)}"
                error = units.percent(self.uncertainty)
                found.append(f"{both}, cannot be distinguished: this machine measures a ratio to within {error}")
        return tuple(found)

    def _named(self, tier: Tier) -> str:
        return f"tier {self.task.tiers.index(tier) + 1}, {units.ratio(tier.ratio)}"

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
    """Grade the reference solution of each task of these lessons. Raise `UsageError` in a kit without solutions."""
    paths.require_solutions("calibrate", lessons)
    for lesson in lessons:
        path = paths.solution(lesson)
        source = path.read_text(encoding="utf-8")
        submission = Submission("calibrate", lesson, path.name, digest(source.encode()), source)
        for task in catalogue.load().tasks(lesson):
            verdict = grade_task(task, submission, session)
            yield Calibration(task, verdict, _uncertainty(task, submission, session, verdict.attempt.speed))


def _uncertainty(task: Task, submission: Submission, session: Session, speed: Speed | None) -> float:
    if speed is None or not task.cost.clock or not task.tiers:
        return 0.0
    tier_at_ratio = replace(task, tiers=(Tier(speed.ratio, 1.0),))
    longer = grade_task(tier_at_ratio, submission, session).attempt.speed
    return math.inf if longer is None else math.sqrt(longer.high / longer.low) - 1


def _gain(speed: Speed) -> str:
    return f"{units.ratio(speed.ratio)} ({units.number(speed.low)} to {units.number(speed.high)})"
