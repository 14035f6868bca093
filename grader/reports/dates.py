"""Due dates and lateness in words, in the course's time zone: what a student needs to check the points that count."""

from collections.abc import Iterator
from datetime import datetime, tzinfo

from grader.class_run.policy import Late, Rule, days_late
from harness import units


def moment(at: datetime, zone: tzinfo) -> str:
    """Return a moment as people in a time zone read it."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def due(rule: Rule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield what holds for a student and lesson, before anything is handed in: pairs of a word and what is so."""
    if rule.due is None:
        return
    usual = f" (your own date; the lesson's is {moment(rule.usual_due, zone)})" if rule.usual_due else ""
    yield "Due", f"{moment(rule.due, zone)}{usual}"
    closing = f" After {moment(rule.closes, zone)} nothing counts." if rule.closes else ""
    yield "Late hand-ins", f"{_cost(rule.late)}{closing}"


def handed_in(at: datetime | None, rule: Rule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield when an attempt was handed in, and how late that is."""
    if at is None:
        if rule.due:
            yield "Handed in", "at a time that is not known, so it counts as in time"
        return
    late = ""
    if rule.due:
        days = days_late(at, rule)
        late = f", {units.some(days, 'day')} late" if days else ", in time"
        late = f"{late}, after closing" if rule.closes and at > rule.closes else late
        late = ", after the due date and within the minutes that cost nothing" if not days and at > rule.due else late
    yield "Handed in", f"{moment(at, zone)}{late}"


def _cost(late: Late) -> str:
    if not late.per_day:
        return "They cost no points."
    most = f", at most {units.percent(late.most)}" if late.most < 1 else ""
    said = f"Each day begun takes {units.percent(late.per_day)} of the points earned{most}."
    minutes = late.grace.total_seconds() / 60
    return f"{said} Up to {units.number(minutes)} minutes late cost nothing." if minutes else said
