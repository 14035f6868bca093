import hashlib
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from classroom import ENVIRONMENT, KIT, ROUNDS, TASKS, collected, grade, hand_in

from grader import seeds
from grader.class_run import journal
from grader.class_run.journal import Graded, Journal
from grader.files import WriteError, write_atomically
from grader.hand_ins.collect import Collection
from grader.records import Control, Speed, Status, Submission
from harness.errors import UsageError

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def has(book: Journal, submission: Submission) -> bool:
    """Return whether the journal has a grade for this content. A fault of the grader is not a grade."""
    query = "SELECT 1 FROM gradings WHERE lesson = ? AND content = ? AND NOT faulted"
    return book._db.execute(query, [submission.lesson, submission.content]).fetchone() is not None


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
    book.add(graded(found.submissions[1]))
    ada, bob = book.reports()
    assert ada.submission == found.submissions[0]
    assert ada.verdicts[0].attempt.control == control
    assert ada.verdicts[0].attempt.rounds == ROUNDS
    assert ada.verdicts[0].attempt.speed == Speed(3.0, 2.9, 3.1, 2, 1)
    assert ada.missing == ("a layer",)
    assert (ada.environment, ada.sandboxed, ada.duration_s, ada.notes) == (ENVIRONMENT, True, 0.25, ("a note",))
    assert bob == grade(found.submissions[1])


def test_output_that_is_no_utf8_is_kept_written_out(book: Journal, found: Collection) -> None:
    book.add(graded(found.submissions[0]))
    assert book.reports()[0].verdicts[0].attempt.output_tail == r"\udcff"


def test_infinite_ratios_come_back(book: Journal, found: Collection) -> None:
    report = grade(found.submissions[0])
    endless = Speed(float("inf"), 1.0, float("inf"), 3, 2)
    verdict = replace(report.verdicts[0], attempt=replace(report.verdicts[0].attempt, speed=endless, output_tail=""))
    book.add(Graded(replace(report, verdicts=(verdict,)), NOON, NOON))
    assert book.reports()[0].verdicts == (verdict,)


def test_a_grade_is_never_doubled(book: Journal, found: Collection) -> None:
    submission = found.submissions[0]
    assert not has(book, submission)
    book.add(graded(submission))
    assert has(book, submission)
    with pytest.raises(sqlite3.IntegrityError):
        book.add(graded(submission))
    assert len(book.reports()) == 1


def test_a_changed_hand_in_is_graded_anew_and_its_old_grade_is_kept(
    book: Journal, found: Collection, folder: Path
) -> None:
    book.add(graded(found.submissions[0]))
    hand_in(folder, "ada", "wrong this time")
    changed = collected(folder)
    book.enrol(changed, TASKS)
    assert not has(book, changed.submissions[0])
    assert book.reports() == ()
    book.add(graded(changed.submissions[0]))
    assert [report.verdicts[0].status for report in book.reports()] == [Status.WRONG]
    book.enrol(found, TASKS)
    assert [report.verdicts[0].status for report in book.reports()] == [Status.PASSED]


def test_a_fault_of_ours_is_no_grade_and_gives_way_to_one(book: Journal, found: Collection) -> None:
    submission = found.submissions[0]
    report = grade(submission)
    faulted = replace(report.verdicts[0].attempt, status=Status.GRADER_ERROR)
    for _ in range(2):
        book.add(Graded(replace(report, verdicts=(replace(report.verdicts[0], attempt=faulted),)), NOON, NOON))
    assert not has(book, submission)
    assert book.reports()[0].verdicts[0].status is Status.GRADER_ERROR
    book.add(graded(submission))
    assert has(book, submission)
    assert book.reports()[0].verdicts[0].status is Status.PASSED


def test_one_query_shows_every_attempt_with_its_evidence(book: Journal, found: Collection, tmp_path: Path) -> None:
    for submission in found.submissions:
        book.add(graded(submission))
    with sqlite3.connect(tmp_path / "out" / journal.FILE) as plain:
        columns = "student, task, status, kit, started_utc, length(rounds) > 2, environment LIKE '%python%'"
        rows = plain.execute(f"SELECT {columns} FROM attempts").fetchall()  # noqa: S608 - of this line above
    plain.close()
    assert rows == [
        ("ada", "01_dot.batched", "passed", KIT, NOON.isoformat(), 1, 1),
        ("bob", "01_dot.batched", "wrong", KIT, NOON.isoformat(), 0, 1),
    ]


def test_a_report_that_fails_half_way_leaves_nothing(book: Journal, found: Collection) -> None:
    report = grade(found.submissions[0])
    with pytest.raises(sqlite3.IntegrityError):
        book.add(Graded(replace(report, verdicts=report.verdicts * 2), NOON, NOON))
    assert not has(book, found.submissions[0])
    assert book.reports() == ()


def test_the_roll_knows_who_is_waiting_and_what_was_left_aside(book: Journal, found: Collection) -> None:
    book.add(graded(found.submissions[0]))
    roll = book.roll()
    assert (roll.title, roll.kit, roll.students, roll.tasks) == ("hw1", KIT, ("ada", "bob"), TASKS)
    assert [(one.student, one.lesson) for one in roll.waiting] == [("bob", "01_dot")]


