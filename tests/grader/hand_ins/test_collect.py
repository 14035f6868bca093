import os
import zipfile
from pathlib import Path

import pytest
from classroom import collected, hand_in, notebook

from grader.hand_ins.collect import submission_of
from grader.hand_ins.refusal import MAX_SOURCE_BYTES, digest
from grader.records import Submission
from harness.errors import UsageError


def only(folder: Path) -> Submission:
    (submission,) = collected(folder).submissions
    return submission


def refusal_of(folder: Path) -> str:
    submission = only(folder)
    assert submission.source is None
    return submission.refusal


def test_submissions_come_sorted_by_student_and_lesson(tmp_path: Path) -> None:
    for student, lesson in (("grace", "02_timer"), ("ada", "02_timer"), ("grace", "01_dot")):
        hand_in(tmp_path, student, f"# {student}\n", lesson)
    found = collected(tmp_path)
    assert [(s.student, s.lesson, s.source, s.path) for s in found.submissions] == [
        ("ada", "02_timer", "# ada\n", "ada/02_timer.py"),
        ("grace", "01_dot", "# grace\n", "grace/01_dot.py"),
        ("grace", "02_timer", "# grace\n", "grace/02_timer.py"),
    ]
    assert found.submissions[0].sha256 == digest(b"# ada\n")


def test_a_student_without_an_exercise_is_in_the_class_and_noted(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "README.md").write_text("sorry")
    found = collected(tmp_path)
    assert found.students == ("ada", "bob")
    assert found.notes == ("bob: no exercise found",)
    assert [(one.student, one.path, one.misnamed) for one in found.left_out] == [("bob", "bob/README.md", False)]


def test_what_systems_leave_behind_is_no_student_and_no_note(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    (tmp_path / "ada" / "__pycache__").mkdir()
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "README.txt").write_text("the class of 2026")
    found = collected(tmp_path)
    assert (found.students, found.notes) == (("ada",), ())


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"caf\xe9 = 1", "UTF-8"),
        ("x = 1".encode("utf-16"), "UTF-8"),
        (b"\x7fELF\0\0", "binary"),
        (b"#" * (MAX_SOURCE_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_python_text_is_refused_and_the_class_goes_on(tmp_path: Path, data: bytes, part: str) -> None:
    hand_in(tmp_path, "zoe")
    hand_in(tmp_path, "ada").write_bytes(data)
    refused, fine = collected(tmp_path).submissions
    assert refused.source is None
    assert part in refused.refusal
    assert fine.source == "right"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "gb18030"])
def test_a_file_may_declare_an_older_encoding(tmp_path: Path, encoding: str) -> None:
    source = f"# -*- coding: {encoding} -*-\nx = '§'\n"
    hand_in(tmp_path, "ada").write_bytes(source.encode(encoding))
    assert [one.source for one in collected(tmp_path).submissions] == [source]


@pytest.mark.parametrize(
    "encoding",
    ["punycode", "utf-16", "unicode_escape", "rot13", "undefined", "no-such-encoding"],
)
def test_what_is_declared_beyond_older_encodings_is_read_as_utf_8(tmp_path: Path, encoding: str) -> None:
    source = f"# coding: {encoding}\nx = 'é+AGE-\\x41'\n"
    hand_in(tmp_path, "ada").write_bytes(source.encode())
    assert [one.source for one in collected(tmp_path).submissions] == [source]


def test_an_empty_file_and_a_syntax_error_are_taken_for_the_grader_to_judge(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "")
    hand_in(tmp_path, "bob", "def (:")
    assert [submission.source for submission in collected(tmp_path).submissions] == ["", "def (:"]


def test_a_byte_order_mark_is_no_part_of_the_source(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada").write_bytes("\ufeffx = 1".encode())
    assert only(tmp_path).source == "x = 1"


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ada" / "01_dot.py").mkdir(parents=True)
    assert "is a folder" in refusal_of(tmp_path)


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    os.mkfifo(tmp_path / "ada" / "01_dot.py")
    assert "not a plain file" in refusal_of(tmp_path)


def test_a_link_to_another_students_file_is_refused(tmp_path: Path) -> None:
    secret = hand_in(tmp_path, "bob", "the answer")
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "01_dot.py").symlink_to(secret)
    ada, bob = collected(tmp_path).submissions
    assert ada.source is None
    assert "leads out" in ada.refusal
    assert bob.source == "the answer"


