"""Decide whether a student may hand in a lesson at a moment, by the course file and the attempts so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from grader.class_run.stored_attempts import StoredAttempt, admit, with_team_mates
from grader.course.course_file import Course
from grader.course.policy import DateRule
from grader.course.quota import Quota, TokenBucket, duration
from harness.rendering.units import percent, some


@dataclass(frozen=True, slots=True)
class HandInNow:
    """Whether a student may hand in, and how late a hand-in would be. `why_not` is "" if the student may.

    `tokens` are the attempts that the quota allows now, or None without a quota. `next_token` is the time in UTC of the
    next further attempt, or None if none comes or the bucket is full. `share_lost` is the share of the points that
    lateness takes off, before slip days, and `lateness` says the same in words.
    """

    why_not: str
    tokens: int | None
    next_token: datetime | None
    days_late: int
    share_lost: float
    lateness: str


def hand_in_now(rows: Sequence[StoredAttempt], course: Course, student: str, lesson: str, at: datetime) -> HandInNow:
    """Return whether a student may hand in a lesson at the time `at`. `rows` have the team mates' attempts, too."""
    rule, tokens, following = course.rule(student, lesson), None, None
    why_not = _dates(rule, at)
    if quota := course.quota(lesson):
        own = [row for row in with_team_mates(rows, course) if row.key == (student, lesson)]
        bucket = admit(own, course, rule).bucket or TokenBucket(quota)
        tokens, following = bucket.left(at), quota.next_refill(at)
        why_not = why_not or ("" if tokens else _no_token(quota, at))
        following = following if tokens < quota.attempts else None
    days = rule.days_late(at)
    lost = f"{percent(rule.share_lost(at))} of the points are taken off" if rule.share_lost(at) else ""
    lateness = f"{some(days, 'day')} late" if days else "on time" if rule.due else "no due date"
    return HandInNow(why_not, tokens, following, days, rule.share_lost(at), ", ".join(filter(None, (lateness, lost))))


def _dates(rule: DateRule, at: datetime) -> str:
    if rule.opens and at < rule.opens.utc:
        return f"The lesson opens {rule.opens}."
    return f"The lesson closed {rule.closes}." if rule.is_closed(at) else ""


def _no_token(quota: Quota, at: datetime) -> str:
    more = quota.next_refill(at)
    wait = f" Wait {duration(more - at)}." if more else ""
    return f"The quota is {quota}. No attempt is left now.{wait}"
