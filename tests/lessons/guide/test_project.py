"""The projects of the two courses and their rubrics."""

from pathlib import Path

import pytest
from teachers_pack import pages

from lessons.guide import project, syllabus
from lessons.guide.syllabus import Syllabus

STARTS = {project.FULL: syllabus.PROJECT_STARTS, project.SHORT: syllabus.SHORT_PROJECT_STARTS}


def course(name: str) -> Syllabus:
    return {project.FULL: syllabus.twelve_weeks, project.SHORT: syllabus.four_weeks}[name](pages())


@pytest.fixture(params=[project.FULL, project.SHORT])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_rubric_has_a_hundred_points_and_each_row_has_three_levels(name: str) -> None:
    loaded = project.load()[name]
    assert loaded.points == 100
    for row in loaded.rubric:
        assert len({row.full, row.half, row.none}) == 3
    assert loaded.tasks
    assert loaded.optional


def test_each_lesson_that_a_task_needs_is_taught_in_its_week_or_earlier(name: str) -> None:
    taught = {page.name: week.number for week in course(name).weeks for page in week.lessons}
    for task in project.load()[name].tasks:
        for lesson in task.needs:
            assert taught[lesson] <= task.week, task.text


def test_the_tasks_are_done_between_the_start_of_the_project_and_the_last_week(name: str) -> None:
    weeks = [task.week for task in project.load()[name].tasks]
    assert weeks == sorted(weeks)
    assert STARTS[name] <= weeks[0]
    assert weeks[-1] == len(course(name).weeks)


def test_an_unknown_field_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "project.toml"
    file.write_text(project.FILE.read_text(encoding="utf-8").replace("hours =", "hour ="), encoding="utf-8")
    with pytest.raises(TypeError, match="hour"):
        project.load(file)
