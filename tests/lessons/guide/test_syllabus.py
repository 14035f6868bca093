"""The weeks of the two syllabi."""

import pytest
from teachers_pack import pages, small_page

from lessons.engine.route import FULL, SHORT, lessons_of
from lessons.guide import syllabus


def test_the_long_course_has_all_lessons_in_the_order_of_the_full_path() -> None:
    course = syllabus.twelve_weeks(pages())
    assert tuple(page.name for page in course.lessons) == lessons_of(FULL)
    assert len(course.weeks) == 12
    assert [week.number for week in course.weeks if not week.lessons] == [7, 12]
    assert [week.number for week in course.weeks if week.event] == [7, 8, 12]
    assert course.points == sum(page.points for page in pages().values())


def test_no_week_takes_more_than_twice_the_mean_time() -> None:
    weeks = [week for week in syllabus.twelve_weeks(pages()).weeks if week.lessons]
    minutes = [week.class_minutes + week.homework_minutes for week in weeks]
    assert max(minutes) <= 2 * sum(minutes) / len(minutes)


def test_a_lesson_is_never_before_its_prerequisites() -> None:
    names = [page.name for page in syllabus.twelve_weeks(pages()).lessons]
    for page in pages().values():
        assert all(names.index(name) < names.index(page.name) for name in page.entry.prerequisites)


def test_the_short_course_has_one_lesson_a_week() -> None:
    course = syllabus.four_weeks(pages())
    assert [[page.name for page in week.lessons] for week in course.weeks] == [[name] for name in lessons_of(SHORT)]
    assert course.before_midterm == course.lessons


def test_a_week_asks_about_the_lessons_of_the_week_before_it() -> None:
    course = syllabus.twelve_weeks(pages())
    assert course.weeks[0].recall_questions == 0
    assert course.weeks[1].before == course.weeks[0].lessons
    assert course.weeks[7].before == course.weeks[5].lessons
    assert course.weeks[1].recall_questions == sum(len(page.recall) for page in course.weeks[0].lessons)


def test_the_midterm_comes_after_its_lessons() -> None:
    course = syllabus.twelve_weeks(pages())
    assert course.before_midterm == tuple(page for week in course.weeks[:6] for page in week.lessons)


@pytest.mark.parametrize(
    ("minutes", "count", "ends"),
    [((1, 1, 1, 1), 2, (2, 4)), ((5, 1, 1, 1), 2, (1, 4)), ((1, 2, 3), 3, (1, 2, 3)), ((7,), 1, (1,))],
)
def test_parts_have_similar_minutes(minutes: tuple[int, ...], count: int, ends: tuple[int, ...]) -> None:
    assert syllabus.best_ends(minutes, count) == ends


def test_more_parts_than_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="1 values cannot fill 2 parts"):
        syllabus.best_ends((1,), 2)


def test_a_few_lessons_leave_the_last_weeks_empty() -> None:
    page = small_page()
    parts = syllabus.divided([page, page], [10, 10], 4)
    assert [len(part) for part in parts] == [1, 1, 0, 0]
