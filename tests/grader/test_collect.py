import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, collected, hand_in, notebook, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import archives
from grader.collect import collect, submission_of
from grader.manifest import Manifest
from grader.notebooks import magic_line, python_source
from grader.records import Submission
from grader.refusal import MAX_SOURCE_BYTES, Refusal, digest, python_text
from grader.submit import submit
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
    assert found.notes == ("bob: left aside README.md", "bob: no exercise found")


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
    assert "no plain file" in refusal_of(tmp_path)


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


def test_a_student_folder_that_is_a_link_out_of_the_class_is_refused(tmp_path: Path) -> None:
    hand_in(tmp_path / "elsewhere", "bob", "not of this class")
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "eve").symlink_to(tmp_path / "elsewhere" / "bob")
    assert [one.source for one in collected(tmp_path / "class").submissions] == [None, None]


def test_the_same_lesson_as_text_and_as_notebook_is_refused_and_names_both(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    (tmp_path / "ada" / "01_dot.ipynb").write_bytes(notebook("x = 1"))
    assert refusal_of(tmp_path) == ("01_dot was handed in as ada/01_dot.ipynb and ada/01_dot.py; hand in only one.")


def test_a_refusal_that_gets_another_reason_is_another_hand_in(tmp_path: Path) -> None:
    (tmp_path / "ada" / "01_dot.py").mkdir(parents=True)
    folder = only(tmp_path)
    (tmp_path / "ada" / "01_dot.py").rmdir()
    (tmp_path / "ada" / "01_dot.py").symlink_to("nowhere.py")
    assert only(tmp_path).sha256 != folder.sha256


@pytest.mark.parametrize("name", ["a, b", '"q"', "=cmd()", "<b>O'Neil", "\u202egnp", "名前", "x" * 250, "new\nline"])
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
    for name, part in (("gone", "does not exist"), ("file", "is a file"), ("empty", "holds no hand-in")):
        with pytest.raises(UsageError, match=part) as caught:
            collected(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_single_file_is_taken_for_check(tmp_path: Path) -> None:
    path = hand_in(tmp_path, "ada", "x = 1")
    assert submission_of(path, student="", lesson="01_dot").source == "x = 1"
    with pytest.raises(UsageError, match="There is no file"):
        submission_of(tmp_path / "gone.py", student="", lesson="01_dot")
    with pytest.raises(UsageError, match="is no exercise"):
        submission_of(path.parent, student="", lesson="01_dot")


# ------------------------------------------------------------------------------------------------ notebooks


def test_a_notebook_gives_its_code_cells_in_order_and_nothing_it_claims_to_have_printed() -> None:
    text = python_source(notebook("x = 1\n", "def f():\n    return x"), "n.ipynb")
    assert text == "# cell 1\nx = 1\n\n# cell 2\ndef f():\n    return x\n"


@pytest.mark.parametrize(
    "cell",
    ["%timeit f()", "!pip install x", "files = !ls 'it", "%%bash\necho $X", "f?", "if x:\n    %time f()"],
)
def test_a_line_only_a_notebook_can_run_is_refused_with_its_cell(cell: str) -> None:
    with pytest.raises(Refusal, match=r"Cell 2 of n\.ipynb"):
        python_source(notebook("x = 1", cell), "n.ipynb")


@pytest.mark.parametrize(
    "cell",
    ["m = ('%s'\n     % n)", "'''\n%magic in a string\n'''", "x %= 3", "f'{x=!r}'", "# %cell", "s = 'open"],
)
def test_a_percent_sign_in_plain_python_is_no_magic(cell: str) -> None:
    assert magic_line(cell) == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"[" * 200_000,
        b"{}",
        b'{"nbformat": 3, "worksheets": []}',
        b'{"nbformat": 4, "cells": {}}',
        b'{"nbformat": 4, "cells": [1]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "virus", "source": "x"}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\ud800"}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\u0000"}]}',
        notebook(*["x"] * 3000),
        notebook("#" * (MAX_SOURCE_BYTES + 1)),
        b" " * 10_000_001,
    ],
    ids=range(15),
)
def test_a_forged_or_giant_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal):
        python_source(data, "n.ipynb")


