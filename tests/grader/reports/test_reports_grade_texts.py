"""The text for each status of a task, and the texts of students as pages show them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_reports_gradescope import roll, submission

from grader import catalogue
from grader.records import Attempt, Report, Status, Verdict
from grader.reports import grade_texts
from grader.reports.templates import sanitize, shortened
from grader.trials.faults import NOT_PYTHON, NOT_WRITTEN

UNWRITTEN = Attempt(Status.REFUSED, "It still raises NotImplementedError.", NOT_WRITTEN)


def report(*attempts: Attempt) -> Report:
    """Return a report with one task for each attempt."""
    one = roll(submission("right")).reports[0]
    return replace(one, verdicts=tuple(replace(one.verdicts[0], attempt=attempt) for attempt in attempts))


@pytest.mark.parametrize(
    ("lesson", "title"),
    [
        ("02_timeit_vs_timer", "timeit vs Timer"),
        ("03_cuda_sync", "CUDA sync"),
        ("04_autorange", "Autorange"),
        ("06_ab_testing", "A/B testing"),
        ("09_cprofile", "cProfile"),
        ("11_torch_profiler", "PyTorch profiler"),
        ("12_jit_fusion", "JIT fusion"),
        ("own", "own"),
    ],
)
def test_a_title_keeps_the_spelling_of_acronyms_and_names(lesson: str, title: str) -> None:
    assert grade_texts.title(lesson) == title


def test_no_two_lessons_have_one_title() -> None:
    lessons = catalogue.load().lessons
    assert len({grade_texts.title(lesson) for lesson in lessons}) == len(lessons)


@pytest.mark.parametrize(
    ("attempts", "status"),
    [
        ((Attempt(Status.PASSED), Attempt(Status.PASSED)), "right"),
        ((Attempt(Status.PASSED), UNWRITTEN), "one right, one not written yet"),
        ((UNWRITTEN, Attempt(Status.PASSED), Attempt(Status.PASSED)), "two right, one not written yet"),
        ((UNWRITTEN, UNWRITTEN), "not written yet"),
        ((Attempt(Status.WRONG), UNWRITTEN), "one wrong, one not written yet"),
        ((Attempt(Status.PASSED), Attempt(Status.GRADER_ERROR)), "not graded (grader error)"),
    ],
)
def test_a_lesson_with_different_endings_names_each_of_them(attempts: tuple[Attempt, ...], status: str) -> None:
    assert grade_texts.status(report(*attempts)) == status


def verdict(status: Status, rationale: str = "", help_text: str = "") -> Verdict:
    return Verdict("01_dot.batched", 0.0, 10.0, None, Attempt(status, rationale, help_text))


def test_every_status_has_its_own_text() -> None:
    assert len({grade_texts.ended(verdict(status)) for status in Status}) == len(Status)


def test_a_syntax_error_and_a_stub_have_their_own_texts() -> None:
    assert grade_texts.ended(verdict(Status.REFUSED, f"{NOT_PYTHON} invalid syntax.")) == grade_texts.SYNTAX_ERROR
    assert grade_texts.ended(verdict(Status.RAISED, "batched is still the stub.", NOT_WRITTEN)) == NOT_WRITTEN


@given(st.text())
def test_what_is_shown_can_be_written_and_holds_nothing_that_acts(text: str) -> None:
    safe = sanitize(text)
    safe.encode()
    assert len(safe) >= len(text)
    assert not [char for char in safe if not char.isprintable() and char in "\x00\x1b\x7f\x9b\u202e\u2066\u200b\ufeff"]


def test_lines_and_the_joiners_of_letters_stay() -> None:
    for text in ("two\nlines\tand a tab", "\u0645\u06cc\u200c\u062e", "👩\u200d🔬", "Zoë", "e\u0301"):
        assert sanitize(text) == text
    assert sanitize("a\udcffb") == "a[U+DCFF]b"


def test_a_long_text_ends_in_an_ellipsis_and_a_short_one_does_not() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abc efg", 5) == "abc…"
    assert len(shortened("y" * 10_000)) == 300
