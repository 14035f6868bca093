"""`fairclock return`, from a journal to the file that a course system takes as feedback."""

import re
import zipfile
from pathlib import Path

import pytest
from classroom import hand_in, run
from commanding import said

from grader.class_run.feedback import EXPECTED, Form, slot
from grader.course.roster import Person, Roster

CANVAS = ("otaren_9_12345_01_dot.py", "lovelaceada_LATE_10_12346_01_dot.py", "anon_x7k2p_991122_01_dot-2.py")
MOODLE = ("Ren Ota_70123_assignsubmission_file_/01_dot.py", "Zoë O'Neil_70124_assignsubmission_file/01_dot.py")


def canvas_takes(name: str) -> tuple[str, str] | None:
    """Return the student's number and the file's number, as Canvas reads them from the name of a feedback file."""
    parts = [part for part in Path(name).name.split("_") if part != "LATE"]
    user, file = parts[1:3] if parts[0] == "anon" else [part for part in parts if re.fullmatch(r"\d+", part)][:2]
    return None if parts[-1].startswith("link") else (user, file)


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Return the output folder of a class in the forms of Canvas and of a folder for each student."""
    folder = tmp_path / "hw"
    for path in (*CANVAS, "bob/01_dot.py"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("right" + path)
    run(folder, tmp_path / "out", lessons=("01_dot",))
    return tmp_path / "out"


def pages_in(place: Path) -> dict[str, str]:
    with zipfile.ZipFile(place) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_canvas_gives_each_page_to_its_student(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = said(capsys, "return", graded, "--for", "canvas")
    place = graded / "canvas-feedback.zip"
    pages = pages_in(place)
    assert {canvas_takes(name) for name in pages} == {("9", "12345"), ("10", "12346"), ("x7k2p", "991122")}
    assert (ended.code, ended.out.splitlines()[1:]) == (
        1,
        ["Not returned (1):", f"  bob: bob/01_dot.py has no name such as {EXPECTED[Form.CANVAS]}"],
    )
    name, page = next((name, page) for name, page in pages.items() if "_10_" in name)
    assert "lovelaceada_10" in page
    assert not re.search(r"""otaren|bob|<script|<a href="[^#]|src=""", page), f"{name} must stand alone"
    (other := graded.parent / "mine.zip").write_bytes(b"mine")
    assert said(capsys, "return", graded, "--for", "canvas", "--to", other).code == 2
    assert other.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("form", "paths", "name"),
    [
        (Form.CANVAS, ["otaren_9_12_01_dot.py", "otaren_9_345_hw.zip/hw/02.py"], "otaren_9_345_report.html"),
        (Form.CANVAS, ["teamred_blue_LATE_9_12_my_link.py"], "teamred_blue_LATE_9_12_report.html"),
        (Form.CANVAS, ["LATE_anon_x7_12_01_dot.py"], "LATE_anon_x7_12_report.html"),
        (Form.CANVAS, ["Ren Ota_7_assignsubmission_file_01_dot.py"], None),
        (Form.CANVAS, ["ren/otaren_9_12_01_dot.py", "ren.zip/01_dot.py", "01_dot.py"], None),
        (Form.MOODLE, [MOODLE[0]], "Ren Ota_70123_assignsubmission_file_/report.html"),
        (Form.MOODLE, [MOODLE[1]], "Zoë O'Neil_70124_assignsubmission_file/report.html"),
        (Form.MOODLE, ["Ren Ota_7_assignsubmission_file_01_dot.py"], "Ren Ota_7_assignsubmission_file_report.html"),
        (Form.MOODLE, ["A_7_assignsubmission_onlinetext_/a.py", "A_7_assignsubmission_file_/a.py"],
         "A_7_assignsubmission_file_/report.html"),
        (Form.MOODLE, ["otaren_9_12_01_dot.py"], None),
        (Form.FOLDER, ["ren/01_dot.py", "ren/02_timer.py"], "ren/report.html"),
        (Form.FOLDER, ["Ren.ZIP/kit/01_dot.py"], "Ren/report.html"),
        (Form.FOLDER, ["otaren_9_12_01_dot.py"], "otaren_9_12_01_dot.html"),
    ],
)  # fmt: skip
def test_the_name_of_a_page_is_the_name_that_the_platform_gave(form: Form, paths: list[str], name: str | None) -> None:
    found = slot(form, "ren", paths)
    assert (found.name if found else None) == name
    if found and form is Form.CANVAS:
        assert (canvas_takes(found.name) or ("",))[0] == found.owner.removeprefix("anon_")


def test_a_folder_has_one_page_for_each_student(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (old := graded / "_feedback" / "gone" / "report.html").parent.mkdir(parents=True)
    old.write_text("older")
    assert said(capsys, "return", graded, "--for", "folder").code == 0
    found = {str(path.relative_to(old.parents[1])) for path in old.parents[1].rglob("*.html")}
    assert found == {*(name.replace(".py", ".html") for name in CANVAS), "bob/report.html"}


def test_no_group_gets_the_page_of_one_member(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in ("otarenmaria_9_12_01_dot.py", "teamzoë_10_13_01_dot.py", "lovelace_11_14_01_dot.py"):
        (tmp_path / "hw").mkdir(exist_ok=True)
        (tmp_path / "hw" / file).write_text("right")
    people = (Person("Ren Ota", "9"), Person("Zoë Li", "10"), Person("Ada Byron", "11", other_names=("Lovelace",)))
    run(tmp_path / "hw", tmp_path / "out", lessons=("01_dot",), roster=Roster(people))
    ended = said(capsys, "return", tmp_path / "out", "--for", "canvas")
    names = list(pages_in(tmp_path / "out" / "canvas-feedback.zip"))
    assert names == ["lovelace_11_14_report.html", "otarenmaria_9_12_report.html"]
    assert (ended.code, "Zoë Li: teamzoë_10_13_report.html is named after 'teamzoë'" in ended.out) == (1, True)


def test_no_student_gets_another_or_unfinished_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "hw"
    for number, name in enumerate(
        ("A_7_assignsubmission_file_", "B_7_assignsubmission_file_", "C_8_assignsubmission_file")
    ):
        hand_in(folder, name, f"right {number}")
    hand_in(folder, "D_9_assignsubmission_file_", "boom")
    run(folder, tmp_path / "out", lessons=("01_dot",))
    ended = said(capsys, "return", tmp_path / "out", "--for", "moodle")
    assert list(pages_in(tmp_path / "out" / "moodle-feedback.zip")) == ["C_8_assignsubmission_file/report.html"]
    assert (ended.code, ended.out.count("belongs to several students"), ended.out.count("no final grade")) == (1, 2, 1)
    ended = said(capsys, "return", tmp_path / "out", "--for", "canvas")
    assert (ended.code, ended.out.splitlines()[:2]) == (1, ["There is no page to write.", "Not returned (4):"])
    assert not (tmp_path / "out" / "canvas-feedback.zip").exists()
