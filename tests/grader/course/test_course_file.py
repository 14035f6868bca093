import re
from datetime import UTC, datetime, timedelta

import pytest
from commanding import ROOT

from grader.course.course_file import Course, parse
from grader.course.policy import NO_PENALTY, DateRule, LatePenalty, Which
from harness.errors import UsageError

LESSONS = ("01_dot", "02_timer")
WHOLE = """
title = "Measuring"
timezone = "Europe/Berlin"
attempts = "best"

[late]
percent_per_day = 10
grace_minutes = 15
at_most_percent = 50
closes_after_days = 7

[lessons.01_dot]
due = 2026-11-20T23:59:00
[lessons.02_timer]
due = 2026-11-27
closes = 2026-12-01T12:00:00+00:00
attempts = "first"

[extensions.ada]
01_dot = 2026-11-22
all = "2 days"

[sections.tuesday]
students = ["bob"]
lessons.01_dot.due = 2026-11-21T23:59:00
"""


def read(text: str) -> Course:
    return parse(text, "course.toml", LESSONS)


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_dates_are_those_of_the_time_zone_and_a_date_alone_is_its_end() -> None:
    course, late = read(WHOLE), LatePenalty(0.1, timedelta(minutes=15), 0.5)
    assert course.rule("eve", "01_dot") == DateRule(
        Which.BEST, utc(2026, 11, 20, 22, 59), utc(2026, 11, 27, 22, 59), late
    )
    assert course.rule("eve", "02_timer") == DateRule(
        Which.FIRST, utc(2026, 11, 27, 22, 59, 59), utc(2026, 12, 1, 12), late
    )


def test_an_extension_and_a_section_move_due_date_and_closing_alike() -> None:
    course = read(WHOLE)
    rule = course.rule("ada", "01_dot")
    assert (rule.due, rule.closes) == (utc(2026, 11, 22, 22, 59, 59), utc(2026, 11, 29, 22, 59, 59))
    rule = course.rule("ada", "02_timer")
    assert (rule.due, rule.closes) == (utc(2026, 11, 29, 22, 59, 59), utc(2026, 12, 3, 12))
    rule = course.rule("bob", "01_dot")
    assert (rule.due, rule.closes) == (utc(2026, 11, 21, 22, 59), utc(2026, 11, 28, 22, 59))
    assert course.rule("bob", "02_timer") == course.rule("eve", "02_timer")
    assert read("").rule("ada", "01_dot") == DateRule()
    assert read('[extensions.ada]\nall = "2 days"').rule("ada", "01_dot") == DateRule()


def test_who_is_named_and_not_in_the_class_is_an_error_that_names_the_nearest() -> None:
    for text, says in {
        '[extensions.ivi]\nall = "2 days"': "extensions.ivi names 'ivi', who is not in this class; did",
        '[sections.b]\nstudents = ["ivy", "adda"]': "sections.b.students names 'adda', who is not in this class; did",
        '[struck.zebra]\n01_dot = ["3fa1c0de"]': "struck.zebra names 'zebra', who is not in this class; students: ada",
    }.items():
        with pytest.raises(UsageError) as caught:
            read(text).require_known(["ada", "ivy"], "course.toml")
        assert says in str(caught.value)
        assert "has handed in nothing, write at the top: students = [" in str(caught.value)
    read('students = ["ivi"]\n[extensions.ivi]\nall = "2 days"').require_known(["ada"], "course.toml")


def test_an_attempt_is_struck_by_how_its_digest_begins_and_no_other_is() -> None:
    course = read('[struck.ada]\n01_dot = ["3FA1C0DE", "00ff00ff"]')
    assert course.strikes("ada", "01_dot", "3fa1c0de" + "0" * 56)
    assert not course.strikes("ada", "01_dot", "3fa1c0d0" + "0" * 56)
    assert not course.strikes("ada", "02_timer", "3fa1c0de" + "0" * 56)
    assert not course.strikes("bob", "01_dot", "3fa1c0de" + "0" * 56)