def test_a_broken_link_and_a_loop_of_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "01_dot.py").symlink_to("nowhere.py")
    (tmp_path / "ada" / "02_timer.py").symlink_to("02_timer.py")
    assert all("could not be read" in one.refusal for one in collected(tmp_path).submissions)


def test_a_folder_or_a_zip_that_is_a_link_to_a_neighbours_is_refused_and_the_neighbour_is_not(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "the answer")
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.writestr("01_dot.py", "another answer")
    (tmp_path / "eve").symlink_to("ada")
    (tmp_path / "eva.zip").symlink_to("bob.zip")
    (tmp_path / "evi").symlink_to("who has left")
    found = {one.student: one for one in collected(tmp_path).submissions}
    assert [found[name].source for name in ("ada", "bob")] == ["the answer", "another answer"]
    assert all("is a link" in found[name].refusal for name in ("eve", "eva", "evi"))


def test_the_same_lesson_as_text_and_as_notebook_is_refused_and_names_both(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    (tmp_path / "ada" / "01_dot.ipynb").write_bytes(notebook("x = 1"))
    assert refusal_of(tmp_path) == (
        "01_dot was handed in more than once, as ada/01_dot.ipynb and ada/01_dot.py; hand in only one of these files."
    )


def test_a_refusal_that_gets_another_reason_is_another_hand_in(tmp_path: Path) -> None:
    (tmp_path / "ada" / "01_dot.py").mkdir(parents=True)
    folder = only(tmp_path)
    (tmp_path / "ada" / "01_dot.py").rmdir()
    (tmp_path / "ada" / "01_dot.py").symlink_to("nowhere.py")
    assert only(tmp_path).sha256 != folder.sha256


@pytest.mark.parametrize("name", ["=cmd()", "<b>O'Neil", "\u202egnp", "名前", "new\nline"])
def test_a_students_name_is_kept_as_it_is(tmp_path: Path, name: str) -> None:
    hand_in(tmp_path, name)
    assert only(tmp_path).student == name


def test_a_name_that_is_no_utf8_can_still_be_written(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - a Path cannot name it
    Path(os.fsdecode(folder), "01_dot.py").write_text("x = 1")
    assert only(tmp_path).student == r"caf\xe9"


def test_a_class_that_is_not_there_is_a_usage_error_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name, part in (("gone", "does not exist"), ("file", "is a file"), ("empty", "contains no hand-in")):
        with pytest.raises(UsageError, match=part) as caught:
            collected(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_single_file_is_taken_for_check(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "ada", "x = 1")
    assert submission_of(path, student="", lesson="01_dot").source == "x = 1"
    with pytest.raises(UsageError, match="There is no file"):
        submission_of(tmp_path / "gone.py", student="", lesson="01_dot")
    with pytest.raises(UsageError, match="is not an exercise"):
        submission_of(path.parent, student="", lesson="01_dot")


def test_what_canvas_downloads_is_a_class_of_names_and_numbers_whose_times_are_not_known(tmp_path: Path) -> None:
    for name, text in (
        ("lovelaceada_101_9001_01_dot.py", "right"),
        ("lovelaceada_101_9002_02_timer-2.py", "again"),
        ("schmidtbjörn_LATE_102_9003_01_dot-1.py", "late"),
        ("schmidtbjörn_LATE_102_9004_notes.txt", "no exercise"),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "neilzoe_103_9005_submission-1.zip").write_bytes(b"PK\x03\x04")
    found = collected(tmp_path)
    assert [(one.student, one.lesson, one.source, one.handed_in) for one in found.submissions] == [
        ("lovelaceada_101", "01_dot", "right", None),
        ("lovelaceada_101", "02_timer", "again", None),
        ("neilzoe_103", "01_dot", None, None),
        ("neilzoe_103", "02_timer", None, None),
        ("schmidtbjörn_102", "01_dot", "late", None),
    ]
