"""`serve --demo` makes a course with real hand-ins, and prints links that open its pages."""

import re
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
import real_server

from grader import paths
from grader.errors import UsageError
from grader.server import demo, intake
from grader.server.course_folder import CourseFolder


@pytest.mark.long
@pytest.mark.sandbox
def test_the_links_of_the_demo_open_pages_for_each_role(tmp_path: Path) -> None:
    folder, port = tmp_path / "demo", real_server.free_port()
    command = [sys.executable, "-m", "grader", "serve", "--demo", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stderr
            lines = [process.stdout.readline() for _ in range(4)]
            assert "Serving" in process.stderr.readline()
            links = [match for line in lines if (match := re.match(r"(\w+) .* (http\S+)/login#(\S+)", line))]
            assert [link[1] for link in links] == ["student", "assistant", "instructor"]
            for link in links:
                with httpx2.Client(base_url=link[2], follow_redirects=True, timeout=60) as browser:
                    page = browser.post("/login", data={"token": link[3]})
                    assert page.status_code == httpx2.codes.OK
                    assert "Measuring Python, a demo" in page.text
        finally:
            process.terminate()
            process.communicate()
    assert process.returncode == 0


def test_a_demo_has_attempts_of_each_lesson_that_differ_in_quality(tmp_path: Path) -> None:
    course = CourseFolder(tmp_path / "demo")
    demo.make(course.path)
    demo.make(course.path)  # a second time, nothing changes
    with course.opened() as opened:
        query = "SELECT lesson, count(DISTINCT student), count(DISTINCT content) FROM hand_ins GROUP BY lesson"
        found = {lesson: (students, contents) for lesson, students, contents in opened.db.execute(query)}
        assert len(found) == 3
        assert all(students == 9 and contents >= 5 for students, contents in found.values())
        assert intake.unread(opened.db) == []
        roll = opened.book.roll()
    rules = {(one.student, one.lesson): roll.course.rule(one.student, one.lesson) for one in roll.waiting}
    assert len(roll.students) == 10
    assert any(rules[one.student, one.lesson].days_late(one.at) for one in roll.waiting)


def test_a_demo_in_a_student_kit_needs_no_solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "SOLUTIONS", tmp_path / "none")
    demo.make(tmp_path / "demo")
    with CourseFolder(tmp_path / "demo").opened() as opened:
        assert opened.db.execute("SELECT count(*) FROM hand_ins").fetchone()[0] > 0


def test_a_folder_with_other_files_never_becomes_a_demo(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('title = "Mine"\n')
    with pytest.raises(UsageError, match="exists and is no demo"):
        demo.make(tmp_path)
