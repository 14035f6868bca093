"""The weeks of the two courses, and their projects."""

import pytest
from teachers_pack import pages

from lessons.engine.route import FULL, lessons_of
from lessons.guide import project, syllabus

PROJECTS = {
    project.FULL: (syllabus.twelve_weeks, syllabus.PROJECT_STARTS),
    project.SHORT: (syllabus.four_weeks, syllabus.SHORT_PROJECT_STARTS),
}


def test_the_long_course_has_all_lessons_in_the_order_of_the_full_path() -> None:
    course = syllabus.twelve_weeks(pages())
    assert tuple(page.name for page in course.lessons) == lessons_of(FULL)
    assert len(course.weeks) == 12
    assert [week.number for week in course.weeks if not week.lessons] == [7, 12]
    assert [week.number for week in course.weeks if week.event] == [7, 8, 12]
    assert course.points == sum(page.points for page in pages().values())
    assert course.before_midterm == tuple(page for week in course.weeks[:6] for page in week.lessons)
    minutes = [week.class_minutes + week.homework_minutes for week in course.weeks if week.lessons]
    assert max(minutes) <= 2 * sum(minutes) / len(minutes)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_has_a_hundred_points_and_its_tasks_come_after_the_lessons_that_they_need(name: str) -> None:
    loaded, (course, starts) = project.load()[name], PROJECTS[name]
    assert loaded.points == 100
    assert [row.criterion for row in loaded.rubric if len({row.full, row.half, row.none}) < 3] == []
    assert loaded.optional
    weeks = course(pages()).weeks
    taught = {page.name: week.number for week in weeks for page in week.lessons}
    assert [task.text for task in loaded.tasks if any(taught[needed] > task.week for needed in task.needs)] == []
    when = [task.week for task in loaded.tasks]
    assert when == sorted(when)
    assert starts <= when[0]
    assert when[-1] == len(weeks)
