"""The database `OUT/grades.sqlite` (the journal) has every grade that was ever given in a class, with its measurements.

Each grade is one transaction, synced to the disk, and never changed or removed. A grade belongs to the content of a
file, so all students who handed in the same bytes for a lesson share it. If the instructor requests another grade, the
newest grade counts. A grade after an internal error never replaces another, and a held grade counts when it is
published.

The database also stores which lessons count, the rules on dates and attempts, and the names on the leaderboard.
"""

import secrets
import sqlite3
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from grader import seeds
from grader.class_run import class_roll, database, enrolment, regrades, rows, senders
from grader.class_run.hand_in_now import HandInNow, hand_in_now
from grader.class_run.regrades import HeldGradings
from grader.class_run.senders import Remembered
from grader.class_run.standing import Graded, StudentLesson
from grader.course.by_hand import HandEntry
from grader.course.class_commands import ClassCommands
from grader.course.course_file import Course, parse
from grader.course.named_students import read_once
from grader.course.results import TaskPoints
from grader.course.roll import Roll, is_faulted
from grader.course.roster import Roster
from grader.files import WriteError, storable, write_atomically
from grader.hand_ins.collect import Collection
from grader.hand_ins.refusal import digest
from grader.records import Report
from harness.errors import UsageError

FILE: Final = database.FILE


@contextmanager
def claim(
    out: Path, folder: Path, *, kit: str, students: Names[str] = (), listed: Names[str] = (), shared: bool = False
) -> Iterator["Journal"]:
    """Open or create the database of grades in `out` for the class in `folder`, and lock it.

    `students` are the students in this folder, and `listed` those in the course's own list. A `shared` lock excludes
    only runs. Raise `UsageError`, before anything is changed, if `out` belongs to another class or program version,
    holds other files, or is in use by another process.
    """
    identity = storable(str(folder.resolve()))
    database.check_folder(out, folder)
    if (out / FILE).exists():
        with closing(database.connect(out)) as db:
            database.meta(db, out, kit)
    database.create_folder(out)
    with database.lock(out, shared=shared), closing(database.connect(out, mode="rwc")) as db:
        journal = Journal(out, db)
        with journal.transaction():
            if not database.meta(db, out, kit):
                database.create_tables(db, kit, identity)
            enrolment.join(db, out, identity, students, listed)
        yield journal


@contextmanager
def change(out: Path) -> Iterator["Journal"]:
    """Open the database of grades in `out`, while no run uses it. Raise `UsageError` if there is none."""
    with read(out) as journal, database.lock(out, shared=True):
        yield journal


@contextmanager
def read(out: Path) -> Iterator["Journal"]:
    """Open the database of grades in `out`, also while it is written. Raise `UsageError` if there is none."""
    if not (out / FILE).is_file():
        raise UsageError(f"{out} holds no {FILE}. Give the folder that was given to `run` as --out.")
    with closing(database.connect(out)) as db:
        if not database.meta(db, out):
            raise UsageError(f"{out / FILE} is empty, because its first run was stopped. Start that run again.")
        with database.readable(out):
            yield Journal(out, db)


def remembered(out: Path) -> Remembered:
    """Return what the last run stored in the folder `out`. Raise `UsageError` if its database cannot be read."""
    if not (out / FILE).is_file():
        return Remembered()
    with closing(database.connect(out)) as db:
        book = Journal(out, db)
        return book.remembered() if book.meta else Remembered()


