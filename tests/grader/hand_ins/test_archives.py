import io
import stat
import zipfile
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, collected, hand_in, notebook, zipped

from grader.desk.submit import write_zip
from grader.hand_ins import archives
from grader.hand_ins.collect import collect
from grader.hand_ins.manifest import Manifest
from grader.hand_ins.refusal import Refusal

WANTED = frozenset({"01_dot.py", "manifest.json"})


def zip_of(folder: Path, student: str, data: bytes) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{student}.zip").write_bytes(data)


def test_a_zip_is_taken_with_a_note_if_it_was_not_made_by_submit_of_this_kit(tmp_path: Path) -> None:
    kit, folder = hand_in(tmp_path, "kit", "x = 1").parent, tmp_path / "class"
    (kit / "02_timer.ipynb").write_bytes(notebook("y = 2"))
    zip_of(folder, "ada", zipped([("hw1/01_dot.py", b"x = 3"), ("__MACOSX/hw1/._01_dot.py", b"\0")]))
    zip_of(folder / "bob", "homework", zipped([("01_dot.py", b"x = 2")]))
    write_zip({"01_dot": kit / "01_dot.py"}, folder / "eve.zip", kit="0.0.1")
    write_zip({"01_dot": kit / "01_dot.py", "02_timer": kit / "02_timer.ipynb"}, folder / "may.zip", kit=KIT)
    found = collected(folder)
    assert [(one.student, one.path, str(one.source)) for one in found.submissions] == [
        ("ada", "ada.zip/hw1/01_dot.py", "x = 3"),
        ("bob", "bob/homework.zip/01_dot.py", "x = 2"),
        ("eve", "eve.zip/01_dot.py", "x = 1"),
        ("may", "may.zip/01_dot.py", "x = 1"),
        ("may", "may.zip/02_timer.ipynb", "# cell 1\ny = 2\n"),
    ]
    assert ["no manifest.json" in note for note in found.notes] == [True, True, False]
    assert found.notes[2] == f"eve: eve.zip was made with kit version 0.0.1; this kit is version {KIT}"


def test_a_file_changed_after_submit_is_refused_and_its_neighbour_is_not(tmp_path: Path) -> None:
    exercises = {
        "01_dot": hand_in(tmp_path, "kit", "x = 1"),
        "02_timer": hand_in(tmp_path, "kit", "y = 1", "02_timer"),
    }
    made = tmp_path / "made.zip"
    write_zip(exercises, made, kit=KIT)
    with zipfile.ZipFile(made) as archive:
        files = [(name, archive.read(name)) for name in archive.namelist()]
    forged = [(name, data.replace(b"x = 1", b"x = 2")) for name, data in files]
    zip_of(tmp_path / "class", "ada", zipped(forged))
    zip_of(tmp_path / "class", "bob", zipped([("01_dot.py", b""), ("manifest.json", Manifest(KIT, ()).to_json())]))
    for student, kit in (("eve", "9\n<script>"), ("may", "\ud800")):
        zip_of(tmp_path / "class", student, zipped([("manifest.json", Manifest(kit, ()).to_json())]))
    changed, same, unlisted, *unreadable = collected(tmp_path / "class").submissions
    assert {one.student for one in unreadable} == {"eve", "may"}
    assert all("manifest.json cannot be read" in one.refusal for one in unreadable)
    assert "was changed after" in changed.refusal
    assert same.source == "y = 1"
    assert "does not list 01_dot.py" in unlisted.refusal


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


def test_an_archive_made_to_do_harm_is_refused_whole(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        made = {"01_dot.py": evil_zip("01_dot.py")}
    made["a_b/01_dot.py"] = evil_zip("a_b/01_dot.py").replace(b"a_b", b"a\0b")  # zipfile writes no such name
    for kind, part in {
        "../01_dot.py": "leads out",
        "a/../../01_dot.py": "leads out",
        "/etc/01_dot.py": "leads out",
        "..\\01_dot.py": "leads out",
        "C:/01_dot.py": "leads out",
        "x" * 300: "longer than",
        "01_DOT.py": "differ only in case",
        "01_dot.p\N{FULLWIDTH LATIN SMALL LETTER Y}": "differ only in case",
        "01_dot.py": "the same name twice",
        "symlink": "link or device",
        "device": "link or device",
        "bomb": "would unpack",
        "lzma": "a compression method that the grader does not support",
        "many": "more than",
        "a_b/01_dot.py": "leads out",
    }.items():
        with pytest.raises(Refusal, match=part):
            archives.members(made.get(kind) or evil_zip(kind), WANTED)
    zip_of(tmp_path, "eve", evil_zip("../01_dot.py"))
    hand_in(tmp_path, "ada")
    fine, refused = collected(tmp_path).submissions
    assert (fine.source, refused.source) == ("right", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada", "eve.zip"]


def test_a_member_that_inflates_beyond_what_it_declares_and_a_protected_one_are_refused() -> None:
    for content, place, change, part in (
        (bytes(5_000_000), 24, (100).to_bytes(4, "little"), "damaged"),
        (b"x = 1", 8, b"\x01", "password"),
    ):
        data = bytearray(zipped([("01_dot.py", content)]))
        start = data.rindex(b"PK\x01\x02") + place
        data[start : start + len(change)] = change
        with pytest.raises(Refusal, match=part):
            archives.members(bytes(data), WANTED)


def test_a_zip_nobody_can_read_is_refused_for_the_lessons_of_the_class(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada")
    zip_of(tmp_path, "bob", b"PK but not much more")
    zip_of(tmp_path, "eve", b"")
    assert [(one.student, one.lesson, one.source) for one in collected(tmp_path).submissions] == [
        ("ada", "01_dot", "right"),
        ("bob", "01_dot", None),
        ("eve", "01_dot", None),
    ]
    (tmp_path / "ada" / "01_dot.py").unlink()
    (tmp_path / "ada").rmdir()
    found = collect(tmp_path, LESSONS, kit=KIT).submissions
    assert [(one.student, one.lesson) for one in found] == [(who, one) for who in ("bob", "eve") for one in LESSONS]
