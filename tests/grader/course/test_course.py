"""The course file, and which attempt counts for how many points by its rules."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.course import course_file, policy
from grader.course.course_file import Course, parse
from grader.course.dates import DAY, LocalTime
from grader.course.named_students import for_class
from grader.course.policy import CountedAttempt, DateRule, Handed, LatePenalty, Which
from grader.course.quota import Quota
from grader.course.teams import Team
from grader.records import TimeSource
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


BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str) -> Course:
    return parse(text, "course.toml", ("01_dot", "02_timer"))


def at(*when: int) -> LocalTime:
    return LocalTime.at_wall(datetime(*when, tzinfo=UTC).replace(tzinfo=None), BERLIN)  # type: ignore[misc,arg-type]


def test_dates_are_those_of_the_time_zone_and_extensions_and_sections_move_due_date_and_closing_alike() -> None:
    course, late = read(WHOLE), LatePenalty(0.1, timedelta(minutes=15), 0.5)
    dot = DateRule(Which.BEST, at(2026, 11, 20, 23, 59), at(2026, 11, 27, 23, 59), late)
    timer = DateRule(Which.FIRST, at(2026, 11, 27, 23, 59, 59), at(2026, 12, 1, 13), late)
    assert (course.rule("eve", "01_dot"), course.rule("eve", "02_timer")) == (dot, timer)
    dates = 'timezone = "Europe/Berlin"\n[lessons.01_dot]\ndue = 2026-10-24T18:00:00\ncloses = 2026-10-26T17:00:00\n'
    hours, weeks, all_earlier = (
        read(f"{dates}[extensions.ada]\nall = {to}") for to in ('"48 hours"', '"1Week"', "2026-10-20")
    )
    closing = read(f'{dates}[extensions.ada]\n01_dot = "2 days"'.replace("due = 2026-10-24T18:00:00\n", ""))
    section = '[sections.a]\nstudents = ["ada"]\nlessons.01_dot.due = 2026-10-28T18:00:00\n'
    later = read(f"{dates}{section}".replace("due = 2026-10-24T18:00:00\n", ""))
    for rules, student, lesson, due, closes in (
        (course, "ada", "01_dot", at(2026, 11, 22, 23, 59, 59), at(2026, 11, 29, 23, 59, 59)),
        (course, "ada", "02_timer", at(2026, 11, 29, 23, 59, 59), at(2026, 12, 3, 13)),
        (course, "bob", "01_dot", at(2026, 11, 21, 23, 59), at(2026, 11, 28, 23, 59)),
        (hours, "ada", "01_dot", at(2026, 10, 26, 17), at(2026, 10, 28, 16)),
        (weeks, "ada", "01_dot", at(2026, 10, 31, 18), at(2026, 11, 2, 17)),
        (all_earlier, "ada", "01_dot", at(2026, 10, 24, 18), at(2026, 10, 26, 17)),
        (closing, "ada", "01_dot", None, at(2026, 10, 28, 17)),
        (later, "ada", "01_dot", at(2026, 10, 28, 18), at(2026, 10, 28, 18)),
    ):
        rule = rules.rule(student, lesson)
        assert (rule.due, rule.closes) == (due, closes)
    assert course.rule("bob", "02_timer") == course.rule("eve", "02_timer")
    for to in ('"2 days"', "2026-11-20T18:00:00Z"):
        assert read(f"[extensions.ada]\nall = {to}").rule("ada", "01_dot") == DateRule()


def test_names_have_one_unicode_form_and_attempts_are_struck_and_misnamed_files_have_a_lesson() -> None:
    course = read(
        '[struck."Jose\u0301"]\n01_dot = ["3FA1C0DE", 12345678]\n[files]\n"hw2.py" = "02_timer"\n'
        '[files.ada]\n"hw2.py" = "01_dot"\n"late/e\u0301.py" = "02_timer"'
    )
    for student, lesson, digest, strikes in (
        ("Jos\u00e9", "01_dot", "3fa1c0de" * 8, True),
        ("Jos\u00e9", "01_dot", "12345678" * 8, True),
        ("Jos\u00e9", "01_dot", "3fa1c0d0" * 8, False),
        ("Jos\u00e9", "02_timer", "3fa1c0de" * 8, False),
        ("bob", "01_dot", "3fa1c0de" * 8, False),
    ):
        assert course.strikes(student, lesson, digest) == strikes
    for student, path, found in (
        ("bob", "bob/hw2.py", "02_timer"),
        ("ada", "ada/hw2.py", "01_dot"),
        ("ada", "ada.zip/Late/\u00c9.py", "02_timer"),
        ("ada", "ada/\u00e9.py", None),
    ):
        assert course.lesson_of(student, path) == found


def test_a_rule_that_no_student_or_several_rules_mean_is_an_error_that_quotes_the_line() -> None:
    new = "not in the class yet, write at the top of the file: students = ["
    section = '[sections.{}]\nstudents = ["ada"]\nlessons.01_dot.due = 2026-11-{}T00:00:00Z\n'
    for text, *says in (
        ('# ivi\n[extensions.ivi]\nall = "2 days"', "line 2 `[extensions.ivi]`: There is no student 'ivi'", new),
        ('[struck.zebra]\n01_dot = ["3fa1c0de"]', "no student 'zebra' in this class. Students: ada, ivy.", new),
        (section.format("a", 20) + section.format("b", 21), "line 4 `[sections.b]`", "both have dates for 01_dot"),
        (
            '[teams.a]\nstudents = ["ada"]\nlessons = ["01_dot"]\n[teams.b]\nstudents = ["ivy", "ada"]',
            "line 4 `[teams.b]`: ada is in the teams 'a' and 'b' for the same lesson. Remove the student",
        ),
        ('[slip_days]\nbudget = 1\nspend = "chosen"\n[slip_days.chosen.ivi]\n01_dot = 1', "line 4", "no student 'ivi'"),
        (
            section.format("a", 20) + "[extensions.ada]\n01_dot = 2026-11-19T00:00:00Z",
            "line 5",
            "after the due date, Fri",
        ),
    ):
        with pytest.raises(UsageError) as caught:
            for_class(read(text), ["ada", "ivy"], name="course.toml")
        assert all(one in str(caught.value) for one in says), str(caught.value)
    for text in (
        'students = ["ivi"]\n[extensions.ivi]\nall = "2 days"',
        section.format("a", 20) + section.format("b", 20),
        '[teams.a]\nstudents = ["ada"]\nlessons = ["01_dot"]\n[teams.b]\nstudents = ["ada"]\nlessons = ["02_timer"]',
    ):
        for_class(read(text), ["ada"], name="course.toml")


MISTAKES = {
    'attempt = "best"': "attempt is not allowed here; write attempts.",
    'attempts = "last"': 'attempts is wrong; write "latest" or "best" or "first" or "chosen".',
    "[lessons.01_dot]\ndue = 2026-11-20": 'or add timezone = "Europe/Berlin" at the top.',
    "[lessons.01_dot]\ndue = 2026-11-20T00:00:00Z\ncloses = 2026-11-19T00:00:00Z": "write a date after the due date.",
    "[late]\npercent_per_day = 110": "late.percent_per_day is wrong; write a number from 0 to 100.",
    'timezone = "Mars/Base"': "timezone is wrong; write a time zone of this machine",
    '[extensions.ada]\n01_dot = "soon"': "extensions.ada.01_dot is wrong; write a date from",
    "[extensions.J. Doe]\nall = 2026-11-20": "extensions.J.Doe is not allowed here; allowed keys: 01_dot,",
    "[lessons.01_dot]\ndue = 2026-11-20 18:00": "a time needs seconds.",
    '[lessons.01_dot]\n[extensions."J. Doe]': 'line 2 `[extensions."J. Doe]` is not TOML: Unterminated string. A name',
    '[files]\nhw2.py = "01_dot"': 'line 2 `hw2.py = "01_dot"`: files.hw2.py is wrong; write a lesson for',
    '[extensions."Jose\u0301"]\n[extensions."Jos\u00e9"]': "appears twice; write it once.",
    "[lessons.01_dot]\ndue = 9999-12-31T23:00:00Z": "write a date from 1970 to 2999, such as",
    '[extensions.ada]\nall = "99999 weeks"': "at most 3650 days",
    "lessons.01_dot.due = 2026-11-20T00:00:00Z\nsections.a.lessons.01_dot.closes = 2026-11-19T00:00:00Z": (
        "sections.a.lessons.01_dot.closes is wrong; write a date after the due date."
    ),
    "[slip_days]\nper_lesson = 2": "line 1 `[slip_days]`: slip_days is wrong; write budget = 4 below it.",
    "[slip_days]\nbudget = 4.5": "slip_days.budget is wrong; write a whole number from 0 to 365.",
    "[slip_days]\nbudget = 4\nchosen.ada.01_dot = 2": 'slip_days.chosen is wrong; write spend = "chosen" above it',
    '[slip_days]\nbudget = 4\nspend = "chosen"\nper_lesson = 1\nchosen.ada.01_dot = 2': "a whole number from 0 to 1.",
    "[quota]\nrefill_hours = 4": "quota is wrong; write attempts = 3 below it.",
    "[quota]\nattempts = 0": "quota.attempts is wrong; write a whole number from 1 to 1000.",
    "[lessons.01_dot]\nquota = { attempts = 3, refill_hours = 0 }": "hours is wrong; write a number from 0.25 to",
    "[teams.alpha]\nslip_days = 1": "teams.alpha is wrong; write the members below it, such as students =",
    '[teams.alpha]\nstudents = ["ada"]\nlessons = []': "teams.alpha.lessons is wrong; write a list of lessons, such",
    '[teams.alpha]\nstudents = ["ada"]\nlessons = ["3"]': "teams.alpha.lessons is wrong; write a list of lessons, such",
    '[chosen.ada]\n01_dot = ["3fa1c0de"]': "chosen.ada.01_dot is wrong; write at least the first 8 digits of a SHA-256",
    'results = "secret"': 'results is wrong; write "hidden" or "shown".',
    "[lessons.01_dot]\ndue = 2026-11-20T00:00:00Z\nopens = 2026-11-20T00:00:00Z": "write a date before Fri 20 Nov 2026",
    '[staff]\nassistants = "bob"': 'staff.assistants is wrong; write a list of names, such as ["ada", "bob"].',
    "a = " + "[" * 2000 + "]" * 2000: "course.toml is nested too deeply.",
    "[late]\npercent_per_day = " + "9" * 5000: "course.toml is not TOML: A number has too many digits.",
}


def test_the_example_of_the_page_has_every_key() -> None:
    page = (Path(__file__).parents[3] / "grader" / "class_run" / "README.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    course = parse(example, "course.toml")
    for_class(course, ["ada", "bob", "eve", "José García"], name="course.toml")
    lesson = {*course_file._OF_A_LESSON} - {"attempts", "results"}  # which the top has
    for key in {*course_file._KEYS, *lesson}:
        assert re.search(rf"^(\[?|.*\.){key}\b", example, re.MULTILINE), key
    assert (course.quota("04_autorange"), course.quota("05_compare")) == (
        Quota(5, timedelta(hours=1), BERLIN),
        Quota(3, timedelta(hours=4), BERLIN),
    )
    assert course.team("ada", "04_autorange") == Team("alpha", ("ada", "bob"), ("04_autorange",), 3)
    assert (course.instructors, course.assistants) == (("grace@uni.example",), ("Ren Ota",))
    assert not course.hides("04_autorange")
    assert parse('results = "hidden"\n[lessons.a]\nresults = "shown"', "").hidden == {"": True, "a": False}


def test_a_mistake_is_named_by_its_key_with_what_to_write() -> None:
    for text, says in MISTAKES.items():
        with pytest.raises(UsageError) as caught:
            read(text)
        assert says in f"{caught.value}$"
        assert str(caught.value).startswith("course.toml")


# ---------------------------------------------------------------------------------------- which attempt counts

DUE = at(2026, 11, 20, 23, 59)
HOUR = timedelta(hours=1)
TWO_DAYS = (
    "Due Fri 20 Nov 2026 23:59 CET, handed in Sun 22 Nov 2026 00:59 CET: 2 days begun. "
    "20 % are taken off, so 4.8 of the 6 earned points count."
)
TEN_A_DAY = DateRule(due=DUE, closes=DUE.later(7 * DAY), late=LatePenalty(0.1, timedelta(minutes=15), 0.5))

moments = st.none() | st.integers(-200, 400).map(lambda hours: DUE.utc + hours * HOUR)
earned = st.none() | st.integers(0, 40).map(lambda quarter: quarter / 4)
attempts = st.lists(
    st.builds(Handed, moments, earned, st.booleans(), st.booleans(), st.sampled_from(TimeSource)), max_size=6
)
rules = st.builds(
    DateRule,
    st.sampled_from(Which),
    st.none() | st.just(DUE),
    st.none() | st.integers(0, 200).map(lambda hours: DUE.after(hours * HOUR)),
    st.builds(LatePenalty, st.integers(0, 100).map(lambda part: part / 100), st.timedeltas(timedelta(0), DAY)),
)


def counted(*given_: Handed, rule: DateRule = TEN_A_DAY) -> CountedAttempt:
    found = policy.count(given_, rule)
    assert found
    return found


def test_each_day_begun_takes_its_part_up_to_the_most_and_after_closing_nothing_counts() -> None:
    one_day = "1 day begun. 10 % are taken off, so 5.4 of the 6 earned points count."
    for late, points, reason in (
        (-HOUR, 6.0, ""),
        (timedelta(minutes=15), 6.0, ""),
        (timedelta(minutes=16), 5.4, one_day),
        (DAY, 5.4, one_day),
        (DAY + HOUR, 4.8, TWO_DAYS),
        (6 * DAY, 3.0, "6 days begun. 50 % are taken off, so 3 of the 6 earned points count."),
        (7 * DAY + HOUR, 0.0, ": 0 of the 6 earned points count."),
    ):
        found = counted(Handed(DUE.utc + late, 6.0))
        assert (found.points, found.reason.endswith(reason)) == (points, True), late
        assert (found.reason == "") == (reason == "")
    unknown = "The time of the hand-in is unknown, so the hand-in counts as on time."
    assert counted(Handed(None, 6.0)) == CountedAttempt(0, 6.0, 6.0, unknown)
    assert counted(Handed(None, 6.0), rule=DateRule()).reason == ""
    marked = Handed(None, 6.0, time_source=TimeSource.LATE_MARK)
    assert counted(marked).points == 6.0
    lost_90 = replace(TEN_A_DAY, late=LatePenalty(0.9))
    assert counted(Handed(DUE.utc + HOUR, 0.75), rule=lost_90).points == 0.08, "0.075 is rounded as a person rounds it"
    assert "a person must decide" in counted(marked).reason
    assert counted(marked, Handed(DUE.utc, 4.0)).points == 6.0, "marked as late is later than on time"


def test_the_attempt_that_the_course_chose_counts() -> None:
    three = (Handed(DUE.utc + DAY + HOUR, 6.0), Handed(DUE.utc, 4.0), Handed(DUE.utc + HOUR, 10.0))
    days = "Due Fri 20 Nov 2026 23:59 CET, handed in Sat 21 Nov 2026 00:59 CET: 1 day begun."
    late = f"{days} 10 % are taken off, so 9 of the 10 earned points count."
    for which, index, points, reason in (
        (Which.FIRST, 1, 4.0, "Attempt 1 of 3 counts: the first."),
        (Which.BEST, 2, 9.0, f"Attempt 2 of 3 counts: the best. {late}"),
        (Which.LATEST, 0, 4.8, f"Attempt 3 of 3 counts: the latest. {TWO_DAYS}"),
    ):
        found = counted(*three, rule=replace(TEN_A_DAY, which=which))
        assert found == CountedAttempt(index, three[index].points, points, reason)
    late_best = (Handed(DUE.utc, 6.0), Handed(DUE.utc + 5 * DAY, 10.0))
    assert counted(*late_best, rule=replace(TEN_A_DAY, which=Which.BEST)).points == 6.0, "5 points after lateness"
    assert counted(Handed(DUE.utc, 6.0), Handed(DUE.utc + 8 * DAY, 10.0)).points == 6.0, "the latest in time"


def test_what_was_refused_replaced_or_not_graded_counts_only_where_it_must() -> None:
    for which, replaced in ((Which.LATEST, 6.0), (Which.BEST, 10.0), (Which.FIRST, 10.0)):
        rule = DateRule(which)
        assert counted(Handed(DUE.utc, 0.0, refused=True), Handed(DUE.utc + HOUR, 6.0), rule=rule).points == 6.0
        assert counted(Handed(DUE.utc, 0.0, refused=True), rule=rule).points == 0.0
        assert counted(Handed(DUE.utc - HOUR, 10.0, there=False), Handed(DUE.utc, 6.0), rule=rule).points == replaced
    assert counted(Handed(DUE.utc, None)) == CountedAttempt(0, None, None, "")
    assert counted(Handed(DUE.utc, 6.0), Handed(DUE.utc + HOUR, None)).points is None
    assert policy.count((), TEN_A_DAY) is None


@given(attempts, rules)
def test_never_more_counts_than_earned_and_the_best_is_best(given_: list[Handed], rule: DateRule) -> None:
    found, may = policy.count(given_, rule), policy.candidates(given_, rule)
    assert (found is None) == (not may)
    assert found is None or found.index in may
    assert rule.which in {Which.BEST, Which.CHOSEN} or len(may) <= 1
    if found and found.points is not None and found.raw is not None:
        assert 0 <= found.points <= found.raw == given_[found.index].points
        assert found.points == found.raw or "off" in found.reason or "Closed" in found.reason
    graded = [replace(one, points=0.0 if one.refused else one.points or 0.0) for one in given_]
    best, other = policy.count(graded, replace(rule, which=Which.BEST)), policy.count(graded, rule)
    if other:
        assert best
        assert (best.points or 0.0) >= (other.points or 0.0)
