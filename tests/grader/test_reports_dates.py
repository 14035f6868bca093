"""A student can check the dates: what was due when, by which rule, when it was handed in, and what that came to."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from outline import Outline
from test_reports_gradescope import roll, submission

from grader.class_run import policy
from grader.class_run.course import parse
from grader.class_run.policy import Handed
from grader.class_run.roll import Standing
from grader.reports import dates, student_page

COURSE = parse(
    """
timezone = "Europe/Berlin"
[late]
percent_per_day = 10
grace_minutes = 15
at_most_percent = 50
closes_after_days = 7
[lessons.01_dot]
due = 2026-11-20T23:59:00
[extensions.ada]
01_dot = "2 days"
""",
    "course.toml",
)
DUE = datetime(2026, 11, 22, 22, 59, tzinfo=UTC)


def page(at: datetime | None, student: str = "ada") -> str:
    """The page of a student with one right answer of 6 points, handed in at a time."""
    rule = COURSE.rule(student, "01_dot")
    counted = policy.count([Handed(at, 6.0)], rule)
    assert counted
    standing = Standing(
        student, "01_dot", 6.0, counted.points, counted.reason, rule.due, at, policy.days_late(at, rule)
    )
    class_ = replace(roll(submission("right", student)), course=COURSE, standings=(standing,))
    return Outline(student_page.render(class_)).text


def test_the_page_says_what_was_due_when_and_by_which_rule() -> None:
    text = page(DUE)
    assert "Due 2026-11-22 23:59:00 CET (your own date; the lesson's is 2026-11-20 23:59:00 CET)" in text
    rule = (
        "Late hand-ins Each day begun takes 10 % of the points earned, at most 50 %. "
        "Up to 15 minutes late cost nothing. After 2026-11-29 23:59:00 CET nothing counts."
    )
    assert rule in text
    assert "your own date" not in page(DUE, "bob")


@pytest.mark.parametrize(
    ("late", "told"),
    [
        (timedelta(0), "Handed in 2026-11-22 23:59:00 CET, in time File"),
        (timedelta(minutes=10), "2026-11-23 00:09:00 CET, after the due date and within the minutes that cost nothing"),
        (
            timedelta(days=1, hours=1),
            "Handed in 2026-11-24 00:59:00 CET, 2 days late What counts 2 days late: 20 % off, so 6 points earned",
        ),
        (
            timedelta(days=8),
            "8 days late, after closing What counts Handed in after closing: 6 points earned, 0 count.",
        ),
    ],
)
def test_the_page_says_when_it_was_handed_in_and_what_that_came_to(late: timedelta, told: str) -> None:
    assert told in page(DUE + late)


def test_a_time_that_is_not_known_is_said_to_be_so() -> None:
    assert "Handed in at a time that is not known, so it counts as in time" in page(None)


def test_a_moment_is_that_of_the_zone_in_summer_and_in_winter() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert dates.moment(datetime(2026, 7, 1, 22, 30, tzinfo=UTC), berlin) == "2026-07-02 00:30:00 CEST"
    assert dates.moment(datetime(2026, 12, 1, 22, 30, tzinfo=UTC), berlin) == "2026-12-01 23:30:00 CET"


def test_without_a_course_nothing_is_due() -> None:
    text = Outline(student_page.render(roll(submission("right")))).text
    assert "Due" not in text
    assert "Late hand-ins" not in text
