"""`python -m grader export`, from a journal to the file that goes back to the course's system."""

from pathlib import Path

import pytest
from classroom import KIT, hand_in, run
from commanding import said
from exported import CANVAS, MOODLE

from grader.class_run import journal


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return the output folder of two students, who were graded without any worker."""
    hand_in(tmp_path / "hw1", "ada", "right")
    hand_in(tmp_path / "hw1", "bob", "edge")
    run(tmp_path / "hw1", tmp_path / "out", lessons=("01_dot",))
    return tmp_path / "out"


def test_a_gradebook_is_filled_beside_the_export(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.csv").write_text(CANVAS)
    ended = said(capsys, "export", out, "--canvas", tmp_path / "in.csv", "--to", tmp_path / "back.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == f"Wrote {tmp_path / 'back.csv'}: 2 grades, 2 of them changed."
    assert (tmp_path / "in.csv").read_text() == CANVAS
    (tmp_path / "m.csv").write_text(MOODLE.replace("bob@", "robert@").replace("Björn", "Robert"))
    ended = said(capsys, "export", out, "--moodle", tmp_path / "m.csv")
    assert (ended.code, ended.out.splitlines()[-1]) == (1, "  bob: 01_dot 10, but 'bob' matches no row")
    assert ",6,10.00,Yes," in (out / "moodle.csv").read_text()
    assert (tmp_path / "back.csv").read_text() == CANVAS.replace("ada,Tuesday,,", "ada,Tuesday,6,").replace(
        'Thursday",4.00,', 'Thursday",10,'
    )


def test_what_does_not_fit_is_refused(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source := tmp_path / "in.csv").write_text(CANVAS)
    with (tmp_path / "movie.csv").open("wb") as file:
        file.truncate(50_000_001)
    cases: dict[str, list[str | Path]] = {
        "would overwrite the export": ["--canvas", source, "--to", source],
        "cannot be read": ["--canvas", tmp_path / "gone.csv"],
        "larger than 50,000,000 bytes": ["--moodle", tmp_path / "movie.csv"],
        "no lesson in this class '77_none'. There are: 01_dot": ["--junit", "--lessons", "77_none"],
        "no column 'None such'": ["--canvas", source, "--column", "1=None such"],
    }
    for says, asked in cases.items():
        ended = said(capsys, "export", out, *asked)
        assert (ended.code, ended.out, says in ended.err) == (2, "", True), ended.err
    assert source.read_text() == CANVAS


def test_force_overwrites_a_file_named_with_to(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "new" / "back.xml"
    arguments = ("export", out, "--nbgrader", "--lessons", "1", "--to", to)
    with journal.claim(out, tmp_path / "hw1", kit=KIT):  # a class can be exported while it is graded
        assert said(capsys, *arguments).code == 0
    assert said(capsys, *arguments).code == 0, "a second export writes the same bytes"
    assert "01_dot" in to.read_text()
    to.write_text(edited := to.read_text() + "mine\n")
    ended = said(capsys, *arguments)
    assert (ended.code, ended.out, to.read_text()) == (2, "", edited)
    assert f"{to} is there already" in ended.err
    assert said(capsys, *arguments, "--force").code == 0
    assert to.read_text() != edited
