"""Several attempts of a student: in folders named after a time, and over several runs."""

import hashlib
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import classroom
import pytest
from classroom import KIT, LESSONS, collected, grade, hand_in, notebook
from classroom import run as graded
from commanding import grader

from grader import reports
from grader.class_run import journal
from grader.class_run.summary import Summary, publish
from grader.course.course_file import parse
from grader.hand_ins import originals
from grader.hand_ins.collect import collect
from grader.records import Report, Submission
from grader.reports.class_statistics import not_started

LATE = """
timezone = "UTC"
attempts = "{which}"
[late]
percent_per_day = 10
[lessons.01_dot]
due = 2026-11-20
"""
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def run(
    folder: Path,
    which: str = "",
    *,
    regrade: tuple[str, ...] = (),
    seen: list[str] | None = None,
    regarded_as: str = "",
) -> tuple[Summary, str]:
    """Grade the class beside its folder; `seen` gets the path of each hand-in graded.

    If `regarded_as` is given, each hand-in is graded as if this were its text.
    """

    def remembering(submission: Submission, seed: str) -> Report:
        if seen is not None:
            seen.append(submission.path)
        return grade(replace(submission, source=regarded_as or submission.source), seed)

    course = LATE.format(which=which) if which else ""
    return graded(folder, None, remembering, course=course, regrade=regrade, jobs=1)


def attempt(folder: Path, when: str, text: str) -> None:
    (folder / "ada" / when).mkdir(parents=True)
    (folder / "ada" / when / "01_dot.py").write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class with one student, whose three attempts are in time, one day late and two days late."""
    attempt(tmp_path / "hw1", "2026-11-20T12-00-00", "right")
    attempt(tmp_path / "hw1", "20261121T130000Z", "edge")
    attempt(tmp_path / "hw1", "2026-11-22T14-00-00+0100", "wrong")
    return tmp_path / "hw1"


def points(folder: Path) -> str:
    return next(iter(classroom.points(folder.with_name("out")).values()))


def test_only_what_may_count_is_graded_and_what_was_taken_back_is_not_there(folder: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    run(folder, "latest", seen=seen)
    assert (points(folder), seen) == ("0", ["ada/2026-11-22T14-00-00+0100/01_dot.py"])
    run(folder, "best", seen=seen)
    assert seen[1:] == ["ada/2026-11-20T12-00-00/01_dot.py", "ada/20261121T130000Z/01_dot.py"]
    assert points(folder) == "9"
    (tmp_path / "course.toml").write_text(LATE.format(which="first").replace("[lessons.01_dot]\ndue = 2026-11-20", ""))
    assert grader("report", tmp_path / "out", "--course", tmp_path / "course.toml").code == 0
    assert points(folder) == "6"
    run(folder, seen=seen)
    assert (points(folder), len(seen)) == ("6", 3), "the next run follows the policy of the report"
    hand_in(folder, "bob")
    for path in (folder / "ada").rglob("*.py"):
        path.unlink()
    run(folder, "best")
    assert points(folder) == ""


def test_a_student_reads_the_points_earned_those_that_count_and_why(folder: Path) -> None:
    run(folder, "best")
    result = json.loads((folder.with_name("out") / "ada" / reports.RESULTS).read_text())
    assert (result["score"], result["tests"][0]["score"]) == (9.0, 10.0)
    days = "Due Fri 20 Nov 2026 23:59:59 UTC, handed in Sat 21 Nov 2026 13:00 UTC: 1 day begun."
    reason = f"Attempt 2 of 3 counts: the best. {days} 10 % are taken off, so 9 of the 10 earned points count."
    assert f"01_dot: 10 of 10 points.\n01_dot: {reason}" in result["output"]


def test_a_file_is_late_by_its_own_time_and_a_copy_made_later_is_no_later_hand_in(tmp_path: Path) -> None:
    path = hand_in(tmp_path / "hw1", "ada", "right")
    for days, counted in ((2, "4.8"), (0, "6"), (5, "6")):
        os.utime(path, (NOON.timestamp() + days * 86400,) * 2)
        run(tmp_path / "hw1", "latest")
        assert points(tmp_path / "hw1") == counted


@pytest.mark.parametrize("which", ["first", "latest", "best"])
def test_an_unchanged_exercise_is_no_attempt(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = '"""Sum."""\n\n\ndef dot(a, b):  # two lists\n    raise NotImplementedError("wrong")\n'
    listing = tmp_path / "notebooks.json"
    listing.write_bytes(originals.as_bytes({"01_dot": stub}))
    monkeypatch.setattr(originals, "LISTING", listing)
    folder = tmp_path / "hw1"
    attempt(folder, "2026-11-19T12-00-00", stub)
    attempt(folder, "2026-11-20T12-00-00", "right")
    attempt(folder, "2026-11-25T12-00-00", stub.replace("\n", "\r\n").replace("# two lists", "").replace("    ", "\t"))
    hand_in(folder, "bob", stub + "\nif __name__ == '__main__':\n    print(dot([1], [2]))\n")
    (folder / "ada" / "2026-11-20T12-00-00" / "01_dot.ipynb").write_bytes(notebook(stub))
    summary, _ = run(folder, which)
    assert (points(folder), summary.exit_code, not_started(summary.roll)) == ("6", 0, {"01_dot": ["bob"]})
    assert "Attempt" not in summary.roll.standings[0].reason, "there is only one"
    (folder / "ada" / "2026-11-20T12-00-00" / "01_dot.py").write_text(stub)
    assert (run(folder, which)[0].graded, points(folder)) == (0, "6"), "a stub never replaces work"
    assert "no code was written" in (tmp_path / "out" / "bob" / reports.PAGE).read_text()


def strike(folder: Path, *texts: str) -> None:
    """Report by a policy that strikes ada's attempts with these contents; nothing is graded for that."""
    begins = [hashlib.sha256(text.encode()).hexdigest()[:12] for text in texts]
    course = parse(f"{LATE.format(which='best')}\n[struck.ada]\n01_dot = {begins}", "course.toml", LESSONS)
    with journal.read(folder.with_name("out")) as book:
        book.set(board="", course=course)
        publish(book)