# Timing is the machine's matter here, not the parsers'.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
json_values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=5), scalars, max_size=3)
kinds = st.sampled_from(["code", "markdown", "raw", "x"])
cell_like = st.fixed_dictionaries({"cell_type": kinds | json_values}, optional={"source": json_values})
cells = st.lists(cell_like | json_values, max_size=4)


@patient
@given(
    st.fixed_dictionaries(
        {"nbformat": st.sampled_from([4, 4.0, 3])}, optional={"cells": cells, "metadata": json_values}
    )
)
def test_no_notebook_raises_anything_but_a_refusal(content: dict[str, object]) -> None:
    try:
        text = python_source(json.dumps(content).encode(), "n.ipynb")
    except Refusal:
        return
    assert python_text(text.encode(), "n.py") == text


@patient
@given(st.text() | st.text(alphabet="%!?=()[]{}'\"\n\\ x#:f"))
def test_no_cell_confuses_the_search_for_magics(source: str) -> None:
    assert 0 <= magic_line(source) <= source.count("\n") + 1


# ------------------------------------------------------------------------------------------------- archives


def zip_of(folder: Path, student: str, data: bytes) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{student}.zip").write_bytes(data)


def test_a_zip_made_by_submit_is_taken(tmp_path: Path) -> None:
    hand_in(tmp_path, "kit", "x = 1")
    (tmp_path / "kit" / "02_timer.ipynb").write_bytes(notebook("y = 2"))
    (tmp_path / "class").mkdir()
    submit(tmp_path / "kit", tmp_path / "class" / "ada.zip", lessons=LESSONS, kit=KIT)
    found = collected(tmp_path / "class")
    assert [(one.student, one.path, one.source) for one in found.submissions] == [
        ("ada", "ada.zip/01_dot.py", "x = 1"),
        ("ada", "ada.zip/02_timer.ipynb", "# cell 1\ny = 2\n"),
    ]
    assert found.notes == ()


def test_a_zip_made_by_hand_is_taken_with_a_note_also_from_a_folder_in_it(tmp_path: Path) -> None:
    zip_of(tmp_path, "ada", zipped([("hw1/01_dot.py", b"x = 1"), ("__MACOSX/hw1/._01_dot.py", b"\0")]))
    found = collected(tmp_path)
    assert [one.source for one in found.submissions] == ["x = 1"]
    assert "no manifest.json" in found.notes[0]


def test_a_zip_within_a_students_folder_is_taken(tmp_path: Path) -> None:
    zip_of(tmp_path / "ada", "homework", zipped([("01_dot.py", b"x = 1")]))
    assert only(tmp_path).path == "ada/homework.zip/01_dot.py"


def test_a_zip_of_another_kit_is_noted(tmp_path: Path) -> None:
    hand_in(tmp_path, "kit")
    (tmp_path / "class").mkdir()
    submit(tmp_path / "kit", tmp_path / "class" / "ada.zip", lessons=LESSONS, kit="0.0.1")
    assert collected(tmp_path / "class").notes == (f"ada: ada.zip was made with kit 0.0.1, this is {KIT}",)


def test_a_file_changed_after_submit_is_refused_and_its_neighbour_is_not(tmp_path: Path) -> None:
    hand_in(tmp_path, "kit", "x = 1")
    hand_in(tmp_path, "kit", "y = 1", "02_timer")
    made = submit(tmp_path / "kit", tmp_path / "made.zip", lessons=LESSONS, kit=KIT)
    with zipfile.ZipFile(made) as archive:
        files = [(name, archive.read(name)) for name in archive.namelist()]
    forged = [(name, data.replace(b"x = 1", b"x = 2")) for name, data in files]
    zip_of(tmp_path / "class", "ada", zipped(forged))
    changed, same = collected(tmp_path / "class").submissions
    assert "was changed after" in changed.refusal
    assert same.source == "y = 1"


def test_a_file_the_manifest_does_not_list_is_refused(tmp_path: Path) -> None:
    zip_of(tmp_path, "ada", zipped([("01_dot.py", b""), ("manifest.json", Manifest(KIT, ()).to_json())]))
    assert "does not list 01_dot.py" in refusal_of(tmp_path)


