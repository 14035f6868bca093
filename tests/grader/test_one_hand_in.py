"""A fault of the grader at one hand-in never prevents the grading of other hand-ins.

A class passes through collecting, the journal and every report. Each of these stages is made to fail for one student.
"""

import errno
import json
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import classroom
import pytest
from classroom import grade, hand_in, points, run, zipped
from commanding import rows as asked

from grader import reports
from grader.class_run import rows
from grader.class_run.grading import LocalLanes
from grader.class_run.summary import Summary
from grader.commands.apps import run_grader
from grader.course.roll import Roll, is_faulted
from grader.hand_ins import archives, attempts, entries, reader
from grader.records import Report, Submission
from grader.reports import canvas, class_page, gradescope, student_page
from grader.source import Source

EVE = "eve"
HONEST = {"ada": "6", "zoe": "6"}


def honest(folder: Path) -> Path:
    for student in HONEST:
        hand_in(folder, student)
    return folder


def neighbours_keep_theirs(out: Path) -> None:
    found = points(out)
    assert {student: found[student] for student in HONEST} == HONEST
    query = "SELECT student, status, points FROM attempts WHERE student IN ('ada', 'zoe') ORDER BY student"
    assert asked(out, query) == [("ada", "passed", 6.0), ("zoe", "passed", 6.0)]
    for student in HONEST:
        assert json.loads((out / student / reports.RESULTS).read_text(encoding="utf-8"))["score"] == 6.0
        assert "6 of 10 points" in (out / student / reports.PAGE).read_text(encoding="utf-8")


class PlantedError(Exception):
    """An unexpected fault of the grader."""


PLANTED = PlantedError("a hidden case: [1, 2, 3]")


def fails_for(
    module: Any, name: str, about: Callable[..., object], error: Exception = PLANTED
) -> Callable[[pytest.MonkeyPatch], None]:
    """Make a function raise an exception when its argument is about EVE."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(module, name)

        def failing(*given: Any, **named: Any) -> Any:
            if about(*given, **named):
                raise error
            return real(*given, **named)

        monkeypatch.setattr(module, name, failing)

    return plant


def at_eves(*given: object) -> bool:
    """Return whether one of the arguments is a place of EVE."""
    return any(isinstance(one, attempts.Location) and EVE in one.students for one in given)


def of_eve(entry: entries.FolderEntry, *_given: object) -> bool:
    return entry.shown.startswith(EVE)


def has_eve(roll: Roll, *_given: object, **_named: object) -> bool:
    return EVE in roll.students


def reads_eve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading Python text fail where the text names EVE."""
    limit, real = attempts.READERS[".py"]

    def failing(data: bytes, name: str) -> Source:
        if b"# eve" in data:
            raise PLANTED
        return real(data, name)

    monkeypatch.setitem(attempts.READERS, ".py", (limit, failing))


def _is_of_eve(report: Report) -> bool:
    return report.submission.student == EVE


COLLECTING = {
    "what an entry is": fails_for(reader.HandInReader, "_read_all", at_eves),
    "an entry of a folder": fails_for(reader.HandInReader, "_read_file", at_eves),
    "a file's bytes": fails_for(entries.FolderEntry, "read", of_eve),
    "the machine": fails_for(entries.FolderEntry, "read", of_eve, OSError(errno.EIO, "a hidden case")),
    "a zip": fails_for(archives, "opened", lambda *_: True),
    "a name in a zip": fails_for(archives, "is_junk", lambda name: name == "01_dot.py"),
    "a file's text": reads_eve,
}
KEEPING = {
    "a grade": fails_for(rows, "of_report", lambda report: _is_of_eve(report) and not is_faulted(report)),
    "any grade": fails_for(rows, "of_report", _is_of_eve),
    "a verdict": fails_for(rows, "of_verdict", lambda verdict: "eve" in verdict.attempt.help),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hand_in(tmp_path / "hw1", EVE, "right # eve")
    return honest(tmp_path / "hw1")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def at_fault_for_eve_alone(out: Path, summary: Summary) -> None:
    assert summary.exit_code == 3
    neighbours_keep_theirs(out)
    assert points(out)[EVE] == ""
    assert "a hidden case" not in "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.html"))
    assert "a hidden case" not in (out / EVE / reports.RESULTS).read_text(encoding="utf-8")


def the_next_run_grades_eve(folder: Path, out: Path, graded: int = 1) -> None:
    again, _ = run(folder, out)
    assert (again.exit_code, again.graded) == (0, graded)
    assert points(out) == {**HONEST, EVE: "6"}