def test_a_struck_attempt_counts_no_more_and_the_class_page_says_which(folder: Path) -> None:
    run(folder, "best")
    strike(folder, "something else")
    assert points(folder) == "9"
    assert "attempt to be excluded, but not found" in (folder.with_name("out") / reports.PAGE).read_text()
    strike(folder, "edge")
    assert points(folder) == "6"
    digest = hashlib.sha256(b"edge").hexdigest()[:12]
    said = f"ada, 01_dot: attempt excluded by the course file: ada/20261121T130000Z/01_dot.py (SHA-256 {digest}…)"
    assert said in (folder.with_name("out") / reports.PAGE).read_text()
    run(folder)
    assert points(folder) == "6"
    strike(folder, "right", "edge", "wrong")
    assert points(folder) == ""
    assert run(folder, regrade=("ada",))[0].graded == 0


def test_attempts_come_in_order_of_time_and_the_same_bytes_again_are_no_new_one(folder: Path) -> None:
    attempt(folder, "2026-11-23T00-00-00", "right")
    attempt(folder, "2026-11-20T12-00-00/2026-11-20T13-00-00", "right")
    found = collected(folder)
    assert [(one.source, one.handed_in) for one in found.submissions] == [
        ("right", NOON),
        ("edge", datetime(2026, 11, 21, 13, tzinfo=UTC)),
        ("wrong", datetime(2026, 11, 22, 13, tzinfo=UTC)),
    ]
    assert "3 files, such as ada/2026" not in found.notes[0], "the time in the name counts"
    there = collect(folder, LESSONS, kit=KIT, zone=ZoneInfo("America/New_York"))
    assert there.submissions[0].handed_in == datetime(2026, 11, 20, 17, tzinfo=UTC), "the course's time zone"
    (folder / "ada" / "20261121T130000Z" / "01_dot.ipynb").write_text("{}")
    assert [one.source for one in collected(folder).submissions] == ["right", None, "wrong"]


def test_a_student_is_graded_again_and_only_a_newer_grade_counts(tmp_path: Path) -> None:
    folder, seen = tmp_path / "hw1", list[str]()
    for student in ("ada", "bob"):
        hand_in(folder, student, f"right # {student}")
    run(folder)
    summary, _ = run(folder, regrade=("ada",), seen=seen, regarded_as="edge")
    assert (summary.exit_code, summary.graded, points(folder)) == (0, 1, "10")
    summary, said = run(folder, regrade=("ada",), seen=seen, regarded_as="boom")
    assert ("1 internal error" in said, points(folder)) == (True, "10")
    assert seen == ["ada/01_dot.py", "ada/01_dot.py"]
    with closing(sqlite3.connect(tmp_path / "out" / journal.FILE)) as db:
        kept = db.execute("SELECT student, regrade FROM gradings ORDER BY id").fetchall()
    assert kept == [("ada", 0), ("bob", 0), ("ada", 1), ("ada", 2)]
    assert run(folder)[0].graded == 0


def test_an_attempt_replaced_between_two_runs_still_counts_as_the_best_or_the_first(tmp_path: Path) -> None:
    for hour, text in enumerate(("right", "wrong")):
        file = hand_in(tmp_path / "hw1", "ada", text)
        os.utime(file, ns=(0, (int(NOON.timestamp()) + 3600 * hour) * 10**9))
        run(tmp_path / "hw1", "best")
    assert points(tmp_path / "hw1") != "0"
    run(tmp_path / "hw1", "latest")
    assert points(tmp_path / "hw1") == "0"
