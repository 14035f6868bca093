import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from classroom import ENVIRONMENT, KIT, ROUNDS, TASKS, collected, grade, hand_in

from grader import seeds
from grader.class_run import journal
from grader.class_run.journal import Journal
from grader.class_run.standing import Graded
from grader.hand_ins.collect import Collection
from grader.records import Control, Speed, Status, Submission
from harness.errors import UsageError

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def graded(submission: Submission) -> Graded:
    return Graded(grade(submission), NOON, NOON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hand_in(tmp_path / "hw1", "ada")
    hand_in(tmp_path / "hw1", "bob", "wrong")
    return tmp_path / "hw1"


@pytest.fixture
def found(folder: Path) -> Collection:
    return collected(folder)


@pytest.fixture
def book(folder: Path, found: Collection, tmp_path: Path) -> Iterator[Journal]:
    with journal.claim(tmp_path / "out", folder, kit=KIT) as opened:
        opened.enrol(found, TASKS)
        yield opened


def test_a_report_comes_back_as_it_was_added(book: Journal, found: Collection) -> None:
    control = Control(1.0, 1.05, 0.05, holds=True, voided=1, benefit=1.02, most_ratio=120.0, impossible=True)
    report = grade(found.submissions[0])
    verdict = replace(report.verdicts[0], attempt=replace(report.verdicts[0].attempt, control=control))
    book.add(Graded(replace(report, verdicts=(verdict,)), NOON, NOON))
    endless = grade(found.submissions[1])
    speed = Speed(float("inf"), 1.0, float("inf"), 3, 2)
    infinite = replace(endless.verdicts[0], attempt=replace(endless.verdicts[0].attempt, speed=speed))
    book.add(Graded(endless := replace(endless, verdicts=(infinite,)), NOON, NOON))
    ada, bob = book.reports()
    assert ada.submission == found.submissions[0]
    attempt = ada.verdicts[0].attempt
    assert (attempt.control, attempt.rounds, attempt.speed) == (control, ROUNDS, Speed(3.0, 2.9, 3.1, 2, 1))
    assert attempt.output_tail == r"\udcff", "a lone surrogate is kept written out"
    assert ada.missing == ("a layer",)
    assert (ada.environment, ada.sandboxed, ada.duration_s, ada.notes) == (ENVIRONMENT, True, 0.25, ("a note",))
    assert bob == endless


def test_a_grade_is_never_doubled_and_a_fault_of_ours_is_none(book: Journal, found: Collection) -> None:
    submission = found.submissions[0]
    report = grade(submission)
    with pytest.raises(sqlite3.IntegrityError):
        book.add(Graded(replace(report, verdicts=report.verdicts * 2), NOON, NOON))
    assert book.reports() == (), "a report that fails half-way leaves nothing"
    faulted = replace(report.verdicts[0].attempt, status=Status.GRADER_ERROR)
    for _ in range(2):
        book.add(Graded(replace(report, verdicts=(replace(report.verdicts[0], attempt=faulted),)), NOON, NOON))
    assert book.reports()[0].verdicts[0].status is Status.GRADER_ERROR
    book.add(graded(submission))
    assert book.reports()[0].verdicts[0].status is Status.PASSED
    with pytest.raises(sqlite3.IntegrityError):
        book.add(graded(submission))
    assert len(book.reports()) == 1


def state(out: Path) -> dict[str, str]:
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and "-shm" not in path.name]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def out(folder: Path, tmp_path: Path) -> Path:
    with journal.claim(tmp_path / "out", folder, kit=KIT) as opened:
        opened.secret_seed()
    return tmp_path / "out"


def test_an_out_of_another_kit_or_schema_is_refused_untouched(out: Path, folder: Path) -> None:
    before = state(out)
    other = "version 9.9.9 of the kit, and version 10.0"
    with pytest.raises(UsageError, match=other), journal.claim(out, folder, kit="10.0"):
        pass
    assert state(out) == before
    with sqlite3.connect(out / journal.FILE) as plain:
        plain.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    plain.close()
    for opened in (journal.claim(out, folder, kit=KIT), journal.read(out)):
        with pytest.raises(UsageError, match="cannot read"), opened:
            pass


def test_a_class_stays_with_the_seed_it_was_begun_with(book: Journal, tmp_path: Path) -> None:
    mine, other, empty = tmp_path / "mine", tmp_path / "other", tmp_path / "empty"
    for file, text in ((mine, "a seed\n"), (other, "another\n"), (empty, "\n")):
        file.write_text(text)
    with pytest.raises(UsageError, match="is empty"):
        book.secret_seed(empty)
    assert book.secret_seed(mine) == "a seed"
    assert not (book.out / seeds.FILE).exists()
    for wrong in (other, None, tmp_path / "gone"):
        with pytest.raises(UsageError, match=r"(?i)give the --seed-file"):
            book.secret_seed(wrong)
