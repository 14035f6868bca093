"""A student's page shows the due date, its rule, the time of the hand-in, and the points that count."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from outline import Outline
from test_reports_gradescope import roll, submission

from grader.course import policy
from grader.course.course_file import parse
from grader.course.policy import Handed
from grader.course.roll import Standing
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
    """Return the page of a student who handed in a right answer worth 6 points at the time `at`."""
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
    assert "Due 2026-11-22 23:59:00 CET (your own due date; the class has 2026-11-20 23:59:00 CET)" in text
    rule = (
        "Late submissions For each day or part of a day, 10 % of the earned points are taken off, at most 50 %. "
        "Lateness of up to 15 minutes has no penalty. Submissions after 2026-11-29 23:59:00 CET do not count."
    )
    assert rule in text
    assert "your own due date" not in page(DUE, "bob")


@pytest.mark.parametrize(
    ("late", "told"),
    [
        (timedelta(0), "Handed in 2026-11-22 23:59:00 CET, on time File"),
        (timedelta(minutes=10), "2026-11-23 00:09:00 CET, after the due date but within the minutes without penalty"),
        (
            timedelta(days=1, hours=1),
            "Handed in 2026-11-24 00:59:00 CET, 2 days late Points that count 2 days late: 20 % are taken off",
        ),
        (
            timedelta(days=8),
            "8 days late, after the closing date Points that count This file was handed in after the closing date",
        ),
    ],
)
def test_the_page_says_when_it_was_handed_in_and_what_that_came_to(late: timedelta, told: str) -> None:
    assert told in page(DUE + late)


def test_a_time_that_is_not_known_is_said_to_be_so() -> None:
    assert "Handed in at an unknown time, so the hand-in counts as on time" in page(None)


def test_a_moment_is_that_of_the_zone_in_summer_and_in_winter() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert dates.moment(datetime(2026, 7, 1, 22, 30, tzinfo=UTC), berlin) == "2026-07-02 00:30:00 CEST"
    assert dates.moment(datetime(2026, 12, 1, 22, 30, tzinfo=UTC), berlin) == "2026-12-01 23:30:00 CET"


def test_without_a_course_nothing_is_due() -> None:
    text = Outline(student_page.render(roll(submission("right")))).text
    assert "Due" not in text
    assert "Late submissions" not in text
