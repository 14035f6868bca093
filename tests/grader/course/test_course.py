"""The course file, and which attempt counts for how many points by its rules."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from commanding import ROOT
from hypothesis import given
from hypothesis import strategies as st

from grader.course import policy
from grader.course.course_file import Course, parse
from grader.course.policy import DAY, NO_PENALTY, CountedAttempt, DateRule, Handed, LatePenalty, Which
from harness.errors import UsageError

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
    return parse(text, "course.toml", ("01_dot", "02_timer"))


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_dates_are_those_of_the_time_zone_and_a_date_alone_is_its_end() -> None:
    course, late = read(WHOLE), LatePenalty(0.1, timedelta(minutes=15), 0.5)
    dot = DateRule(Which.BEST, utc(2026, 11, 20, 22, 59), utc(2026, 11, 27, 22, 59), late)
    timer = DateRule(Which.FIRST, utc(2026, 11, 27, 22, 59, 59), utc(2026, 12, 1, 12), late)
    assert (course.rule("eve", "01_dot"), course.rule("eve", "02_timer")) == (dot, timer)


def test_an_extension_and_a_section_move_due_date_and_closing_alike() -> None:
    course = read(WHOLE)
    for student, lesson, due, closes in (
        ("ada", "01_dot", utc(2026, 11, 22, 22, 59, 59), utc(2026, 11, 29, 22, 59, 59)),
        ("ada", "02_timer", utc(2026, 11, 29, 22, 59, 59), utc(2026, 12, 3, 12)),
        ("bob", "01_dot", utc(2026, 11, 21, 22, 59), utc(2026, 11, 28, 22, 59)),
    ):
        rule = course.rule(student, lesson)
        assert (rule.due, rule.closes) == (due, closes)
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
    "title = 3": 'title is wrong; write a text, such as "Measuring".',
    'attempt = "best"': "attempt is not allowed here; write attempts.",
    "[lessons.01_dott]": "lessons.01_dott is not allowed here; write lessons.01_dot.",
    "[lessons.zebra]": "lessons.zebra is not allowed here; allowed keys: 01_dot, 02_timer.",
    "[lessons.01_dot]\ndeadline = 2026-01-01": "lessons.01_dot.deadline is not allowed here; allowed keys: due,",
    'attempts = "last"': 'attempts is wrong; write "latest" or "best" or "first".',
    '[lessons.01_dot]\ndue = "soon"': "lessons.01_dot.due is wrong; write a date such as 2026-11-20T23:59:00.",
    "[lessons.01_dot]\ndue = 2026-11-20": 'or add timezone = "Europe/Berlin" at the top.',
    "[lessons.01_dot]\ndue = 2026-11-20T23:59:59": "write a date with an offset (2026-11-20T23:59:59+01:00)",
    "[lessons.01_dot]\ndue = 2026-11-20T00:00:00Z\ncloses = 2026-11-19T00:00:00Z": "write a date after the due date.",
    "[late]\npercent_per_day = 110": "late.percent_per_day is wrong; write a number from 0 to 100.",
    'timezone = "Mars/Base"': "timezone is wrong; write a time zone of this machine",
    '[extensions.ada]\n01_dot = "soon"': "extensions.ada.01_dot is wrong; write a date such as",
    "[extensions]\nada = 2026-11-20": "extensions.ada is wrong; write a table, that is a line [extensions.ada]",
    '[sections.a]\nstudents = "ada"': 'sections.a.students is wrong; write a list of names, such as ["ada", "bob"].',
    '[struck.ada]\n01_dot = ["3fa1"]': "struck.ada.01_dot is wrong; write a list with at least the first 8 digits",
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
    assert all([course.lessons["04_autorange"].closes, course.extensions, course.sections])
    assert course.struck == {"bob": {"04_autorange": ("3fa1c0de",)}}
    course.require_known(["ada", "bob", "eve"], "course.toml")


# ---------------------------------------------------------------------------------------- which attempt counts

DUE = datetime(2026, 11, 20, 22, 59, tzinfo=UTC)
HOUR = timedelta(hours=1)
TWO_DAYS = "2 days late: 20 % are taken off, so 4.8 of the 6 earned points count."
TEN_A_DAY = DateRule(due=DUE, closes=DUE + 7 * DAY, late=LatePenalty(0.1, timedelta(minutes=15), 0.5))

moments = st.none() | st.integers(-200, 400).map(lambda hours: DUE + hours * HOUR)
earned = st.none() | st.integers(0, 40).map(lambda quarter: quarter / 4)
attempts = st.lists(st.builds(Handed, moments, earned, st.booleans(), st.booleans()), max_size=6)
rules = st.builds(
    DateRule,
    st.sampled_from(Which),
    st.none() | st.just(DUE),
    st.none() | st.integers(0, 200).map(lambda hours: DUE + hours * HOUR),
    st.builds(LatePenalty, st.integers(0, 100).map(lambda part: part / 100), st.timedeltas(timedelta(0), DAY)),
)


def counted(*given_: Handed, rule: DateRule = TEN_A_DAY) -> CountedAttempt:
    found = policy.count(given_, rule)
    assert found
    return found


def test_each_day_begun_takes_its_part_up_to_the_most_and_after_closing_nothing_counts() -> None:
    one_day = "1 day late: 10 % are taken off, so 5.4 of the 6 earned points count."
    for late, points, reason in (
        (-HOUR, 6.0, ""),
        (timedelta(minutes=15), 6.0, ""),
        (timedelta(minutes=16), 5.4, one_day),
        (DAY, 5.4, one_day),
        (DAY + HOUR, 4.8, TWO_DAYS),
        (6 * DAY, 3.0, "6 days late: 50 % are taken off, so 3 of the 6 earned points count."),
        (7 * DAY + HOUR, 0.0, "This file was handed in after the closing date: 0 of the 6 earned points count."),
    ):
        assert counted(Handed(DUE + late, 6.0)) == CountedAttempt(0, 6.0, points, reason), late
    unknown = "The time of the hand-in is unknown, so the hand-in counts as on time."
    assert counted(Handed(None, 6.0)) == CountedAttempt(0, 6.0, 6.0, unknown)
    assert counted(Handed(None, 6.0), rule=DateRule()).reason == ""


def test_the_attempt_that_the_course_chose_counts() -> None:
    three = (Handed(DUE + DAY + HOUR, 6.0), Handed(DUE, 4.0), Handed(DUE + HOUR, 10.0))
    late = "1 day late: 10 % are taken off, so 9 of the 10 earned points count."
    for which, index, points, reason in (
        (Which.FIRST, 1, 4.0, "Attempt 1 of 3 counts: the first."),
        (Which.BEST, 2, 9.0, f"Attempt 2 of 3 counts: the best. {late}"),
        (Which.LATEST, 0, 4.8, f"Attempt 3 of 3 counts: the latest. {TWO_DAYS}"),
    ):
        found = counted(*three, rule=replace(TEN_A_DAY, which=which))
        assert found == CountedAttempt(index, three[index].points, points, reason)
    late_best = (Handed(DUE, 6.0), Handed(DUE + 5 * DAY, 10.0))
    assert counted(*late_best, rule=replace(TEN_A_DAY, which=Which.BEST)).points == 6.0, "5 points after lateness"
    assert counted(Handed(DUE, 6.0), Handed(DUE + 8 * DAY, 10.0)).points == 6.0, "the latest in time"


def test_what_was_refused_replaced_or_not_graded_counts_only_where_it_must() -> None:
    for which, replaced in ((Which.LATEST, 6.0), (Which.BEST, 10.0), (Which.FIRST, 10.0)):
        rule = DateRule(which)
        assert counted(Handed(DUE, 0.0, refused=True), Handed(DUE + HOUR, 6.0), rule=rule).points == 6.0
        assert counted(Handed(DUE, 0.0, refused=True), rule=rule).points == 0.0
        assert counted(Handed(DUE - HOUR, 10.0, there=False), Handed(DUE, 6.0), rule=rule).points == replaced
    assert counted(Handed(DUE, None)) == CountedAttempt(0, None, None, "")
    assert counted(Handed(DUE, 6.0), Handed(DUE + HOUR, None)).points is None
    assert policy.count((), TEN_A_DAY) is None


@given(attempts, rules)
def test_never_more_counts_than_was_earned_and_the_best_is_never_worse_than_another(
    given_: list[Handed], rule: DateRule
) -> None:
    found, may = policy.count(given_, rule), policy.candidates(given_, rule)
    assert (found is None) == (not may)
    assert found is None or found.index in may
    assert rule.which is Which.BEST or len(may) <= 1
    if found and found.points is not None and found.raw is not None:
        assert 0 <= found.points <= found.raw == given_[found.index].points
        assert found.points == found.raw or "off" in found.reason or "closing" in found.reason
    graded = [replace(one, points=0.0 if one.refused else one.points or 0.0) for one in given_]
    best, other = policy.count(graded, replace(rule, which=Which.BEST)), policy.count(graded, rule)
    if other:
        assert best
        assert (best.points or 0.0) >= (other.points or 0.0)


@given(moments, st.integers(0, 40), rules, st.timedeltas(timedelta(0), 9 * DAY))
def test_later_is_never_worth_more_and_an_extension_never_less(
    at: datetime | None, points: int, rule: DateRule, more: timedelta
) -> None:
    def worth(at: datetime | None, rule: DateRule) -> float:
        return counted(Handed(at, points), rule=rule).points or 0.0

    now = worth(at, rule)
    if at:
        assert worth(at + more, rule) <= now
    if rule.due:
        closes = rule.closes + more if rule.closes else None
        assert worth(at, replace(rule, due=rule.due + more, closes=closes)) >= now