@pytest.mark.parametrize("stage", COLLECTING)
def test_a_fault_while_collecting_one_hand_in_is_that_hand_ins_verdict(
    folder: Path, out: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "zip" in stage:
        shutil.rmtree(folder / EVE)
        (folder / "eve.zip").write_bytes(zipped([("hw/eve/01_dot.py", b"right # eve")]))
    COLLECTING[stage](monkeypatch)
    summary, _ = run(folder, out)
    at_fault_for_eve_alone(out, summary)
    ((status, earned, why),) = asked(out, "SELECT status, points, rationale FROM attempts WHERE student = 'eve'")
    assert (status, earned, why.startswith("The grader failed (")) == ("grader error", 0.0, True)
    ((tail,),) = asked(out, "SELECT output_tail FROM verdicts WHERE status = 'grader error'")
    assert "a hidden case" in tail
    assert "To check by hand: 1 not graded (grader error)." in summary.lines()[0]
    monkeypatch.undo()
    the_next_run_grades_eve(folder, out)


class Refusing(LocalLanes):
    """Fake grading lanes that refuse or lose the hand-in of EVE."""

    def __init__(self, *, cancels: bool) -> None:
        super().__init__(1)
        self.cancels = cancels

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        if args[0].student != EVE:
            return super().submit(fn, *args, **kwargs)
        if not self.cancels:
            raise PLANTED
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


@pytest.mark.parametrize("failure", [PlantedError, SystemExit, MemoryError, "refuses", "cancels"])
def test_whatever_grading_raises_and_whatever_the_lanes_lose_is_that_hand_ins_verdict(
    folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException] | str
) -> None:
    def failing(submission: Submission, seed: str) -> Report:
        if submission.student == EVE and not isinstance(failure, str):
            raise failure("a hidden case: [1, 2, 3]")
        return grade(submission, seed)

    if isinstance(failure, str):
        monkeypatch.setattr(classroom, "LocalLanes", lambda _jobs: Refusing(cancels=failure == "cancels"))
    summary, _ = run(folder, out, failing)
    at_fault_for_eve_alone(out, summary)
    monkeypatch.undo()
    the_next_run_grades_eve(folder, out)


@pytest.mark.parametrize("what", KEEPING)
def test_a_grade_that_cannot_be_kept_keeps_no_other_from_being_kept(
    folder: Path, out: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(folder, EVE, "wrong # eve")
    KEEPING[what](monkeypatch)

    def grade_one(submission: Submission, seed: str) -> Report:
        report = grade(submission, seed)
        verdicts = (replace(one, attempt=replace(one.attempt, help=submission.student)) for one in report.verdicts)
        return replace(report, verdicts=tuple(verdicts))

    summary, _ = run(folder, out, grade_one)
    at_fault_for_eve_alone(out, summary)
    assert "To check by hand: 1 not graded " in summary.lines()[0]
    monkeypatch.undo()
    hand_in(folder, EVE, "right # eve")
    the_next_run_grades_eve(folder, out)


def test_an_unreadable_grade_hides_no_other(folder: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_for(rows, "report", lambda _db, row, **_named: row.hand_in.student == EVE)(monkeypatch)
    summary, _ = run(folder, out)
    assert summary.exit_code == 3
    neighbours_keep_theirs(out)
    assert points(out)[EVE] == ""
    assert "eve, 01_dot: its grade in grades.sqlite cannot be read" in (out / reports.PAGE).read_text(encoding="utf-8")
    monkeypatch.undo()
    the_next_run_grades_eve(folder, out, graded=0)


@pytest.mark.parametrize(("module", "file"), [(student_page, reports.PAGE), (gradescope, reports.RESULTS)])
def test_a_students_report_that_cannot_be_made_keeps_no_other_from_being_written(
    folder: Path, out: Path, module: Any, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, out)[0].exit_code == 0
    hand_in(folder, EVE, "wrong")
    fails_for(module, "render", has_eve)(monkeypatch)
    summary, _ = run(folder, out)
    assert summary.exit_code == 3
    neighbours_keep_theirs(out)
    assert points(out)[EVE] == "0"
    assert sorted(path.name for path in (out / EVE).iterdir()) == sorted({reports.PAGE, reports.RESULTS} - {file})
    assert f"eve/{file}: missing because of an internal error (PlantedError)" in (out / reports.PAGE).read_text(
        encoding="utf-8"
    )
    said = f"Internal error: 1 report could not be written completely: eve/{file}."
    assert any(line.startswith(said) for line in summary.lines())
    assert run_grader(["report", str(out), "--debug"]) == 3
    shown = capsys.readouterr()
    assert said in shown.out
    assert "PlantedError: a hidden case" in shown.err
    monkeypatch.undo()
    assert run_grader(["report", str(out)]) == 0
    assert (out / EVE / file).is_file()


@pytest.mark.parametrize(("module", "file"), [(class_page, reports.PAGE), (canvas, reports.GRADEBOOK)])
def test_a_report_of_the_class_is_written_without_the_student_that_prevents_it(
    folder: Path, out: Path, module: Any, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_for(module, "render", has_eve)(monkeypatch)
    summary, _ = run(folder, out)
    assert summary.exit_code == 3
    neighbours_keep_theirs(out)
    assert "ada" in (out / file).read_text(encoding="utf-8")
    assert (out / EVE / reports.PAGE).is_file()
    said = f"Internal error: 1 report could not be written completely: {file}."
    assert any(line.startswith(said) for line in summary.lines())
    if file == reports.PAGE:
        assert "eve: not in this report" in (out / file).read_text(encoding="utf-8")
    monkeypatch.undo()
    the_next_run_grades_eve(folder, out, graded=0)
