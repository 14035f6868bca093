"""Which attempt counts, and for how much: pure rules, from attempts and dates to points and the reason in words.

An attempt is late when it was handed in after the due date by more than the grace time. Each day begun after the due
date then takes a part of the points earned, up to the most that lateness may take. After closing nothing counts. Where
the time of a hand-in is not known, it counts as in time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from harness.units import percent

DAY = timedelta(days=1)
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)


class Which(StrEnum):
    """Which of several attempts counts. A refused file is no attempt beside one that could be taken."""

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Late:
    """What lateness costs: `per_day` and at most `most` of the points earned, in parts of 1; nothing within `grace`."""

    per_day: float = 0.0
    grace: timedelta = timedelta(0)
    most: float = 1.0


NO_PENALTY = Late()


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one student and lesson. Without a due date nothing is late.

    `usual_due` is the lesson's due date where the student has another.
    """

    which: Which = Which.LATEST
    due: datetime | None = None
    closes: datetime | None = None
    late: Late = NO_PENALTY
    usual_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class Handed:
    """One attempt: when it was handed in, its points (None while it has no grade), whether the file was refused.

    `there` is False for an attempt that was replaced since: it counts when the best or the first does.
    """

    at: datetime | None
    points: float | None
    refused: bool = False
    there: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """The attempt that counts, by its place among those given, its points before and after lateness, and why."""

    index: int
    raw: float | None
    points: float | None
    reason: str


def candidates(attempts: Sequence[Handed], rule: Rule) -> tuple[int, ...]:
    """Return the places of the attempts that may count, in order of time: those that are to be graded."""
    order = sorted(range(len(attempts)), key=lambda place: (attempts[place].at or _BEFORE_ALL, place))
    order = [place for place in order if attempts[place].there or rule.which is not Which.LATEST]
    in_time = [place for place in order if not _closed(attempts[place], rule)] or order[-1:]
    taken = [place for place in in_time if not attempts[place].refused] or in_time
    one = {Which.LATEST: taken[-1:], Which.FIRST: taken[:1]}
    return tuple(one.get(rule.which, taken))


def count(attempts: Sequence[Handed], rule: Rule) -> Counted | None:
    """Return what counts of a student's attempts at one lesson; None where there is none.

    As long as one of the attempts that may count has no grade, nothing counts: it might be the best.
    """
    if not (may := candidates(attempts, rule)):
        return None
    if ungraded := [place for place in may if attempts[place].points is None]:
        return Counted(ungraded[0], None, None, "")
    index = max(may, key=lambda place: _after(attempts[place], rule))  # of equals the earliest
    chosen = attempts[index]
    points = _after(chosen, rule)
    told = [_which(attempts, index, rule), _why(chosen, rule, points)]
    return Counted(index, chosen.points, points, " ".join(part for part in told if part))


def days_late(at: datetime | None, rule: Rule) -> int:
    """Return the days begun since the due date; 0 in time, within grace, and where nothing is known."""
    if at is None or rule.due is None or at - rule.due <= rule.late.grace:
        return 0
    return max(0, math.ceil((at - rule.due) / DAY))


def _closed(attempt: Handed, rule: Rule) -> bool:
    return bool(rule.closes and attempt.at and attempt.at > rule.closes)


def _off(attempt: Handed, rule: Rule) -> float:
    """The part of the points that lateness takes."""
    if _closed(attempt, rule):
        return 1.0
    return min(1.0, rule.late.most, rule.late.per_day * days_late(attempt.at, rule))


def _after(attempt: Handed, rule: Rule) -> float:
    return max(0.0, round((attempt.points or 0.0) * (1 - _off(attempt, rule)), 2))


def _which(attempts: Sequence[Handed], index: int, rule: Rule) -> str:
    if len(attempts) == 1:
        return ""
    order = sorted(range(len(attempts)), key=lambda place: (attempts[place].at or _BEFORE_ALL, place))
    return f"Attempt {order.index(index) + 1} of {len(attempts)} counts: the {rule.which}."


def _why(attempt: Handed, rule: Rule, points: float) -> str:
    raw = f"{attempt.points or 0.0:g}"
    if _closed(attempt, rule):
        return f"Handed in after closing: {raw} points earned, 0 count."
    if not (days := days_late(attempt.at, rule)):
        return "" if attempt.at or not rule.due else "When it was handed in is not known, so it counts as in time."
    late = f"{days} day{'' if days == 1 else 's'} late"
    return f"{late}: {percent(_off(attempt, rule))} off, so {raw} points earned count {points:g}."
