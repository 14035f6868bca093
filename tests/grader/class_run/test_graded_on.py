"""The lessons of a class are stored with its grades, and change only if the instructor requests a change."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from classroom import grade, hand_in
from commanding import CommandResult, said

from grader import catalogue, reports
from grader.class_run import graded_on, journal
from grader.course.results import TaskPoints
from grader.errors import UsageError
from grader.records import Report, Submission
from grader.task import Task

AUTORANGE, TIMER = "04_autorange", "02_timeit_vs_timer"
KNOWN = catalogue.load()
STUB = "def blocked_autorange(run, clock, seconds):\n    raise NotImplementedError\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class of two students with wrong answers to two real lessons. Their grading is quick."""
    for student in ("ada", "carla"):
        for lesson in (AUTORANGE, TIMER):
            hand_in(tmp_path / "hw1", student, STUB, lesson)
    return tmp_path / "hw1"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "grades"


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade by the words in a submission's text, without a worker."""
    from grader.class_run import grading

    def graded(submission: Submission, seed: str, _pool: object, tasks: Sequence[Task]) -> Report:
        report = grade(replace(submission, lesson="01_dot"), seed)
        verdicts = tuple(
            replace(report.verdicts[0], task=task.full_name, points=task.points, max_points=task.points)
            for task in tasks
        )
        return replace(report, submission=submission, verdicts=verdicts)

    monkeypatch.setattr(grading, "grade", graded)


def run(capsys: pytest.CaptureFixture[str], folder: Path, out: Path, *options: str) -> CommandResult:
    return said(capsys, "run", folder, "--out", out, "--no-sandbox", "--jobs", "1", *options)


def worth(out: Path) -> dict[str, float]:
    with journal.read(out) as book:
        roll = book.roll()
    return {lesson: roll.possible(lesson) for lesson in roll.lessons}


def test_by_default_lessons_handed_in_are_graded(folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, folder, out)
    assert (ended.code, list(worth(out))) == (0, [TIMER, AUTORANGE])
    assert f"Lessons graded, by hand-ins and course file: {TIMER}, {AUTORANGE}." in ended.out
    assert "nothing handed in" not in (out / reports.PAGE).read_text()


def test_a_lesson_that_the_course_file_names_counts_and_all_can_be_asked_for(
    tmp_path: Path, folder: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = tmp_path / "course.toml"
    course.write_text(
        'timezone = "UTC"\n[lessons.05_compare]\ndue = 2026-11-20\n'
        '[sections.tuesday]\nstudents = ["ada"]\nlessons.07_fuzzing.due = 2026-11-21\n'
    )
    ended = run(capsys, folder, out, "--course", str(course))
    assert (ended.code, list(worth(out))) == (0, [TIMER, AUTORANGE, "05_compare", "07_fuzzing"])
    assert run(capsys, folder, out, "--lessons", "all").code == 0
    assert list(worth(out)) == list(KNOWN.lessons)


def test_a_new_exercise_of_the_kit_changes_no_class_and_a_changed_one_is_refused(out: Path) -> None:
    more = catalogue.Catalogue({**KNOWN.by_lesson, "99_new": KNOWN.tasks(AUTORANGE)})
    kept = graded_on.tasks(KNOWN, (), (), Path("out"))
    assert graded_on.tasks(more, (), kept, Path("out")) == kept
    assert len(graded_on.tasks(more, ["all"], kept, Path("out"))) > len(kept)
    kept = tuple(replace(task, points=task.points + 1) for task in graded_on.tasks(KNOWN, [AUTORANGE], (), out))
    with pytest.raises(UsageError, match=r"04_autorange has the tasks .*This kit has .*use a new folder"):
        graded_on.tasks(KNOWN, (), kept, out)
    with pytest.raises(UsageError, match="has grades of 98_gone, a lesson that this kit lacks"):
        graded_on.tasks(KNOWN, (), (TaskPoints("98_gone", "98_gone.x", 1.0),), out)


def test_a_change_is_asked_for_said_and_taken_back(folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, folder, out, "--lessons", AUTORANGE)
    ended = run(capsys, folder, out, "--lessons", AUTORANGE, "--lessons", TIMER)
    assert f"These lessons now count, too: {TIMER}." in ended.out
    assert list(worth(out)) == [TIMER, AUTORANGE]
    ended = said(capsys, "report", out, "--lessons", AUTORANGE)
    assert (ended.code, list(worth(out))) == (0, [AUTORANGE])
    assert f"These lessons no longer count: {TIMER}. The grades of these lessons are kept" in ended.out
    ended = run(capsys, folder, out)
    assert (list(worth(out)), "There is nothing to grade" in ended.out) == ([AUTORANGE], True)
    assert run(capsys, folder, out, "--regrade", "carla").code == 0
    assert list(worth(out)) == [AUTORANGE], "a later run grades the same lessons"
    ended = said(capsys, "report", out, "--lessons", "05_compare")
    assert (ended.code, list(worth(out))) == (2, [AUTORANGE])
    assert "has no grades of 05_compare. It has grades of 02_timeit_vs_timer, 04_autorange." in ended.err
    assert f"python -m grader run {folder} --out {out} --lessons 05_compare" in ended.err
    ended = said(capsys, "report", out, "--lessons", "all")
    assert (ended.code, list(worth(out))) == (0, [TIMER, AUTORANGE])
    assert len(list((out / "ada").iterdir())) == 2


def test_a_leaderboard_is_remembered(folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = out / reports.BOARD
    run(capsys, folder, out, "--lessons", AUTORANGE, "--leaderboard")
    page = (out / "ada" / reports.PAGE).read_text()
    found = re.search(r"Your name on the leaderboard</dt><dd><bdi>(.*?)</bdi>", page)
    assert found
    assert found[1] in board.read_text()
    assert "<bdi>ada</bdi>" not in board.read_text()
    said(capsys, "report", out, "--leaderboard-names", "students")
    run(capsys, folder, out, "--regrade", "ada")
    assert "<bdi>ada</bdi>" in board.read_text()
    assert said(capsys, "report", out, "--no-leaderboard").code == 0
    assert not board.exists()
    run(capsys, folder, out)
    assert not board.exists()
