"""`python -m grader export`, from a journal to the file that goes back to the course's system."""

import io
from pathlib import Path

import pytest
from classroom import KIT, TASKS, grade, hand_in
from commanding import said
from exported import CANVAS, MOODLE, class_of, submission
from rich.console import Console

from grader.class_run import journal
from grader.class_run.export import Wanted, export
from grader.class_run.lanes import Threads
from grader.class_run.run import grade_class
from grader.errors import UsageError


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return the output folder of two students, who were graded without any worker."""
    for student, text in (("ada", "right"), ("bob", "edge")):
        hand_in(tmp_path / "hw1", student, text)
    console = Console(file=io.StringIO())
    grade_class(
        tmp_path / "hw1", tmp_path / "out", grade=grade, tasks=TASKS[:1], lanes=Threads(1), console=console, kit=KIT
    )
    return tmp_path / "out"


def test_a_gradebook_is_filled_beside_the_export_and_the_export_stays(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text(CANVAS)
    ended = said(capsys, "export", out, "--canvas", tmp_path / "in.csv", "--to", tmp_path / "back.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == f"Wrote {tmp_path / 'back.csv'}: 2 grades, 2 of them changed."
    assert (tmp_path / "in.csv").read_text() == CANVAS
    assert (tmp_path / "back.csv").read_text() == CANVAS.replace("ada,Tuesday,,", "ada,Tuesday,6,").replace(
        'Thursday",4.00,', 'Thursday",10,'
    )


def test_a_grade_without_a_place_is_named_and_ends_with_1(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text(MOODLE.replace("bob@", "robert@").replace("Björn", "Robert"))
    ended = said(capsys, "export", out, "--moodle", tmp_path / "in.csv")
    assert ended.code == 1
    assert ended.out.splitlines()[-2:] == ["Not in the file (1):", "  bob: 01_dot 10, but 'bob' matches no row"]
    assert ",6,10.00,Yes," in (out / "moodle.csv").read_text()


@pytest.mark.parametrize("asked", [[], ["--junit", "--nbgrader"]])
def test_one_form_is_to_be_named(out: Path, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ended = said(capsys, "export", out, *asked)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Choose one format: --canvas")


def test_a_class_is_exported_while_it_is_graded(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with journal.claim(out, tmp_path / "hw1", kit=KIT):
        assert said(capsys, "export", out, "--junit").code == 0


def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    roll = class_of(submission("ada"))
    (tmp_path / "in.csv").write_text(CANVAS)
    inside = Wanted(canvas=tmp_path / "in.csv")
    for says, wanted, to, lessons, columns in (
        ("would overwrite the export", inside, tmp_path / "in.csv", (), ()),
        ("cannot be read", Wanted(canvas=tmp_path / "gone.csv"), None, (), ()),
        (r"no lesson in this class '77_none'\. There are: 01_dot", Wanted(junit=True), None, ("77_none",), ()),
        ("--column needs --canvas", Wanted(junit=True), None, (), ("01_dot=Dot",)),
        ("Write --column LESSON=TITLE", inside, None, (), ("01_dot",)),
    ):
        with pytest.raises(UsageError, match=says):
            export(roll, tmp_path, wanted, to=to, lessons=lessons, columns=columns)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
    assert (tmp_path / "in.csv").read_text() == CANVAS


def test_only_the_lessons_named_are_exported(tmp_path: Path) -> None:
    roll = class_of(submission("ada"), submission("ada", lesson="02_timer"))
    export(roll, tmp_path, Wanted(nbgrader=True), lessons=["02_timer"])
    assert "01_dot" not in (tmp_path / "nbgrader.csv").read_text()


def test_lessons_and_columns_go_by_number(tmp_path: Path) -> None:
    roll = class_of(submission("ada"))
    (tmp_path / "in.csv").write_text(CANVAS)
    by_number = export(roll, tmp_path, Wanted(junit=True), to=tmp_path / "one.xml", lessons=["1"])
    by_name = export(roll, tmp_path, Wanted(junit=True), to=tmp_path / "other.xml", lessons=["01_dot"])
    assert by_number.place.read_bytes() == by_name.place.read_bytes()
    with pytest.raises(UsageError, match="no column 'None such'"):
        export(roll, tmp_path, Wanted(canvas=tmp_path / "in.csv"), to=tmp_path / "out.csv", columns=["1=None such"])


def test_a_file_named_with_to_is_overwritten_with_force_alone(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "back.xml"
    assert said(capsys, "export", out, "--nbgrader", "--to", to).code == 0
    assert said(capsys, "export", out, "--nbgrader", "--to", to).code == 0, "a second export writes the same bytes"
    to.write_text(edited := to.read_text() + "mine\n")
    ended = said(capsys, "export", out, "--nbgrader", "--to", to)
    assert (ended.code, ended.out) == (2, "")
    assert f"{to} is there already" in ended.err
    assert "--force" in ended.err
    assert to.read_text() == edited
    assert said(capsys, "export", out, "--nbgrader", "--to", to, "--force").code == 0
    assert to.read_text() != edited


def test_what_lies_in_out_is_replaced_and_said_so(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out / "junit.xml").write_text("older")
    assert said(capsys, "export", out, "--junit").out == f"Wrote {out / 'junit.xml'}, which replaces an older file.\n"
