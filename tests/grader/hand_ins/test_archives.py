import io
import json
import stat
import zipfile
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, collected, hand_in, notebook, zipped
from hypothesis import given
from hypothesis import strategies as st
from test_notebooks import json_values, patient

from grader.desk.submission_zip import submit
from grader.hand_ins import archives
from grader.hand_ins.collect import collect
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.refusal import Refusal
from grader.records import Submission


def only(folder: Path) -> Submission:
    (submission,) = collected(folder).submissions
    return submission


def refusal_of(folder: Path) -> str:
    submission = only(folder)
    assert submission.source is None
    return submission.refusal


def zip_of(folder: Path, student: str, data: bytes) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{student}.zip").write_bytes(data)


def test_a_zip_made_by_submit_is_taken(tmp_path: Path) -> None:
    hand_in(tmp_path, "kit", "x = 1")
    (tmp_path / "kit" / "02_timer.ipynb").write_bytes(notebook("y = 2"))
    (tmp_path / "class").mkdir()
    kit = tmp_path / "kit"
    files = {"01_dot": kit / "01_dot.py", "02_timer": kit / "02_timer.ipynb"}
    submit(files, tmp_path / "class" / "ada.zip", kit=KIT)
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
    exercise = hand_in(tmp_path, "kit")
    (tmp_path / "class").mkdir()
    submit({"01_dot": exercise}, tmp_path / "class" / "ada.zip", kit="0.0.1")
    assert collected(tmp_path / "class").notes == (
        f"ada: ada.zip was made with kit version 0.0.1; this kit is version {KIT}",
    )


def test_a_file_changed_after_submit_is_refused_and_its_neighbour_is_not(tmp_path: Path) -> None:
    exercises = {
        "01_dot": hand_in(tmp_path, "kit", "x = 1"),
        "02_timer": hand_in(tmp_path, "kit", "y = 1", "02_timer"),
    }
    made = tmp_path / "made.zip"
    submit(exercises, made, kit=KIT)
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
        ("lzma", "a compression method that the grader does not support"),
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