def evil_zip(kind: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("01_dot.py", "x = 1")
        info = zipfile.ZipInfo("other.py")
        if kind == "symlink":
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
        elif kind == "device":
            info.external_attr = (stat.S_IFCHR | 0o666) << 16
            archive.writestr(info, "")
        elif kind == "bomb":
            archive.writestr("zeros", bytes(archives.MAX_TOTAL_BYTES + 1))
        elif kind == "lzma":
            archive.writestr("packed", "x", compress_type=zipfile.ZIP_LZMA)
        elif kind == "many":
            for number in range(archives.MAX_MEMBERS + 1):
                archive.writestr(f"{number}", "")
        else:
            archive.writestr(kind, "x = 2")
    return data.getvalue()


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("../01_dot.py", "leads out"),
        ("a/../../01_dot.py", "leads out"),
        ("/etc/01_dot.py", "leads out"),
        ("..\\01_dot.py", "leads out"),
        ("C:/01_dot.py", "leads out"),
        ("x" * 300, "longer than"),
        ("01_DOT.py", "differ only in case"),
        ("01_dot.p\N{FULLWIDTH LATIN SMALL LETTER Y}", "differ only in case"),
        ("symlink", "link or device"),
        ("device", "link or device"),
        ("bomb", "would unpack"),
        ("lzma", "not read here"),
        ("many", "more than"),
    ],
)
def test_an_archive_made_to_do_harm_is_refused_whole(tmp_path: Path, kind: str, part: str) -> None:
    zip_of(tmp_path, "eve", evil_zip(kind))
    hand_in(tmp_path, "ada")
    fine, refused = collected(tmp_path).submissions
    assert fine.source == "right"
    assert refused.source is None
    assert part in refused.refusal
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada", "eve.zip"]


def test_a_name_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = evil_zip("01_dot.py")
    zip_of(tmp_path, "eve", data)
    assert "the same name twice" in collected(tmp_path).submissions[0].refusal


def test_a_member_that_inflates_beyond_what_it_declares_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([("01_dot.py", bytes(5_000_000))]))
    start = data.rindex(b"PK\x01\x02")
    data[start + 24 : start + 28] = (100).to_bytes(4, "little")
    zip_of(tmp_path, "eve", bytes(data))
    assert "damaged" in collected(tmp_path).submissions[0].refusal


def test_a_protected_archive_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([("01_dot.py", b"x = 1")]))
    start = data.rindex(b"PK\x01\x02")
    data[start + 8] |= 1
    zip_of(tmp_path, "ada", bytes(data))
    assert "password" in collected(tmp_path).submissions[0].refusal


def test_a_zip_nobody_can_read_is_refused_for_the_lessons_of_the_class(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    zip_of(tmp_path, "bob", b"PK but not much more")
    zip_of(tmp_path, "eve", b"")
    assert [(one.student, one.lesson, one.source) for one in collected(tmp_path).submissions] == [
        ("ada", "01_dot", "right"),
        ("bob", "01_dot", None),
        ("eve", "01_dot", None),
    ]


GOOD_ZIP = zipped([("01_dot.py", b"x = 1" * 50), ("manifest.json", b"{}"), ("hw/02_timer.ipynb", notebook("x = 1"))])


@patient
@given(
    st.lists(st.tuples(st.integers(0, len(GOOD_ZIP) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, 40),
)
def test_no_damaged_archive_raises_anything_but_a_refusal(changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(GOOD_ZIP)
    for place, value in changes:
        data[place] = value
    try:
        members = archives.members(bytes(data[: len(data) - cut]), frozenset({"01_dot.py", "manifest.json"}))
    except Refusal:
        return
    assert all(isinstance(content, bytes) for content in members.values())


@patient
@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_manifest_raises_anything_but_a_refusal(data: bytes) -> None:
    with pytest.raises(Refusal):
        Manifest.from_json(data)


def test_a_class_of_zips_alone_none_of_them_readable_is_still_a_class(tmp_path: Path) -> None:
    zip_of(tmp_path, "ada", b"")
    assert [one.lesson for one in collect(tmp_path, LESSONS, kit=KIT).submissions] == list(LESSONS)
