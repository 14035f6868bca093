from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import small_tasks
from classroom import DOT, ENVIRONMENT, KIT
from exported import changed, class_of, submission
from outline import Outline

from grader.course import policy as course_policy
from grader.course.course_file import parse
from grader.course.policy import Handed
from grader.course.results import LessonStanding, Span
from grader.records import Control, Status
from grader.reports import student_page
from grader.task import Tier
from grader.ways import TaskWays, Way

GUIDE = replace(
    small_tasks.negation(Path(), tiers=(Tier(2.0, 0.6), Tier(4.0, 1.0))),
    summary="a dot product of rows",
    hints=("Think of rows.", "Think of one call.", "Sum over the last dimension."),
    idea="One call for all rows.",
)
GUIDES = {DOT: GUIDE}


def page(text: str = "right", **fields: object) -> str:
    return student_page.render(changed(class_of(submission("ada", text)), 0, **fields), GUIDES)


def shown(text: str = "right", **fields: object) -> str:
    return Outline(page(text, **fields)).text


def test_it_says_what_was_measured_and_what_comes_next() -> None:
    text = shown(control=Control(1.001, 1.049, 0.05, True, 2, most_ratio=7.5))
    for part in (
        "6 of 20",
        "Measured the baseline takes 3.00× as long as the submission (interval: 2.90× to 3.10×)",
        "Rounds 2 in 2 pairs of processes",
        "Next tier 4× gives 10 points. That is 1.33 times the measured ratio.",
        "Physical limit 7.5× on this core. The submission reaches 40 % of this limit.",
        "The baseline compared with itself: 1.001×, expected 1×.",
        "The baseline compared with a copy slowed by 5 %: 1.049×, expected 1.05×. The control passed.",
        "a dot product of rows",
    ):
        assert part in text


def test_a_failing_answer_reads_its_smallest_case_the_help_and_hints_one_by_one() -> None:
    told = "Fails 7 of 60 cases. The smallest: a of shape (1, 3)\n  expected 1    got 2"
    outline = Outline(page("wrong", rationale=told))
    assert "Smallest failing case a of shape (1, 3)" in outline.text
    assert "Sum, not mean." in outline.text
    assert "Right cases 53 of 60" in outline.text
    assert "One input that the grader uses to check an answer" in outline.text.partition("Words on this page")[2]
    assert outline.tags.count("details") == 3 + 2, "three hints, the environment, and the terms used on the page"
    assert "One call for all rows." not in outline.text, "only students with full marks see the idea"


def test_after_full_marks_the_idea_is_told_and_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = TaskWays("here", 3.0, (Way("loop", "Loops over rows.", "It is slow.", 2.0),))
    monkeypatch.setattr(student_page, "ways_of", lambda _task: ways)
    class_ = class_of(submission())
    report = class_.reports[0]
    verdict = replace(report.verdicts[0], points=10.0)
    text = student_page.render(replace(class_, reports=(replace(report, verdicts=(verdict,)),)), GUIDES)
    assert "One call for all rows." in text
    assert "Their ratios were computed here. There, the reference solution has the ratio 3×." in text
    assert "<li>2×: Loops over rows. It is slow.</li>" in text
    assert "Think of rows." not in text


def test_where_and_how_it_was_graded_is_told_with_the_hash_that_an_appeal_names() -> None:
    began = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
    class_ = replace(class_of(submission()), spans=(Span("ada", "01_dot", began, began + timedelta(seconds=3)),))
    text = Outline(student_page.render(class_, GUIDES)).text
    graded = "Mon 4 May 2026 12:00:03 UTC"
    for part in (ENVIRONMENT.describe(), ENVIRONMENT.fingerprint(), "00ff", "In a sandbox.", graded, KIT):
        assert part in text
    bare = replace(class_, reports=(replace(class_.reports[0], sandboxed=False, missing=()),))
    assert "No sandbox: 01_dot ran with all rights" in Outline(student_page.render(bare)).text
    assert "a layer" not in text, "only the instructor sees the layers of the sandbox"


def test_it_says_nothing_of_others_nor_what_was_printed_and_links_only_to_itself() -> None:
    assert "HIDDEN" not in page(output_tail="HIDDEN [1, 2, 3]")
    traceback = "File hidden.py HIDDEN"
    assert "HIDDEN" not in page(status=Status.GRADER_ERROR, speed=None, rounds=(), output_tail=traceback)
    class_ = class_of(submission(), submission("bob", "wrong"))
    pages = {name: student_page.render(alone, GUIDES) for name, alone in class_.one_by_one()}
    assert "bob" not in pages["ada"]
    links = [value or "" for name, value in Outline(pages["ada"]).attributes if name == "href"]
    assert links
    assert all(link.startswith("#") for link in links)


COURSE = parse(
    'timezone = "Europe/Berlin"\nlessons.01_dot.due = 2026-11-20T23:59:00\nextensions.ada.01_dot = "2 days"\n'
    "[late]\npercent_per_day = 10\ngrace_minutes = 15\nat_most_percent = 50\ncloses_after_days = 7\n",
    "course.toml",
)
DUE = datetime(2026, 11, 22, 22, 59, tzinfo=UTC)


def dated_page(at: datetime | None, student: str = "ada") -> str:
    """Return the page of a student who handed in a right answer worth 6 points at the time `at`."""
    rule = COURSE.rule(student, "01_dot")
    counted = course_policy.count([Handed(at, 6.0)], rule)
    assert counted
    standing = LessonStanding(student, "01_dot", 6.0, counted.points, counted.reason, rule.due_utc, at)
    class_ = replace(class_of(submission(student)), course=COURSE, standings=(standing,))
    return Outline(student_page.render(class_)).text


def test_the_page_says_in_one_place_what_was_due_when_and_by_which_rule() -> None:
    text = dated_page(DUE)
    assert "Due Sun 22 Nov 2026 23:59 CET (your own due date; the class has Fri 20 Nov 2026 23:59 CET)" in text
    assert "For each day or part of a day, 10 % of the earned points are taken off, at most 50 %." in text
    assert "your own due date" not in dated_page(DUE, "bob")
    assert "Handed in at an unknown time, so the hand-in counts as on time" in dated_page(None)
    two_days = "2 days begun. 20 % are taken off, so 4.8 of the 6 earned points count."
    closed = "8 days late, after the closing date. batched: 6 of 10, right. Closed Sun 29 Nov 2026 23:59 CET"
    for late, told in (
        (timedelta(0), "Handed in Sun 22 Nov 2026 23:59 CET, on time."),
        (timedelta(days=1, hours=1), two_days),
        (timedelta(days=8), closed),
    ):
        text = dated_page(DUE + late)
        assert told in text


def test_what_earns_the_most_points_comes_first_and_nothing_that_cannot_earn_more() -> None:
    class_ = class_of(submission("ada", "wrong"))
    class_ = changed(class_, 0, rationale="Fails 7 of 60 cases. The smallest: a of shape (1, 3)")
    steps = student_page.next_steps(class_, GUIDES)
    assert [(one.section, one.what, one.points) for one in steps] == [
        ("02_timer", "Hand it in.", 10.0),
        (DOT, "wrong, for example with a of shape (1, 3)", 10.0),
    ]
    _, slow = student_page.next_steps(class_of(submission()), GUIDES)
    assert (slow.section, slow.points) == (DOT, 4.0)
    assert slow.what.startswith("4× gives 10 points.")
    span = Span("ada", "01_dot", DUE, DUE + timedelta(days=8))
    closed = replace(class_, course=COURSE, spans=(span,))
    assert [one.section for one in student_page.next_steps(closed, GUIDES)] == ["02_timer"]
