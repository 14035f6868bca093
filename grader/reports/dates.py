"""Due dates and lateness as text, in the time zone of the course. With these texts, students can check their points."""

from collections.abc import Iterator
from datetime import datetime, tzinfo

from grader.course.policy import Late, Rule, days_late
from harness.rendering import units


def moment(at: datetime, zone: tzinfo) -> str:
    """Return a time as text in the given time zone."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def due(rule: Rule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield the due date and the penalty for lateness, each as a label and a text. Yield nothing without a due date."""
    if rule.due is None:
        return
    usual = f" (your own due date; the class has {moment(rule.usual_due, zone)})" if rule.usual_due else ""
    yield "Due", f"{moment(rule.due, zone)}{usual}"
    closing = f" Submissions after {moment(rule.closes, zone)} do not count." if rule.closes else ""
    yield "Late submissions", f"{_cost(rule.late)}{closing}"


def handed_in(at: datetime | None, rule: Rule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield when an attempt was handed in, and how many days after the due date, each as a label and a text."""
    if at is None:
        if rule.due:
            yield "Handed in", "at an unknown time, so the hand-in counts as on time"
        return
    late = ""
    if rule.due:
        days = days_late(at, rule)
        late = f", {units.some(days, 'day')} late" if days else ", on time"
        late = f"{late}, after the closing date" if rule.closes and at > rule.closes else late
        late = ", after the due date but within the minutes without penalty" if not days and at > rule.due else late
    yield "Handed in", f"{moment(at, zone)}{late}"


def _cost(late: Late) -> str:
    if not late.per_day:
        return "A late hand-in loses no points."
    most = f", at most {units.percent(late.most)}" if late.most < 1 else ""
    text = f"For each day or part of a day, {units.percent(late.per_day)} of the earned points are taken off{most}."
    minutes = late.grace.total_seconds() / 60
    return f"{text} Lateness of up to {units.number(minutes)} minutes has no penalty." if minutes else text
