import os
import zipfile
from pathlib import Path

from classroom import collected, hand_in, notebook

from grader.hand_ins.refusal import MAX_SOURCE_BYTES, digest


def test_a_class_has_sorted_submissions_and_also_students_without_one_but_no_files_of_systems(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "# ada\n", "02_timer")
    hand_in(tmp_path, "ada")
    (tmp_path / "ada" / "__pycache__").mkdir()
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "README.md").write_text("sorry")
    found = collected(tmp_path)
    assert (found.students, found.notes) == (("ada", "bob"), ("bob: no exercise, only other files",))
    assert [(one.student, one.path, one.misnamed) for one in found.left_out] == [("bob", "bob/README.md", False)]
    assert [one.path for one in found.submissions] == ["ada/01_dot.py", "ada/02_timer.py"]
    assert found.submissions[1].sha256 == digest(b"# ada\n")


def test_a_file_that_is_no_python_text_is_refused_and_any_text_is_taken(tmp_path: Path) -> None:
    refused = {
        "latin": (b"caf\xe9 = 1", "UTF-8"),
        "utf-16": ("x = 1".encode("utf-16"), "UTF-8"),
        "elf": (b"\x7fELF\0\0", "binary"),
        "long": (b"#" * (MAX_SOURCE_BYTES + 1), "larger than"),
    }
    taken = {"empty": "", "wrong": "def (:", "marked": "x = 1"}
    texts = {"marked": "\ufeffx = 1".encode()}
    for encoding in ("latin-1", "cp1252", "gb18030"):
        taken[encoding] = f"# -*- coding: {encoding} -*-\nx = '§'\n"
        texts[encoding] = taken[encoding].encode(encoding)
    for encoding in ("punycode", "utf-16-le", "unicode_escape", "rot13", "undefined", "no-such-encoding"):
        taken[encoding] = f"# coding: {encoding}\nx = 'é+AGE-\\x41'\n"  # read as UTF-8
    for student in (*refused, *taken):
        data = refused[student][0] if student in refused else texts.get(student, taken.get(student, "").encode())
        hand_in(tmp_path, student).write_bytes(data)
    found = {one.student: one for one in collected(tmp_path).submissions}
    assert {student: found[student].source for student in taken} == taken
    for student, (_, part) in refused.items():
        assert (found[student].source, part in found[student].refusal) == (None, True), student


def test_what_is_no_plain_file_of_the_student_is_refused_and_the_neighbours_are_not(tmp_path: Path) -> None:
    secret = hand_in(tmp_path, "bob", "the answer")
    with zipfile.ZipFile(tmp_path / "bill.zip", "w") as archive:
        archive.writestr("01_dot.py", "another answer")
    (tmp_path / "folder" / "01_dot.py").mkdir(parents=True)
    for student, target in (("linked", str(secret)), ("broken", "nowhere.py"), ("loop", "01_dot.py")):
        (tmp_path / student).mkdir()
        (tmp_path / student / "01_dot.py").symlink_to(target)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "01_dot.py")
    for name, target in (("eve", "bob"), ("eva.zip", "bill.zip"), ("evi", "who has left")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "evan_104_9006_01_dot.py").symlink_to("bob/01_dot.py")
    hand_in(tmp_path, "twice")
    (tmp_path / "twice" / "01_dot.ipynb").write_bytes(notebook("x = 1"))
    found = {one.student: one for one in collected(tmp_path).submissions}
    assert [found[name].source for name in ("bob", "bill")] == ["the answer", "another answer"]
    for student, part in {
        "folder": "is a folder",
        "linked": "leads out",
        "broken": "could not be read",
        "loop": "could not be read",
        "pipe": "not a plain file",
        **dict.fromkeys(("eve", "eva", "evi", "evan_104"), "is a link"),
        "twice": "01_dot was handed in more than once, as twice/01_dot.ipynb and twice/01_dot.py; hand in only one",
    }.items():
        assert (found[student].source, part in found[student].refusal) == (None, True), student
    assert len({found[student].sha256 for student in ("folder", "linked", "broken")}) == 3, "one for each reason"