class Journal:
    """The open database with the grades of one class."""

    def __init__(self, out: Path, db: sqlite3.Connection) -> None:
        self.out = out
        self._db = db

    @property
    def meta(self) -> dict[str, str]:
        """The facts on the whole class: the folder of submissions, the kit's version, the course file, and others."""
        return database.meta(self._db, self.out)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the `with` block as one transaction: all of its changes are stored, or none.

        Raise `WriteError` if the disk is full or the file is damaged. Earlier grades are kept.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            if isinstance(fault, rows.OF_A_ROW):
                raise
            raise WriteError(
                f"{self.out / FILE} could not be written ({fault}). All finished grades are kept. Free some disk space "
                "or make the file writable, and run the same command again."
            ) from fault
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def secret_seed(self, seed_file: Path | None = None) -> str:
        """Return the secret seed of the class from `seed_file`, or else from a file in the output folder.

        The first run writes this file. Raise `UsageError` if the class was graded with another seed before.
        """
        known = self.meta.get("seed_sha256")
        source = seed_file or self.out / seeds.FILE
        if seed_file is None and known is None and not source.exists():
            write_atomically(source, f"{seeds.new()}\n".encode(), mode=0o600)
        seed = seeds.read_file(source)
        seed_sha256 = digest(seed.encode())
        if known is None:
            self.keep({"seed_sha256": seed_sha256})
        elif known != seed_sha256:
            raise UsageError(
                f"{self.out} was not graded with the seed in {source}. "
                "Give the --seed-file of the first run, or grade into a new folder."
            )
        return seed

    def remembered(self) -> Remembered:
        """Return what the last run stored."""
        about = (self.meta.get("leaderboard", ""), self.students(), self.roster(), senders.everyone(self._db))
        folders = frozenset(enrolment.folders(self._db))
        return Remembered(parse(*self._course_text()), self.tasks(), *about, folders)

    def enrol(self, found: Collection, tasks: Sequence[TaskPoints]) -> list[str]:
        """Store the students and submissions of the class folder for the lessons of `tasks`, which then count, too.

        Return a sentence that names the students of earlier runs who are not in this folder any more, or [].
        """
        with self.transaction() as db:
            return enrolment.enrol(db, self.folder, found, tasks)

    def add(self, graded: Graded, *, again: bool = False, held: bool = False) -> None:
        """Store a grade, with the results of all tasks, in one transaction.

        `again` is True if the instructor requested this grading with --regrade. With `held`, this grading does not
        count until `publish_held`, unless the file's content has no grade yet. Raise `sqlite3.IntegrityError` if the
        content already has a grade and `again` is False.
        """
        report = graded.report
        about: dict[str, rows.Cell] = {"kit": self.meta["kit"], "faulted": is_faulted(report)}
        about |= {"started_utc": graded.started.isoformat(), "finished_utc": graded.finished.isoformat()}
        with self.transaction() as db:
            key = rows.cells(report.submission.lesson, report.submission.content)
            earlier, counting = regrades.earlier(db, key)
            about["regrade"] = earlier if again else 0
            about["state"] = regrades.HELD if held and counting else regrades.COUNTS
            grading = rows.insert(db, "gradings", {**rows.of_report(report), **about})
            for position, verdict in enumerate(report.verdicts):
                rows.insert(db, "verdicts", {"grading": grading, "position": position, **rows.of_verdict(verdict)})

    def student_lessons(self, student: str | None = None) -> tuple[StudentLesson, ...]:
        """Return, for each student (or one) and lesson, the attempt that counts by the course rules."""
        only = None if student is None else [student]
        return tuple(class_roll.student_lessons_of(self._db, self.course(), only)[1])

    def waiting(self) -> tuple[StudentLesson, ...]:
        """Return the students and lessons with attempts that must be graded (`needed`)."""
        return tuple(class_roll.waiting_of(self._db, self.course()))

    def hand_in_now(self, student: str, lesson: str, at: datetime) -> HandInNow:
        """Return whether a student may hand in a lesson at a time, by the quota and the dates."""
        attempts = rows.attempts(self._db, self.course().with_team_mates([student]))
        return hand_in_now(attempts, self.course(), student, lesson, at)

    def reports(self, student: str | None = None) -> tuple[Report, ...]:
        """Return the reports, with all single measurements, on the attempts that count, of all students or of one."""
        return tuple(rows.report(self._db, one.chosen)[0] for one in self.student_lessons(student) if one.chosen)

    def sources(self) -> tuple[rows.StoredCode, ...]:
        """Return all attempts of the class with their code, sorted by student, lesson and path."""
        return rows.sources(self._db)

    def tasks(self, *, counting: bool = True) -> tuple[TaskPoints, ...]:
        """Return the tasks that count, or with `counting=False` also those that were graded but no longer count."""
        return rows.tasks(self._db, counting=counting)

    def students(self) -> tuple[str, ...]:
        """Return the students who have a folder or zip of submissions, or points by hand."""
        return tuple(database.students(self._db))

    def give(self, entry: HandEntry) -> None:
        """Add points or a comment that a person gave to the history."""
        with self.transaction() as db:
            rows.insert(db, "by_hand", rows.of_hand_entry(entry))

    def given(self) -> tuple[HandEntry, ...]:
        """Return the history of all points and comments by hand, in order of time."""
        return rows.given(self._db)

    def paths(self, lessons: Sequence[str]) -> dict[str, list[str]]:
        """Return, by student, where the files for these lessons are in the class folder, also those not graded."""
        found: dict[str, list[str]] = {}
        of = "SELECT student, lesson, path FROM"
        for student, lesson, path in self._db.execute(f"{of} hand_ins WHERE there UNION {of} left_out"):
            if student and (lesson in lessons or not lesson):
                found.setdefault(student, []).append(path)
        return found

    def restrict(self, lessons: Sequence[str]) -> None:
        """Let only these lessons count. Each of them must have been graded in this class before."""
        with self.transaction() as db:
            db.execute("UPDATE tasks SET counts = 0")
            db.executemany("UPDATE tasks SET counts = 1 WHERE lesson = ?", [[lesson] for lesson in lessons])

    def set(self, *, board: str, course: Course | None, command: str = "", roster: Roster | None = None) -> None:
        """Store the names on the leaderboard, or "", course rules and roster unless None, and the typed `command`."""
        given, meta = {"course": course, "roster": roster}, self.meta
        values = {"leaderboard": board, **{key: one.text for key, one in given.items() if one is not None}}
        if "out" not in meta or not values.items() <= {"leaderboard": "", "roster": "", **meta}.items():
            self.keep(values)  # a run without changes leaves the file as it is
            self.keep_command(command)

    def keep_command(self, command: str) -> None:
        """Store the command that changes the reports, as it was typed, with its output folder. Reports show both."""
        self.keep({"made_by": command, "out": str(self.out)})

    def keep(self, values: Mapping[str, str]) -> None:
        """Store facts on the whole class. With another roster, all students get their names by it."""
        if values.items() <= self.meta.items():
            return
        with self.transaction() as db:
            if (new := values.get("roster")) is not None and new != (before := self.roster()).text:
                senders.rename(db, before, Roster.of(new))
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", (rows.cells(*one) for one in values.items()))

    @property
    def folder(self) -> str:
        """The folder with the submissions of the class that was graded last."""
        return self.meta["class"]

    def commands(self) -> ClassCommands:
        """Return the commands of this class that reports and messages tell the instructor to type."""
        last = self._db.execute("SELECT sandboxed FROM gradings ORDER BY id DESC LIMIT 1").fetchone()
        bare = ("--no-sandbox",) if last and not last["sandboxed"] else ()
        seed, meta = () if (self.out / seeds.FILE).exists() else ("--seed-file", "FILE"), self.meta
        return ClassCommands(self.folder, meta.get("out", "OUT"), (*seed, *bare), meta.get("made_by", ""))

    def pseudonym_key(self) -> str:
        """Return the random key from which pseudonyms are computed. It is made once per class and never published."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('pseudonym_key', ?)", [secrets.token_hex(16)])
        return self.meta["pseudonym_key"]

    def course(self) -> Course:
        """Return the course rules on dates and attempts. If no course file was given, the rules have no dates."""
        return read_once(*self._course_text(), self.students(), self.meta.get("roster", ""))

    def _course_text(self) -> tuple[str, str]:
        return self.meta.get("course", ""), f"the course kept in {self.out / FILE}"

    def roster(self) -> Roster:
        """Return the roster of the course, which has no people if none was given."""
        return Roster.of(self.meta.get("roster", ""))

    def roll(self, student: str | None = None) -> Roll:
        """Return all students with their current grades, or one student alone. The reports lack single measurements."""
        only = None if student is None else [student]
        return class_roll.read(self._db, self.meta, self.course(), self.commands(), only)

    def held(self) -> HeldGradings:
        """Return the gradings that are held, and what would change if all of them were published."""
        self._db.execute("BEGIN")  # so that no grade is stored between the two readings
        try:
            of = (self._db, self.meta, self.course(), self.commands())
            only = self.course().with_team_mates(regrades.students(self._db))
            before, after = class_roll.read(*of, only), class_roll.read(*of, only, with_held=True)
            return HeldGradings(regrades.numbers(self._db), tuple(regrades.changes(before, after)))
        finally:
            self._db.execute("ROLLBACK")

    def publish_held(self, gradings: Names[int] | None = None) -> int:
        """Let these held gradings, or all, count from now on. Return their number."""
        with self.transaction() as db:
            return regrades.settle(db, regrades.COUNTS, gradings)

    def discard_held(self, gradings: Names[int] | None = None) -> int:
        """Discard these held gradings, or all, so that they never count. Return their number."""
        with self.transaction() as db:
            return regrades.settle(db, regrades.DISCARDED, gradings)