MISTAKES = {
    "due = ": "course.toml is not TOML: Invalid value (at end of document).",
    "[lessons\n": "is not TOML: Expected ']' at the end of a table declaration (at line 1, column 9).",
    'attempt = "best"': "attempt is not allowed here; write attempts.",
    "[lesons.01_dot]": "lesons is not allowed here; write lessons.",
    "[lessons.01_dott]": "lessons.01_dott is not allowed here; write lessons.01_dot.",
    "[lessons.zebra]": "lessons.zebra is not allowed here; allowed keys: 01_dot, 02_timer.",
    "[lessons.01_dot]\ndeadline = 2026-01-01": "lessons.01_dot.deadline is not allowed here; allowed keys: due,",
    'attempts = "last"': 'attempts is wrong; write "latest" or "best" or "first".',
    "[lessons.01_dot]\nattempts = 3": 'lessons.01_dot.attempts is wrong; write "latest"',
    '[lessons.01_dot]\ndue = "soon"': "lessons.01_dot.due is wrong; write a date such as 2026-11-20T23:59:00.",
    "[lessons.01_dot]\ndue = 2026-11-20": 'or add timezone = "Europe/Berlin" at the top.',
    "[lessons.01_dot]\ndue = 2026-11-20T23:59:59": "write a date with an offset (2026-11-20T23:59:59+01:00)",
    "[lessons.01_dot]\ndue = 2026-11-20T00:00:00Z\ncloses = 2026-11-19T00:00:00Z": "write a date after the due date.",
    "[late]\npercent_per_day = 110": "late.percent_per_day is wrong; write a number from 0 to 100.",
    '[late]\npercent_per_day = "10 %"': "late.percent_per_day is wrong; write a number from 0 to 100.",
    "[late]\ngrace_minutes = true": "late.grace_minutes is wrong; write a number from 0",
    'timezone = "Mars/Base"': "timezone is wrong; write a time zone of this machine",
    "timezone = 3": "timezone is wrong",
    '[extensions.ada]\n01_dot = "soon"': "extensions.ada.01_dot is wrong; write a date such as",
    "[extensions]\nada = 2026-11-20": "extensions.ada is wrong; write a table, that is a line [extensions.ada]",
    '[sections.a]\nstudents = "ada"': 'sections.a.students is wrong; write a list of names, such as ["ada", "bob"].',
    '[struck.ada]\n01_dot = "3fa1c0de"': "struck.ada.01_dot is wrong; write a list with at least the first 8 digits",
    '[struck.ada]\n01_dot = ["3fa1"]': "struck.ada.01_dot is wrong; write a list with at least the first 8 digits",
    "[struck.ada]\n01_dot = []": "struck.ada.01_dot is wrong; write a list with at least the first 8 digits",
    '[struck.ada]\n01_dott = ["3fa1c0de"]': "struck.ada.01_dott is not allowed here; write struck.ada.01_dot.",
    'students = "ivi"': "students is wrong; write a list of names",
    "late = 10": "late is wrong; write a table",
}


def test_a_mistake_is_named_by_its_key_with_what_to_write() -> None:
    for text, says in MISTAKES.items():
        with pytest.raises(UsageError) as caught:
            read(text)
        assert says in str(caught.value)
        assert str(caught.value).startswith("course.toml")


def test_the_course_file_on_the_page_is_valid_and_uses_every_table() -> None:
    page = (ROOT / "grader" / "class_run" / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    course = parse(text, "course.toml", ["04_autorange"])
    assert course.late != NO_PENALTY
    assert course.lessons["04_autorange"].closes
    assert course.extensions
    assert course.sections
    assert course.struck == {"bob": {"04_autorange": ("3fa1c0de",)}}
    course.require_known(["ada", "bob", "eve"], "course.toml")
