"""Grade the first week of a course as an instructor would: with real commands, interruptions and appeals."""

import csv
import io
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from commanding import PATIENCE_S, CommandResult, command, grader, nothing_left_running, rows
from first_week import AUTORANGE, COURSE, HANDED_IN, LEFT_OUT, STRUCK, TIMER, contents, expected, write
from once import once
from outline import Outline

pytestmark = [pytest.mark.slow, pytest.mark.long]

STUDENTS = (*HANDED_IN, "ivy")
LESSONS = (TIMER, AUTORANGE)


@dataclass
class Course:
    """The folder of hand-ins, the folder of grades, and the course file."""

    folder: Path
    out: Path
    rules: Path

    def run(self, *options: str) -> list[str | Path]:
        return ["run", self.folder, "--out", self.out, "--no-sandbox", "--jobs", "2", *options]

    def stopped(self, number: int, how: signal.Signals, *options: str) -> int:
        """Start grading, and stop it after this many gradings."""
        with nothing_left_running(60):
            begun = subprocess.Popen(
                command(*self.run(*options)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            deadline_s = time.monotonic() + PATIENCE_S
            while self.gradings() < number:
                assert begun.poll() is None, begun.communicate()
                assert time.monotonic() < deadline_s
                time.sleep(0.01)
            begun.send_signal(how)
            begun.communicate(timeout=PATIENCE_S)
        return begun.returncode

    def gradings(self) -> int:
        return rows(self.out, "SELECT count(*) FROM gradings")[0][0] if rows(self.out, "SELECT 1 FROM meta") else 0

    def points(self) -> dict[str, dict[str, float | None]]:
        """Return the points in the gradebook."""
        table = list(csv.reader(io.StringIO((self.out / "gradebook.csv").read_text())))
        return {row[3]: _by_lesson(row[5:7]) for row in table[2:]}

    def text(self, *names: str) -> str:
        return Outline(self.out.joinpath(*names, "report.html").read_text()).text


def _by_lesson(cells: list[str]) -> dict[str, float | None]:
    return {lesson: float(cell) if cell else None for lesson, cell in zip(LESSONS, cells, strict=True)}


def promised(which: str) -> dict[str, dict[str, float | None]]:
    """Return the points that the course's rules give each student, computed without the grader."""
    return {student: {lesson: expected(student, lesson, which) for lesson in LESSONS} for student in sorted(STUDENTS)}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a class whose grading was interrupted, killed, and then finished by the same command."""

    def grade(room: Path) -> None:
        course = Course(room / "hw1", room / "grades", room / "course.toml")
        write(course.folder)
        course.rules.write_text(COURSE.format(which="latest"))
        asked = ("--lessons", TIMER, "--lessons", AUTORANGE, "--course", str(course.rules), "--leaderboard")
        assert course.stopped(4, signal.SIGINT, *asked) == 130
        assert course.stopped(course.gradings() + 3, signal.SIGKILL) == -signal.SIGKILL
        ended = grader(*course.run())
        assert ended.code == 0, ended.out + ended.err
        assert "To check by hand: 6 misnamed, 1 refused." in ended.out

    room = once(tmp_path_factory, "week", grade)
    return Course(room / "hw1", room / "grades", room / "course.toml")


@pytest.fixture
def course(graded: Course, tmp_path: Path) -> Course:
    """Return the graded class with its own copy of the grades, which the test may change."""
    shutil.copytree(graded.out, tmp_path / "grades")
    return replace(graded, out=tmp_path / "grades", rules=tmp_path / "course.toml")


def test_every_student_gets_what_the_rules_promise_and_equal_content_is_graded_once(course: Course) -> None:
    assert course.points() == promised("latest")
    assert rows(course.out, "SELECT count(DISTINCT lesson || content) FROM gradings") == [
        (len(set(contents("latest"))),)
    ]
    assert rows(course.out, "SELECT count(*) FROM gradings WHERE regrade") == [(0,)]


def test_every_file_that_was_left_out_is_found_by_the_instructor_and_by_its_student(course: Course) -> None:
    page = course.text()
    human = page[page.index("To check by hand") : page.index("Distribution of points")]
    for student, files in LEFT_OUT.items():
        for path, lesson in files.items():
            assert f"{student} {path} misnamed{f': looks like {lesson}' if lesson else ''}" in human
            assert f"{path} : " in course.text(student)
    assert "s26: files that were not graded: README.txt" in page
    assert "s26/README.txt : It is not an exercise" in course.text("s26")


def test_the_class_page_tells_stubs_syntax_errors_copies_and_lateness_apart(course: Course) -> None:
    page = course.text()
    assert f"{AUTORANGE} 6 s01 , s02 , s03 , s04 , s05 , s30" in page
    assert f"{AUTORANGE} 2 s09 , s10" in page
    assert f"{AUTORANGE} 2 s12 , s13" in page
    assert f"{AUTORANGE}, 3 students: s19 , s20 , s21" in page
    assert "s19 0 0 one not written yet, one wrong 0 not written yet" in page
    assert "s22 0 nothing handed in 0 syntax error" in page
    assert f"s15 {AUTORANGE} 2 days late: 20 % are taken off, so 8 of the 10 earned points count." in page
    assert f"s08, {AUTORANGE}: attempt excluded by the course file: s08/" in page
    assert "late" not in page[page.index("Ignored files") : page.index("Find")]


def test_a_student_can_check_the_dates_and_sees_nobody_else(course: Course) -> None:
    text = course.text("s18")
    assert "Due 2026-11-22 23:59:00 CET (your own due date; the class has 2026-11-20 23:59:00 CET)" in text
    assert "Handed in 2026-11-23 04:59:00 CET, 1 day late" in text
    assert "1 day late: 10 % are taken off, so 9 of the 10 earned points count." in text
    for student in HANDED_IN:
        assert not [other for other in STUDENTS if other != student and other in course.text(student).split()]
    assert "cgroup" not in "".join(course.text(student) for student in HANDED_IN)
    assert "nothing handed in , this exercise has 10 points" in course.text("ivy")


def test_equal_answers_share_a_place_on_the_leaderboard(course: Course) -> None:
    board = (course.out / "leaderboard.html").read_text()
    places = re.findall(r'class="place">(.*?)<', board[board.index(f'id="{AUTORANGE}') :])
    assert Counter(places).most_common(1)[0][1] == 6, "s01 to s05 and s30"
    assert set(Counter(places).values()) == {6, 2, 1}


def test_what_one_is_graded_again_for_holds_for_all_with_that_file(course: Course) -> None:
    before = course.gradings()
    ended = grader(*course.run("--regrade", "s01"))
    assert ended.code == 0
    assert "graded again for s01; s02, s03, s04, s05, s30 handed in the same content" in ended.out
    assert course.gradings() == before + 1
    assert course.points() == promised("latest")


def test_another_policy_waits_for_the_grades_it_needs_and_exports_what_the_rules_promise(course: Course) -> None:
    best = course.rules.with_name("best.toml")
    best.write_text(COURSE.format(which="best"))
    ended = grader("report", course.out, "--course", best)
    assert ended.code == 3
    waiting = {student for student in ("s06", "s07") if f"{student}, {AUTORANGE} (" in ended.out}
    assert waiting == {"s06", "s07"}
    assert [course.points()[student][AUTORANGE] for student in sorted(waiting)] == [None, None]
    assert grader("export", course.out, "--nbgrader").code == 1

    (asked,) = (line for line in ended.out.splitlines() if line.startswith("  python -m grader run "))
    graded = subprocess.run(
        [sys.executable, *shlex.split(asked)[1:]], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert graded.returncode == 0, graded.stderr
    assert course.points() == promised("best")
    assert rows(course.out, "SELECT count(*) FROM gradings WHERE sha256 = ?".replace("?", f"'{STRUCK.sha256}'")) == [
        (0,)
    ]

    exported: CommandResult = grader("export", course.out, "--nbgrader")
    assert exported.code == 0
    table = csv.DictReader(io.StringIO((course.out / "nbgrader.csv").read_text()))
    scores = {(row["student_id"], row["assignment"]): float(row["score"]) for row in table}
    assert scores == {
        (student, lesson): points or 0.0
        for student, given in promised("best").items()
        for lesson, points in given.items()
    }
