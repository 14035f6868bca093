"""A policy needs a missing grade: which student waits for it, and which command grades the attempt."""

import csv
import io
import shlex
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from classroom import LESSONS, hand_in, points
from commanding import CommandResult, said
from exported import CANVAS
from outline import Outline
from test_attempts import attempt, run

from grader import reports, seeds
from grader.class_run import journal
from grader.commands import instructor
from grader.course import course_file

BEST = 'timezone = "UTC"\nattempts = "best"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class in which ada's first attempt was never graded. Her second one is wrong, and bob's is right."""
    attempt(tmp_path / "hw1", "2026-11-20T12-00-00", "right")
    attempt(tmp_path / "hw1", "2026-11-21T12-00-00", "wrong")
    hand_in(tmp_path / "hw1", "bob", "right # bob")
    run(tmp_path / "hw1", "latest")
    return tmp_path / "hw1"


@pytest.fixture(autouse=True)
def _lessons_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the commands accept the lessons of this class, which are not in the kit."""
    monkeypatch.setattr(instructor, "read_course", lambda file, _lessons: course_file.read(file, LESSONS))


def report(capsys: pytest.CaptureFixture[str], folder: Path, policy: str) -> CommandResult:
    (folder.parent / "other.toml").write_text(policy)
    return said(capsys, "report", folder.parent / "out", "--course", folder.parent / "other.toml")


def struck(text: str) -> str:
    return f'[struck.ada]\n01_dot = ["{sha256(text.encode()).hexdigest()[:12]}"]\n'


def test_an_ungraded_attempt_that_counts_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder.parent / "out"
    command = shlex.join(["python", "-m", "grader", "run", str(folder), "--out", str(out)])
    for policy in (BEST, 'attempts = "first"\n', struck("wrong")):
        ended = report(capsys, folder, policy)
        assert ended.code == 3
        waiting = "Hand-ins that may count but have no grade (1): ada, 01_dot (ada/2026-11-20T12-00-00/01_dot.py)."
        assert {waiting, f"  {command}"} <= set(ended.out.splitlines())
        assert points(folder.parent / "out") == {"ada": "", "bob": "6"}
    text = Outline((out / "ada" / reports.PAGE).read_text()).text
    assert "not graded yet" in text
    assert "Waiting to be graded ada/2026-11-20T12-00-00/01_dot.py" in text
    seen: list[str] = []
    summary, _ = run(folder, seen=seen)
    assert (seen, summary.exit_code) == (["ada/2026-11-20T12-00-00/01_dot.py"], 0)
    assert points(folder.parent / "out") == {"ada": "6", "bob": "6"}
    assert said(capsys, "report", out).code == 0


def test_the_command_has_all_options_and_students_exist(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, before = folder.parent / "out", points(folder.parent / "out")
    ended = report(capsys, folder, BEST + struck("wrong").replace("ada", "adda"))
    assert (ended.code, ended.out, "no student 'adda' in this class" in ended.err) == (2, "", True)
    assert points(folder.parent / "out") == before, "nothing changes after an error"
    (out / seeds.FILE).rename(folder.parent / "seed")
    with closing(sqlite3.connect(out / journal.FILE)) as db, db:
        db.execute("UPDATE gradings SET sandboxed = 0")
    assert "--seed-file FILE --no-sandbox" in report(capsys, folder, BEST).out


def test_no_number_is_exported_for_what_waits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(capsys, folder, BEST)
    out = folder.parent / "out"
    (folder.parent / "in.csv").write_text(CANVAS)
    ended = said(capsys, "export", out, "--canvas", folder.parent / "in.csv", "--column", "02_timer=9002")
    assert (ended.code, "ada, 01_dot: no grade yet" in ended.out) == (1, True)
    assert "ada,Tuesday,,," in (out / "canvas.csv").read_text()
    for form in ("--nbgrader", "--junit"):
        ended = said(capsys, "export", out, form)
        assert ended.code == 1
        assert ended.out.splitlines()[-2:] == ["Not in the file, because there is no grade yet (1):", "  ada, 01_dot"]
    table = csv.DictReader(io.StringIO((out / "nbgrader.csv").read_text()))
    row = next(one for one in table if one["student_id"] == "ada")
    assert (row["raw_score"], row["score"]) == ("", "")


def test_an_attempt_replaced_before_grading_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ada" / "2026-11-20T12-00-00" / "01_dot.py").unlink()
    run(folder)
    ended = report(capsys, folder, BEST)
    out = folder.parent / "out"
    assert (ended.code, points(folder.parent / "out")) == (0, {"ada": "0", "bob": "6"})
    told = "ada/2026-11-20T12-00-00/01_dot.py (SHA-256 "
    assert f"ada, 01_dot: {told}" in ended.out
    assert "put it back into the class folder and run the command again" in ended.out
    assert "was replaced before it was graded, so it cannot count." in (out / "ada" / reports.PAGE).read_text()