def test_lessons_that_count_no_more_keep_their_grades_and_come_back_with_them(book: Journal, found: Collection) -> None:
    for submission in found.submissions:
        book.add(graded(submission))
    second = [task for task in TASKS if task.lesson == "02_timer"]
    book.enrol(replace(found, submissions=()), second)
    assert (book.reports(), book.roll().lessons) == ((), ("02_timer",))
    assert book.tasks(counting=False) == TASKS
    book.restrict(["01_dot", "02_timer"])
    assert len(book.reports()) == 2
    assert book.roll().lessons == ("01_dot", "02_timer")


def test_a_student_who_left_the_class_leaves_the_roll_and_the_grade_stays_in_the_journal(
    book: Journal, found: Collection
) -> None:
    for submission in found.submissions:
        book.add(graded(submission))
    book.enrol(replace(found, students=("bob",), submissions=found.submissions[1:]), TASKS)
    assert book.roll().students == ("bob",)
    assert [report.submission.student for report in book.reports()] == ["bob"]
    assert has(book, found.submissions[0])


def test_the_journal_can_be_read_while_it_is_written(book: Journal, found: Collection, tmp_path: Path) -> None:
    book.add(graded(found.submissions[0]))
    with journal.read(tmp_path / "out") as reader:
        assert len(reader.reports()) == 1


# ------------------------------------------------------------------------------------------- whose OUT it is


def state(out: Path) -> dict[str, str]:
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and "-shm" not in path.name]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def out(folder: Path, tmp_path: Path) -> Path:
    with journal.claim(tmp_path / "out", folder, kit=KIT) as opened:
        opened.secret_seed()
    return tmp_path / "out"


def test_an_out_of_another_class_is_refused_untouched(out: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "hw2", "ada")
    before = state(out)
    with pytest.raises(UsageError, match="another class"), journal.claim(out, tmp_path / "hw2", kit=KIT):
        pass
    assert state(out) == before


def test_an_out_of_another_kit_is_refused_untouched(out: Path, folder: Path) -> None:
    before = state(out)
    with (
        pytest.raises(UsageError, match=r"version 9\.9\.9 of the kit, and version 10\.0"),
        journal.claim(out, folder, kit="10.0"),
    ):
        pass
    assert state(out) == before


def test_a_journal_of_another_schema_is_refused_to_grader_and_reader(out: Path, folder: Path) -> None:
    with sqlite3.connect(out / journal.FILE) as plain:
        plain.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    plain.close()
    with pytest.raises(UsageError, match="cannot read"), journal.claim(out, folder, kit=KIT):
        pass
    with pytest.raises(UsageError, match="cannot read"), journal.read(out):
        pass


def test_what_is_no_journal_is_refused_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / journal.FILE).write_text("no database, but long enough to be looked at" * 99)
    for place, part in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "home", "holds other files"),
        (tmp_path / "broken", "cannot be used"),
        (folder / "grades", "is in the class folder"),
        (folder, "is in the class folder"),
        (tmp_path / "file" / "below", "could not be written"),
    ):
        with pytest.raises((UsageError, WriteError), match=part) as caught, journal.claim(place, folder, kit=KIT):
            pass
        assert "\n" not in str(caught.value)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"


def test_two_runs_into_one_out_exclude_each_other(out: Path, folder: Path) -> None:
    with (
        journal.claim(out, folder, kit=KIT),
        pytest.raises(UsageError, match=f"process {os.getpid()}"),
        journal.claim(out, folder, kit=KIT),
    ):
        pass
    with journal.claim(out, folder, kit=KIT):
        pass


# --------------------------------------------------------------------------------------------- secret seed


def test_the_seed_is_made_once_and_only_its_owner_may_read_it(book: Journal) -> None:
    seed = book.secret_seed()
    assert len(seed) >= 32
    assert book.secret_seed() == seed
    assert stat.S_IMODE((book.out / seeds.FILE).stat().st_mode) == 0o600


def test_a_class_stays_with_the_seed_it_was_begun_with(book: Journal, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.write_text("a seed\n")
    other.write_text("another\n")
    assert book.secret_seed(mine) == "a seed"
    assert not (book.out / seeds.FILE).exists()
    for wrong in (other, None, tmp_path / "gone"):
        with pytest.raises(UsageError, match=r"(?i)give the --seed-file"):
            book.secret_seed(wrong)


def test_an_empty_seed_file_is_refused(book: Journal, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        book.secret_seed(tmp_path / "empty")


# --------------------------------------------------------------------------------------------- whole files


def test_a_file_is_replaced_whole_and_left_alone_when_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert write_atomically(path, b"1")
    first = path.stat()
    assert not write_atomically(path, b"1")
    assert path.stat() == first
    assert write_atomically(path, b"2")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"2")]


def test_what_cannot_be_written_says_so_and_leaves_no_rest(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(WriteError, match="could not be written"):
        write_atomically(tmp_path / "a", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_one_process_may_write_the_same_file_from_two_threads(tmp_path: Path) -> None:
    threads = [threading.Thread(target=write_atomically, args=(tmp_path / "a", b"1" * 9999)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("a", 9999)]
