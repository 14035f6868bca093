import io
import stat
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from classroom import KIT, LESSONS, collected, hand_in, notebook, zipped

from grader.desk.submit import write_zip
from grader.hand_ins import entries, reader
from grader.hand_ins.collect import Collection, collect
from grader.hand_ins.manifest import Manifest


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
    assert found.notes[0].startswith("ada.zip, bob/homework.zip: there is no manifest.json")
    assert found.notes[1] == f"eve: eve.zip was made with kit version 0.0.1; this kit is version {KIT}"


def test_a_file_changed_after_submit_is_refused_and_its_neighbour_is_not(tmp_path: Path) -> None:
    exercises = {"01_dot": hand_in(tmp_path, "kit", "x = 1"), "02_timer": hand_in(tmp_path, "kit", "y = 1", "02_timer")}
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


def members(*given: tuple[str, bytes] | tuple[str, bytes, int]) -> bytes:
    """Return a zip; an entry is a name, its bytes, and the kind of file in its Unix mode, or 8 for LZMA."""
    data = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, *kind in given:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_LZMA if kind == [8] else zipfile.ZIP_DEFLATED
            info.external_attr = kind[0] << 16 if kind else 0
            archive.writestr(info, content)
    return data.getvalue()


def changed(data: bytes, field: int, value: bytes, record: bytes = b"PK\x01\x02") -> bytes:
    """Return a zip with other bytes in the last record of this kind."""
    start = data.rindex(record) + field
    return data[:start] + value + data[start + len(value) :]


def of_one(tmp_path: Path, data: bytes) -> Collection:
    zip_of(tmp_path, "ada", data)
    return collect(tmp_path, LESSONS, kit=KIT, require=False)


DOT = ("01_dot.py", b"right")
ESCAPED = members(DOT, ("a_b/x", b""))
REFUSED = {
    "a path that leaves it": (members(DOT, ("a/../../notes.txt", b"")), "leads out of it ('a/../../notes.txt')"),
    "a path of Windows that leaves it": (members(DOT, ("..\\notes.txt", b"")), "leads out"),
    "a zero in a name": (ESCAPED.replace(b"a_b", b"a\0b"), "leads out"),
    "a link that is the exercise": (members(("hw/01_dot.py", b"/etc/passwd", stat.S_IFLNK)), "hw/01_dot.py is a link"),
    "an exercise in LZMA": (members(("01_dot.py", b"", 8)), "01_dot.py has a compression method"),
    "an exercise with a password": (changed(members(DOT), 8, b"\x01"), "01_dot.py is protected by a password"),
    "an exercise longer than declared": (changed(members(("01_dot.py", bytes(5_000_000))), 24, b"d\0\0\0"), "damaged"),
    "an exercise of 12 MB": (members(("01_dot.py", bytes(12_000_000))), "larger than"),
    "many copies of the exercise": (members(*((f"{n}/01_dot.py", b"%d" % n) for n in range(60))), "more than 50 times"),
    "names that differ in case": (
        members(DOT, ("01_DOT.py", b"wrong")),
        "01_DOT.py and ada.zip/01_dot.py; hand in only one",
    ),
    "one name twice": (members(DOT, ("01_dot.py", b"wrong")), "handed in more than once"),
    "no zip": (b"PK but not much more", "damaged"),
}
HARMLESS = {
    "marks of Windows": members(DOT, ("01_dot.py:Zone.Identifier", b"[ZoneTransfer]")),
    "backslashes": members(("hw\\01_dot.py", b"right")),
    "a drive": members(("C:\\Users\\ada\\01_dot.py", b"right"), ("/etc/x", b"")),
    "other names that differ in case": members(DOT, ("A.txt", b""), ("a.txt", b"")),
    "the same exercise twice": members(DOT, ("copy/01_DOT.PY", b"right")),
    "tools": members(DOT, *((f"{where}/m{n}.py", b"") for where in (".venv", "a/node_modules") for n in range(900))),
    "an environment": members(DOT, ("env/pyvenv.cfg", b""), ("env/lib/01_dot.py", b"other")),
    "a checkpoint": members(DOT, (".ipynb_checkpoints/01_dot.ipynb", b"other"), ("01_dot-checkpoint.py", b"other")),
    "a link and a device beside it": members(DOT, ("python", b"/bin", stat.S_IFLNK), ("zero", b"", stat.S_IFCHR)),
    "a bomb beside it": members(DOT, ("zeros", bytes(60_000_000))),
    "another file with a password": changed(members(DOT, ("x.pdf", b"x")), 8, b"\x01"),
    "a copy of the course": members(("kit/lessons/exercises/01_dot.py", b"right"), ("kit/lessons/01_dot.py", b"x = 1")),
    "a zip in a zip": zipped([("my work.zip", members(DOT))]),
}


def test_a_hand_in_that_takes_too_long_to_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "READ_S", -1.0)
    refused, *_ = of_one(tmp_path, members(DOT)).submissions
    assert "take too long to read" in refused.refusal


@pytest.mark.parametrize("what", REFUSED)
def test_a_zip_is_refused_for_what_threatens_and_the_refusal_names_it(tmp_path: Path, what: str) -> None:
    data, part = REFUSED[what]
    hand_in(tmp_path, "eve")
    refused, other = of_one(tmp_path, data).submissions
    assert (refused.student, refused.source, other.source) == ("ada", None, "right")
    assert part in refused.refusal
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.zip", "eve"]


@pytest.mark.parametrize("what", HARMLESS)
def test_what_is_harmless_is_ignored_in_a_zip_and_in_its_folder(tmp_path: Path, what: str) -> None:
    (found,) = of_one(tmp_path / "zips", HARMLESS[what]).submissions
    assert (found.lesson, found.source, found.handed_in is not None) == ("01_dot", "right", True)
    with zipfile.ZipFile(io.BytesIO(HARMLESS[what])) as archive:
        for info in archive.infolist() if "\\" not in archive.namelist()[0] and "\1" not in what else ():
            with suppress(OSError, RuntimeError):
                archive.extract(info, tmp_path / "folders" / "ada")
    if (tmp_path / "folders").exists():
        (same,) = collect(tmp_path / "folders", LESSONS, kit=KIT).submissions
        assert (same.lesson, same.source) == ("01_dot", "right")


def test_more_files_than_a_hand_in_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_FILES", 20)
    monkeypatch.setattr("grader.hand_ins.archives.MAX_FILES", 20)
    for number in range(21):
        hand_in(tmp_path, "bob", lesson=f"draft{number}")
    found = of_one(tmp_path, members(*((f"{n}", b"") for n in range(21)))).submissions
    assert {one.student for one in found if "contains more than 20 files" in one.refusal} == {"ada", "bob"}
