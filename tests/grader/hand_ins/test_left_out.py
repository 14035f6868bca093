"""Files that are not graded are listed for the instructor and for the student, with a guess at what they are."""

import os
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, hand_in, run, zipped
from outline import Outline

from grader import reports
from grader.course.course_file import parse
from grader.hand_ins.collect import collect
from grader.records import LeftOut

KNOWN = ("01_dot", "02_timer", "04_autorange", "05_compare")


def left_out(folder: Path) -> dict[str, LeftOut]:
    return {one.path: one for one in collect(folder, LESSONS, kit=KIT, known=KNOWN).left_out}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class in which only ada's file has the right name."""
    folder = tmp_path / "hw1"
    hand_in(folder, "ada")
    hand_in(folder, "bob", "right", "5_compare")
    hand_in(folder, "bob", "'''Check your work with  python -m grader check 02_timer'''", "hw2")
    (folder / "bob" / "02_timer.pdf").write_bytes(b"%PDF")
    (folder / "bob" / "x").write_bytes(b"\x89PNG")
    (folder / "carla").mkdir()
    (folder / "carla" / "notes.txt").write_text("none")
    (folder / "carla" / "all.tar.gz").write_bytes(b"\x1f\x8b")
    (folder / "dora.zip").write_bytes(zipped([("1_dot.py", b"right"), ("a/helpers.py", b"x"), ("__MACOSX/x.py", b"")]))
    (folder / "emil.rar").write_bytes(b"Rar!")
    (folder / "fay_101_9001_hw.py").write_text("right")
    (folder / "04_autorange.py").write_text("right")
    return folder


def test_what_may_be_an_exercise_is_misnamed_and_says_how_to_hand_it_in(folder: Path) -> None:
    found = left_out(folder)
    assert {path: (one.student, one.lesson) for path, one in found.items() if one.misnamed} == {
        "bob/5_compare.py": ("bob", "05_compare"),
        "bob/hw2.py": ("bob", "02_timer"),
        "dora.zip/1_dot.py": ("dora", "01_dot"),
        "dora.zip/a/helpers.py": ("dora", ""),
        "fay_101_9001_hw.py": ("fay_101", ""),
    }
    assert found["bob/hw2.py"].why == "It looks like 02_timer. If it is, hand it in as 02_timer.py."
    assert found["bob/5_compare.py"].why == (
        "It looks like 05_compare, which is not graded in this class. Graded: 01_dot, 02_timer."
    )
    for path, kind in {"emil.rar": "a RAR archive", "bob/02_timer.pdf": "a PDF", "bob/x": "a picture"}.items():
        assert (found[path].why.startswith(f"It is {kind}"), found[path].misnamed) == (True, False)
    assert found["04_autorange.py"].why.startswith("It is beside the students' folders, so it belongs to no student.")
    assert not found["carla/notes.txt"].misnamed


def test_instructor_and_student_read_what_was_left_out(folder: Path, tmp_path: Path) -> None:
    summary, said = run(folder, tmp_path / "out")
    assert "To check by hand: 6 misnamed." in summary.lines()[0]
    assert "12 files not graded, with reasons in report.html" in said
    hand_in(tmp_path / "hw2", "ada")
    run(tmp_path / "hw2", tmp_path / "out", lessons=["01_dot"])
    page = Outline((tmp_path / "out" / reports.PAGE).read_text()).text
    human = page[page.index("To check by hand") : page.index("Distribution of points")]
    assert f'"hw2.py" = "02_timer" python -m grader run {folder} --out' in human
    assert "notes.txt" not in human
    assert "carla: files that were not graded: all.tar.gz, notes.txt" in page
    text = Outline((tmp_path / "out" / "bob" / reports.PAGE).read_text()).text
    assert "bob/hw2.py : It looks like 02_timer. If it is, hand it in as 02_timer.py." in text
    assert "carla" not in text
    assert "bob/hw2.py was not graded. It looks like" in (tmp_path / "out" / "bob" / reports.RESULTS).read_text()
    assert "Files that were not graded" not in (tmp_path / "out" / "ada" / reports.PAGE).read_text()


def test_a_pipe_a_link_and_another_lesson_are_left_out_and_not_read(tmp_path: Path) -> None:
    hand_in(tmp_path / "hw1", "ada")
    hand_in(tmp_path / "hw1", "ada", "right", "04_autorange")
    os.mkfifo(tmp_path / "hw1" / "ada" / "hw2.py")
    (tmp_path / "hw1" / "ada" / "hw3.py").symlink_to("/etc/passwd")
    found = left_out(tmp_path / "hw1")
    assert found["ada/hw3.py"].why == "It is a link. Hand in the file itself."
    assert found["ada/hw2.py"].misnamed
    other = found["ada/04_autorange.py"]
    assert (other.misnamed, other.why) == (False, "04_autorange is not graded in this class.")


def test_a_misnamed_file_is_the_exercise_that_the_course_file_names(tmp_path: Path) -> None:
    for name in ("ada/HW (1).py", "bob/hw (1).py", "bob/x.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}")
    course = parse(f'files."hw (1).py" = "{LESSONS[0]}"\nfiles.bob."x.py" = "{LESSONS[1]}"', "course.toml")
    found = collect(tmp_path, LESSONS, kit=KIT, lesson_of=course.lesson_of).submissions
    assert [(one.path, one.lesson) for one in found] == [
        ("ada/HW (1).py", LESSONS[0]),
        ("bob/hw (1).py", LESSONS[0]),
        ("bob/x.py", LESSONS[1]),
    ]
