"""Decide which attempt of a student counts and for how many points.

For each calendar day begun after the due date, the student loses a share of the points earned. Attempts after the
closing date get no points. An attempt whose time is unknown counts as in time. If the learning platform marked such an
attempt as late, nothing is taken off, and a person must decide. A slip day cancels one of the days begun, and never
moves the closing date.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from grader.course.dates import LocalTime
from grader.records import TimeSource
from harness.rendering.units import percent, some

LATE_BY_UNKNOWN: Final = "The learning platform marked this file as late, but gives no time."
_BEFORE_ALL, _AFTER_ALL = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Which(StrEnum):
    """The attempt that counts: the latest, best, first or chosen one. A refused file only counts if all were refused.

    If the student chose no attempt, or one that may not count, the latest counts.
    """

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class LatePenalty:
    """The penalty for lateness, in shares of the points: `per_day` for each day begun after `grace`, at most `most`."""

    per_day: float = 0.0
    grace: timedelta = timedelta(0)
    most: float = 1.0


NO_PENALTY = LatePenalty()


@dataclass(frozen=True, slots=True)
class Slip:
    """The slip days that are spent on a lesson, and that are `left` of the `budget` of the student or the `team`."""

    days: int = 0
    left: int = 0
    budget: int = 0
    team: str = ""


NO_SLIP = Slip()


@dataclass(frozen=True, slots=True)
class DateRule:
    """The dates and the penalty that hold for one student in one lesson. Without a due date, no attempt is late.

    `usual_due` is the due date of the class if the student has a different one. Attempts before `opens` do not count.
    """

    which: Which = Which.LATEST
    due: LocalTime | None = None
    closes: LocalTime | None = None
    late: LatePenalty = NO_PENALTY
    usual_due: LocalTime | None = None
    opens: LocalTime | None = None
    slip: Slip = NO_SLIP

    @property
    def due_utc(self) -> datetime | None:
        """The due date in UTC."""
        return self.due.utc if self.due else None

    def days_late(self, at: datetime | None) -> int:
        """Return the number of calendar days begun since the due date.

        It is 0 within the grace time and at an unknown time. Slip days do not change it.
        """
        if at is None or self.due is None or at - self.due.utc <= self.late.grace:
            return 0
        return self.due.days_until(at)

    def is_closed(self, at: datetime | None) -> bool:
        """Return whether an attempt was handed in after the closing date."""
        return bool(self.closes and at and at > self.closes.utc)

    def share_lost(self, at: datetime | None) -> float:
        """Return the share of the points that the student loses for lateness, from 0 to 1."""
        return 1.0 if self.is_closed(at) else self.lost_for(self.days_late(at) - self.slip.days)

    def lost_for(self, days: int) -> float:
        """Return the share of the points that is lost for this number of days that no slip day pays for."""
        return min(1.0, self.late.most, self.late.per_day * max(0, days))


@dataclass(frozen=True, slots=True)
class Handed:
    """One attempt: the time when it was handed in, its points or None, and whether the file was refused.

    `time_source` is the source of this time. `there` is False if the file was replaced later. The attempt can still
    count as the best or the first. `chosen` is True if the student chose this attempt.
    """

    at: datetime | None
    points: float | None
    refused: bool = False
    there: bool = True
    time_source: TimeSource = TimeSource.FILE
    chosen: bool = False

    @property
    def late_by_unknown(self) -> bool:
        """Whether the learning platform marked the attempt as late, but gives no time. Then a person must decide."""
        return self.at is None and self.time_source is TimeSource.LATE_MARK


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """The attempt that counts: its index, its points before and after the penalty for lateness, and the reason."""

    index: int
    raw: float | None
    points: float | None
    reason: str


def candidates(attempts: Sequence[Handed], rule: DateRule) -> tuple[int, ...]:
    """Return the indices of the attempts that may count, in order of time. Only these attempts are graded."""
    order = [place for place in _order(attempts, rule) if attempts[place].there or rule.which is not Which.LATEST]
    in_time = [place for place in order if not rule.is_closed(attempts[place].at)] or order[-1:]
    taken = [place for place in in_time if not attempts[place].refused] or in_time
    one = {Which.LATEST: taken[-1:], Which.FIRST: taken[:1]}
    return tuple(one.get(rule.which, taken))


def deciding(attempts: Sequence[Handed], rule: DateRule) -> tuple[int, ...]:
    """Return the indices of the attempts of which the best counts: all that may count, or one if the rule names one."""
    may = candidates(attempts, rule)
    if rule.which is not Which.CHOSEN:
        return may
    there = [place for place in may if attempts[place].there] or may
    return tuple([place for place in may if attempts[place].chosen] or there)[-1:]


def count(attempts: Sequence[Handed], rule: DateRule) -> CountedAttempt | None:
    """Return which of a student's attempts at a lesson counts and for how many points, or None without attempts.

    If an attempt that may count has no grade yet, the points are None, because that attempt might be the best.
    """
    if not (may := deciding(attempts, rule)):
        return None
    if ungraded := [place for place in may if attempts[place].points is None]:
        return CountedAttempt(ungraded[0], None, None, "")
    index = max(may, key=lambda place: _after(attempts[place], rule))  # the earliest of attempts with equal points
    chosen = attempts[index]
    place, which = _order(attempts, rule).index(index) + 1, _which(attempts, index, rule)
    number = f"Attempt {place} of {len(attempts)} counts: {which}."
    told = [number if len(attempts) > 1 else "", _why(chosen, rule)]
    return CountedAttempt(index, chosen.points, _after(chosen, rule), " ".join(filter(None, told)))


def _which(attempts: Sequence[Handed], index: int, rule: DateRule) -> str:
    if rule.which is not Which.CHOSEN:
        return f"the {rule.which}"
    if attempts[index].chosen:
        return "the chosen one"
    is_chosen = any(one.chosen for one in attempts)
    return f"the latest, because {'the chosen one may not count' if is_chosen else 'none was chosen'}"


def _order(attempts: Sequence[Handed], rule: DateRule) -> list[int]:
    """Return the indices of the attempts in order of time. Unknown times are first, unless marked as late."""
    late = rule.due.utc if rule.due else _AFTER_ALL
    times = [one.at or (late if one.late_by_unknown else _BEFORE_ALL) for one in attempts]
    return sorted(range(len(attempts)), key=lambda place: (times[place], attempts[place].late_by_unknown, place))


def rounded(points: float) -> float:
    """Return points with two digits, as a person rounds: 0.075, which is a little less in binary, becomes 0.08."""
    return round(points + 1e-9, 2)


def _after(attempt: Handed, rule: DateRule) -> float:
    return max(0.0, rounded((attempt.points or 0.0) * (1 - rule.share_lost(attempt.at))))


def _why(attempt: Handed, rule: DateRule) -> str:
    raw = f"{attempt.points or 0.0:g}"
    if attempt.late_by_unknown:
        return f"{LATE_BY_UNKNOWN} Nothing is taken off by itself; a person must decide."
    dated = rule.due or rule.closes
    if dated is None:
        return ""
    if attempt.at is None:
        return "The time of the hand-in is unknown, so the hand-in counts as on time."
    handed_in = f"handed in {LocalTime.at_utc(attempt.at, dated.zone)}"
    if rule.is_closed(attempt.at):
        return f"Closed {rule.closes}, {handed_in}: 0 of the {raw} earned points count."
    if days := rule.days_late(attempt.at):
        lost, points = percent(rule.share_lost(attempt.at)), _after(attempt, rule)
        begun = f"Due {rule.due}, {handed_in}: {some(days, 'day')} begun."
        if paid := min(days, rule.slip.days):
            whose = f"of team {rule.slip.team}" if rule.slip.team else "in the course"
            left = f"{rule.slip.left} of {rule.slip.budget} are left {whose}"
            begun += f" Slip days pay for {paid} of {some(days, 'day')}, and {left}."
            if days == paid:
                return f"{begun} Nothing is taken off."
            begun += f" {some(days - paid, 'day')} late:"
        return f"{begun} {lost} are taken off, so {points:g} of the {raw} earned points count."
    return ""
