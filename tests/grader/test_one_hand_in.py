"""A fault of the grader at one hand-in never prevents the grading of other hand-ins.

A class passes through collecting, the journal and every report. Each of these stages is made to fail for one student.
"""

import errno
import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import Future
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
from grader.course.roll import Roll
from grader.hand_ins import archives, attempts, entries, reader
from grader.records import Report, Submission
from grader.reports import canvas, class_page, gradescope, student_page

EVE = "eve"
HONEST = {"ada": "6", "zoe": "6"}


def honest(folder: Path) -> Path:
    for student in HONEST:
        hand_in(folder, student)
    return folder


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


STAGES = {
    "what an entry is": fails_for(reader.HandInReader, "_read_all", at_eves),
    "a file on a broken disk": fails_for(entries.FolderEntry, "read", of_eve, OSError(errno.EIO, "a hidden case")),
    "a zip": fails_for(archives, "opened", lambda *_: True),
    "writing a grade": fails_for(rows, "of_report", lambda report: report.submission.student == EVE),
    "reading a grade": fails_for(rows, "report", lambda _db, row, **_named: row.hand_in.student == EVE),
    "the page of a student": fails_for(student_page, "render", has_eve),
    "the results of a student": fails_for(gradescope, "render", has_eve),
    "the page of the class": fails_for(class_page, "render", has_eve),
    "the gradebook": fails_for(canvas, "render", has_eve),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hand_in(tmp_path / "hw1", EVE, "right # eve")
    return honest(tmp_path / "hw1")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def neighbours_keep_theirs_and_eve_is_told_of(out: Path, summary: Summary) -> None:
    assert summary.exit_code == 3
    found = points(out)
    assert {student: found[student] for student in HONEST} == HONEST
    query = "SELECT student, status, points FROM attempts WHERE student IN ('ada', 'zoe') ORDER BY student"
    assert asked(out, query) == [("ada", "passed", 6.0), ("zoe", "passed", 6.0)]
    for student in HONEST:
        assert json.loads((out / student / reports.RESULTS).read_text(encoding="utf-8"))["score"] == 6.0
        assert "6 of 10 points" in (out / student / reports.PAGE).read_text(encoding="utf-8")
    shown = [path for path in out.rglob("*") if path.suffix in {".html", ".json", ".csv"}]
    assert "a hidden case" not in "".join(path.read_text(encoding="utf-8") for path in shown)
    assert re.search("1 not graded|Internal error: 1 report could not be written", "".join(summary.lines()))


def the_next_run_is_complete(folder: Path, out: Path) -> None:
    again, _ = run(folder, out)
    assert again.exit_code == 0
    assert points(out) == {**HONEST, EVE: "6"}
    assert {path.name for path in (out / EVE).iterdir()} == {reports.PAGE, reports.RESULTS}


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_at_one_hand_in_costs_no_other_student_anything(
    folder: Path, out: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stage == "a zip":
        shutil.rmtree(folder / EVE)
        (folder / "eve.zip").write_bytes(zipped([("hw/eve/01_dot.py", b"right # eve")]))
    STAGES[stage](monkeypatch)
    summary, _ = run(folder, out)
    neighbours_keep_theirs_and_eve_is_told_of(out, summary)
    monkeypatch.undo()
    the_next_run_is_complete(folder, out)


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
    neighbours_keep_theirs_and_eve_is_told_of(out, summary)
    assert asked(out, "SELECT status, points FROM attempts WHERE student = 'eve'") == [("grader error", 0.0)]
    assert points(out)[EVE] == ""
    monkeypatch.undo()
    the_next_run_is_complete(folder, out)
