"""The journal, `OUT/grades.sqlite`: every grade ever given in a class, with the evidence it rests on.

One transaction a submission, in WAL mode and synced to the disk, so that a killed run or a power cut loses
what was in flight and nothing else. Grades are only ever added. A grade belongs to the content of a file: all students
who handed in the same bytes for a lesson share it. A content has at most one grade that is not a fault of ours,
unless somebody asked for another; then the newest holds. The journal also remembers what the class is graded on, by
which policy, and whether there is a leaderboard. Ask it with any SQLite tool: `SELECT * FROM attempts` has one row for
each task of each attempt graded, with raw rounds, environment and kit version.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from grader.class_run import database, place, reading, rows, tables
from grader.class_run.course import Course, parse
from grader.class_run.roll import Roll, TaskPoints, is_faulted
from grader.class_run.standing import Stand, stands
from grader.files import WriteError, explained, write_atomically
from grader.hand_ins.collect import Collection
from grader.records import Report
from grader.text import storable
from harness.errors import UsageError

FILE, SEED = place.FILE, place.SEED


@dataclass(frozen=True, slots=True)
class Graded:
    """A report with the times, in UTC, at which its grading began and ended; `again` when one was asked for anew."""

    report: Report
    started: datetime
    finished: datetime
    again: bool = False


@contextmanager
def claim(out: Path, folder: Path, *, kit: str) -> Iterator["Journal"]:
    """Open the journal in `out` to grade the class in `folder`, alone; make it where there is none.

    Raises `UsageError`, and has touched nothing, when `out` belongs to another class or kit version, holds
    other files, or another process is grading into it.
    """
    identity = storable(str(folder.resolve()))
    place.check(out, folder)
    if (out / FILE).exists():
        with closing(database.connect(out)) as db:
            database.check(out, database.meta(db, out), identity, kit)
    with explained(out):
        out.mkdir(parents=True, exist_ok=True)
    with place.lock(out), closing(database.connect(out, mode="rwc")) as db:
        journal = Journal(out, db)
        database.upgrade(db, out, journal.transaction)
        with journal.transaction():
            if not database.meta(db, out):
                for statement in tables.TABLES.split(";\n"):
                    db.execute(statement)
                made = datetime.now(UTC).isoformat()
                about = {"schema": tables.SCHEMA, "kit": kit, "class": identity, "created_utc": made}
                db.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
            database.check(out, database.meta(db, out), identity, kit)
        yield journal


@contextmanager
def read(out: Path) -> Iterator["Journal"]:
    """Open the journal in `out` to read it, also during a run. `UsageError` where there is none."""
    if not (out / FILE).is_file():
        raise UsageError(f"{out} holds no {FILE}; name the folder that was given to `run` as --out.")
    with closing(database.connect(out)) as db:
        if not (meta := database.meta(db, out)):
            raise UsageError(f"{out / FILE} is empty: its first run was stopped; start it again.")
        database.check(out, meta)
        journal = Journal(out, db)
        database.upgrade(db, out, journal.transaction)
        yield journal


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the class in an output folder was graded by so far: nothing for a new folder."""

    course: Course = field(default_factory=Course)
    tasks: tuple[TaskPoints, ...] = ()
    board: str = ""


def remembered(out: Path) -> Remembered:
    """Return what the class in `out` was graded by so far. Raises `UsageError` where its journal cannot be read."""
    if not (out / FILE).is_file():
        return Remembered()
    with closing(database.connect(out)) as db:
        if not (meta := database.meta(db, out)):
            return Remembered()
        database.check(out, meta)
        book, older = Journal(out, db), meta["schema"] != tables.SCHEMA  # it is upgraded when it is claimed
        return Remembered(
            book.course(), book.tasks(counting=not older), database.older_board(out) if older else book.board()
        )


