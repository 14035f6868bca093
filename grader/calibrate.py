"""`calibrate`: what the reference solutions gain on this machine, and which tiers it cannot tell apart.

Tiers were chosen on the author's machine. On another one a solution may gain less, because the baseline's price or the
caches differ: then full marks are dear or out of reach. And a machine may be too restless to tell one tier from the
next. How closely it knows a ratio is seen in a second, longer grading, against a tier that lies on the ratio itself:
such a duel goes on to its cap.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from grader import catalogue, tier_records
from grader.grade import grade_task
from grader.hand_ins.refusal import digest
from grader.records import CLOCKED, Speed, Submission, Verdict
from grader.settings import Settings
from grader.task import Task, Tier
from grader.trials.score import EARNS
from harness import units
from harness.errors import UsageError

ROOM: Final = 1.25
"""A solution this near to full marks leaves a student's equally good one at the mercy of the machine."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one task's reference solution was given here, and what is wrong with the task's tiers on this machine."""

    task: Task
    verdict: Verdict
    doubt: float
    """How far a ratio may be off after a duel that went on to its cap: a factor less 1. 0 where no clock counts."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the task's tiers here, in words."""
        return tuple(problems(self.task, self.verdict, self.doubt, recorded_gain(self.task)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Which tiers are hard to reach on every machine on record: no fault of this one, in words."""
        return tuple(notes(self.task, self.verdict, recorded_gain(self.task)))

    @property
    def line(self) -> str:
        """The measurement in one line."""
        attempt = self.verdict.attempt
        if attempt.speed is None:
            return f"{self.task.full_name:36} {attempt.status}: {attempt.rationale}"
        speed = attempt.speed
        tiers = ", ".join(units.ratio(tier.ratio) for tier in self.task.tiers)
        known = f"± {units.percent(self.doubt)}" if self.doubt else "exactly"
        gain = f"{units.ratio(speed.ratio):>8} {known:10} tiers at {tiers}" if tiers else "right; no tiers"
        return f"{self.task.full_name:36} {gain}"


def calibrate(lessons: tuple[str, ...], settings: Settings) -> Iterator[Calibration]:
    """Grade the reference solution of each task of these lessons.

    Raises `UsageError` in a kit without solutions, as students have it.
    """
    for lesson in lessons:
        path = catalogue.solution(lesson)
        if not path.is_file():
            raise UsageError(f"There is no {path}: calibrating takes the solutions, which a student's kit lacks.")
        source = path.read_text(encoding="utf-8")
        submission = Submission("calibrate", lesson, path.name, digest(source.encode()), source)
        for task in catalogue.load().tasks(lesson):
            verdict = grade_task(task, submission, settings)
            yield Calibration(task, verdict, _doubt(task, submission, settings, verdict.attempt.speed))


def recorded_gain(task: Task) -> float | None:
    """Return the least that the task's solution gained on a machine on record; None where none is on record."""
    held = (row for record in tier_records.read_all() for row in record.rows)
    digest = tier_records.measured(task, catalogue.solution(task.lesson))
    gains = [row.ratio for row in held if (row.task, row.name, row.measured) == (task.full_name, "solution", digest)]
    return min(gains, default=None)


def problems(task: Task, verdict: Verdict, doubt: float, recorded: float | None = None) -> Iterator[str]:
    """What is wrong with a task's tiers here, as its solution's verdict and the doubt of a ratio show it. Pure.

    `recorded` is what the solution gains elsewhere: a tier that is as hard to reach there is so by design.
    """
    speed = verdict.attempt.speed
    if verdict.status not in EARNS or (task.tiers and speed is None):
        yield f"the solution is not right here: {verdict.attempt.rationale or verdict.status}"
        return
    if not task.tiers or speed is None:
        return
    for number, tier in enumerate(task.tiers, start=1):
        if speed.ratio < tier.ratio:
            yield f"tier {number}, {units.ratio(tier.ratio)}, is out of reach: the solution gains {_gain(speed)}"
        elif speed.ratio < ROOM * tier.ratio <= (recorded or 0.0):
            yield (
                f"tier {number}, {units.ratio(tier.ratio)}, is harder to reach here: the solution gains "
                f"{_gain(speed)}, and at least {units.ratio(recorded or 0.0)} on the machines on record"
            )
    nearest = (1 + doubt) ** 2
    for number, (tier, above) in enumerate(zip(task.tiers, task.tiers[1:], strict=False), start=1):
        if above.ratio < tier.ratio * nearest:
            yield (
                f"tiers {number} and {number + 1}, {units.ratio(tier.ratio)} and {units.ratio(above.ratio)}, cannot be "
                f"told apart: a ratio is known within {units.percent(doubt)} here"
            )


def notes(task: Task, verdict: Verdict, recorded: float | None) -> Iterator[str]:
    """Yield which tiers are hard to reach by design. Pure."""
    speed = verdict.attempt.speed
    for number, tier in enumerate(task.tiers if verdict.status in EARNS and speed else (), start=1):
        if speed and tier.ratio <= speed.ratio < ROOM * tier.ratio and (recorded or 0.0) < ROOM * tier.ratio:
            where = f"as on the machines on record, {units.ratio(recorded)}" if recorded else "and none is on record"
            yield f"tier {number}, {units.ratio(tier.ratio)}, is near the solution's {_gain(speed)}, {where}"


def _doubt(task: Task, submission: Submission, settings: Settings, speed: Speed | None) -> float:
    if speed is None or task.cost not in CLOCKED or not task.tiers:
        return 0.0
    on_the_edge = replace(task, tiers=(Tier(speed.ratio, 1.0),))
    longer = grade_task(on_the_edge, submission, settings).attempt.speed
    return math.inf if longer is None else math.sqrt(longer.high / longer.low) - 1


def _gain(speed: Speed) -> str:
    return f"{units.ratio(speed.ratio)} ({units.number(speed.low)} to {units.number(speed.high)})"