class Journal:
    """The open journal of one class, as `claim` and `read` give it."""

    def __init__(self, out: Path, db: sqlite3.Connection) -> None:
        self.out = out
        self._db = db

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Raises `WriteError` when the disk is full or the file is spoilt; earlier grades are kept."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            if isinstance(fault, rows.OF_A_ROW):
                raise
            raise WriteError(
                f"{self.out / FILE} could not be written ({fault}); what was graded so far is kept: "
                "make room or make it writable, and run the same command again."
            ) from fault
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def secret_seed(self, seed_file: Path | None = None) -> str:
        """Return the secret seed of the class: from `seed_file`, else made once and kept in OUT.

        Raises `UsageError` when it is not the seed that the class was graded with so far.
        """
        own = self.out / SEED
        known = database.meta(self._db, self.out).get("seed_sha256")
        if seed_file is None and known is None and not own.exists():
            write_atomically(own, secrets.token_hex(32).encode() + b"\n", mode=0o600)
        source = seed_file or own
        try:
            seed = source.read_bytes().decode("utf-8", "backslashreplace").strip()
        except OSError as fault:
            why = f"The seed file {source} cannot be read ({fault.strerror})"
            raise UsageError(f"{why}; give the --seed-file this class was begun with.") from None
        if not seed:
            raise UsageError(f"The seed file {source} is empty; write some random text into it.")
        digest = hashlib.sha256(seed.encode()).hexdigest()
        if known is None:
            with self.transaction() as db:
                db.execute("INSERT INTO meta VALUES ('seed_sha256', ?)", [digest])
        elif known != digest:
            raise UsageError(
                f"{self.out} was graded with another seed than {source} holds; "
                "give the --seed-file it was begun with, or grade into a new folder."
            )
        return seed

    def enrol(self, found: Collection, tasks: Sequence[TaskPoints]) -> None:
        """Record the class, its hand-ins for the lessons of `tasks`, and that it is graded on these alone.

        Hand-ins there before are attempts still. Grades of other lessons are kept, and count no more.
        """
        with self.transaction() as db:
            db.execute("UPDATE tasks SET counts = 0")
            for lesson in {task.lesson for task in tasks}:
                db.execute("DELETE FROM tasks WHERE lesson = ?", [lesson])
                db.execute("UPDATE hand_ins SET there = 0 WHERE lesson = ?", [lesson])
            for table in ("notes", "students", "left_out"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - of this line above
            db.executemany("INSERT INTO students VALUES (?)", map(rows.cells, found.students))
            db.executemany("INSERT INTO tasks VALUES (?, ?, ?, 1)", [[t.lesson, t.task, t.points] for t in tasks])
            db.executemany("INSERT INTO notes VALUES (?)", map(rows.cells, found.notes))
            for file in found.left_out:
                values = (file.student, file.path, file.lesson, file.why, file.misnamed)
                db.execute(tables.INSERT_LEFT_OUT, rows.cells(*values))
            for one in found.submissions:
                db.execute(tables.HAND_IN, rows.of_hand_in(one))

    def add(self, graded: Graded) -> None:
        """Add a grade, all of it or nothing.

        `sqlite3.IntegrityError` when its content has one already, unless it was graded `again`.
        """
        report = graded.report
        kit = database.meta(self._db, self.out)["kit"]
        times = (graded.started.isoformat(), graded.finished.isoformat())
        with self.transaction() as db:
            key = rows.cells(report.submission.lesson, report.submission.content)
            (number,) = db.execute(tables.TIMES_GRADED, key).fetchone()
            regrade = number if graded.again else 0
            row = rows.of_report(report, kit=kit, times=times, faulted=is_faulted(report), regrade=regrade)
            number = db.execute(tables.INSERT_GRADING, row).lastrowid
            verdicts = [(number, place, *rows.of_verdict(v)) for place, v in enumerate(report.verdicts)]
            db.executemany(tables.INSERT_VERDICT, verdicts)

    def stands(self) -> tuple[Stand, ...]:
        """Return how each student stands in each lesson by the course's policy."""
        return tuple(stands(reading.attempts(self._db), self.course()))

    def reports(self, student: str | None = None) -> tuple[Report, ...]:
        """Return the reports of all attempts that count, or of one student's, by student and lesson."""
        found = stands(reading.attempts(self._db, student), self.course())
        return tuple(reading.report(self._db, one.chosen)[0] for one in found if one.chosen)

    def tasks(self, *, counting: bool = True) -> tuple[TaskPoints, ...]:
        """Return the tasks that the class is graded on; unless `counting`, also those that it was graded on before."""
        asked = tables.TASKS if counting else tables.ALL_TASKS
        return tuple(TaskPoints(*row) for row in self._db.execute(asked))

    def students(self) -> tuple[str, ...]:
        """Return the students who have a folder or zip in the class."""
        return tuple(name for (name,) in self._db.execute("SELECT name FROM students ORDER BY name"))

    def restrict(self, lessons: Sequence[str]) -> None:
        """Let the class be graded on these lessons alone, of those that it was ever graded on."""
        with self.transaction() as db:
            db.execute("UPDATE tasks SET counts = 0")
            db.executemany("UPDATE tasks SET counts = 1 WHERE lesson = ?", [[lesson] for lesson in lessons])

    def board(self) -> str:
        """Return under which names there is a leaderboard; empty where there is none."""
        return database.meta(self._db, self.out).get("leaderboard", "")

    def set_board(self, names: str) -> None:
        """Remember whether there is a leaderboard, and under which names."""
        self._set("leaderboard", names)

    @property
    def folder(self) -> str:
        """The folder of hand-ins that the class was collected from."""
        return database.meta(self._db, self.out)["class"]

    def unsandboxed(self) -> bool:
        """Tell whether the newest grading was made with no sandbox."""
        row = self._db.execute("SELECT sandboxed FROM gradings ORDER BY id DESC LIMIT 1").fetchone()
        return row is not None and not row["sandboxed"]

    def pseudonym_key(self) -> str:
        """Return what turns students into pseudonyms: random, made once a class, and nothing that is ever given out."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('pseudonym_key', ?)", [secrets.token_hex(16)])
        return database.meta(self._db, self.out)["pseudonym_key"]

    def set_course(self, text: str) -> None:
        """Keep the text of a course's policy; reports follow it from now on."""
        self._set("course", text)

    def _set(self, key: str, value: str) -> None:
        if database.meta(self._db, self.out).get(key, "") == value:
            return
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def course(self) -> Course:
        """Return the course's policy; one without dates where none was given."""
        return _course(database.meta(self._db, self.out).get("course", ""), f"the course kept in {self.out / FILE}")

    def roll(self) -> Roll:
        """Return the class as it stands, without raw rounds: `reports` gives those of a student."""
        return reading.roll(self._db, database.meta(self._db, self.out), self.course(), self.tasks())


_course = lru_cache(maxsize=4)(parse)
"""The same text is the same course: reports ask for it once a student."""
