"""The journal, `OUT/grades.sqlite`: every grade ever given in a class, with the evidence it rests on.

One transaction a submission, in WAL mode and synced to the disk, so that a killed run or a power cut loses
what was in flight and nothing else. Grades are only ever added: a changed hand-in is another attempt, graded
anew beside its old grade, and an attempt has at most one grade that is not a fault of ours, unless somebody
asked for another; then the newest holds. Ask it with any SQLite tool:
`SELECT * FROM attempts` has one row for each task graded, with raw rounds, environment and kit version.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from grader.class_run import database, place, rows
from grader.class_run.course import Course, parse
from grader.class_run.roll import HandIn, Roll, Span, TaskPoints, is_faulted
from grader.class_run.standing import Row, Stand, stands, struck
from grader.files import WriteError, explained, write_atomically
from grader.hand_ins.collect import Collection
from grader.records import Report, Submission
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
        journal.upgrade()
        with journal.transaction():
            if not database.meta(db, out):
                for statement in rows.TABLES.split(";\n"):
                    db.execute(statement)
                made = datetime.now(UTC).isoformat()
                about = {"schema": rows.SCHEMA, "kit": kit, "class": identity, "created_utc": made}
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
        journal.upgrade()
        yield journal


def course_of(out: Path) -> Course:
    """Return the policy that `out` was graded by so far, where anything was."""
    if not (out / FILE).is_file():
        return Course()
    with closing(database.connect(out)) as db:
        return Journal(out, db).course()


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

    def upgrade(self) -> None:
        """Bring a journal that an older kit wrote to the tables of this one, in one step."""
        while steps := rows.UPGRADE.get(database.meta(self._db, self.out).get("schema", "")):
            with self.transaction() as db:
                if rows.UPGRADE.get(database.meta(db, self.out).get("schema", "")) != steps:
                    continue  # another process has just done it
                for statement in steps.split(";\n"):
                    db.execute(statement)

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
        """Record the class and its hand-ins for the lessons of `tasks`; those there before are attempts still."""
        with self.transaction() as db:
            for lesson in {task.lesson for task in tasks}:
                db.execute("DELETE FROM tasks WHERE lesson = ?", [lesson])
                db.execute("UPDATE hand_ins SET there = 0 WHERE lesson = ?", [lesson])
            db.execute("DELETE FROM notes")
            db.execute("DELETE FROM students")
            db.executemany("INSERT INTO students VALUES (?)", map(rows.cells, found.students))
            db.executemany("INSERT INTO tasks VALUES (?, ?, ?)", [[t.lesson, t.task, t.points] for t in tasks])
            db.executemany("INSERT INTO notes VALUES (?)", map(rows.cells, found.notes))
            for one in found.submissions:
                at = one.handed_in.isoformat() if one.handed_in else None
                db.execute(rows.HAND_IN, rows.cells(one.student, one.lesson, one.path, one.sha256, at, one.timed))

    def has(self, submission: Submission) -> bool:
        """Tell whether these very bytes have a grade already; one that is a fault of ours is none."""
        key = rows.cells(submission.student, submission.lesson, submission.sha256)
        same = "student = ? AND lesson = ? AND sha256 = ? AND NOT faulted"
        return self._db.execute(f"SELECT 1 FROM gradings WHERE {same}", key).fetchone() is not None  # noqa: S608

    def add(self, graded: Graded) -> None:
        """Add a grade, all of it or nothing.

        `sqlite3.IntegrityError` when the submission has one already, unless it was graded `again`.
        """
        report = graded.report
        kit = database.meta(self._db, self.out)["kit"]
        times = (graded.started.isoformat(), graded.finished.isoformat())
        with self.transaction() as db:
            given = report.submission
            earlier = "SELECT count(*) FROM gradings WHERE student = ? AND lesson = ? AND sha256 = ?"
            (number,) = db.execute(earlier, rows.cells(given.student, given.lesson, given.sha256)).fetchone()
            regrade = number if graded.again else 0
            row = rows.of_report(report, kit=kit, times=times, faulted=is_faulted(report), regrade=regrade)
            number = db.execute(rows.INSERT_GRADING, row).lastrowid
            verdicts = [(number, place, *rows.of_verdict(v)) for place, v in enumerate(report.verdicts)]
            db.executemany(rows.INSERT_VERDICT, verdicts)

    def reports(self, student: str | None = None) -> tuple[Report, ...]:
        """Return the reports of all attempts that count, or of one student's, by student and lesson."""
        found = stands(self._attempts(student), self.course())
        return tuple(rows.report(self._db, self._grading(one)) for one in found if one.grading is not None)

    def pseudonym_key(self) -> str:
        """Return what turns students into pseudonyms: random, made once a class, and nothing that is ever given out."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('pseudonym_key', ?)", [secrets.token_hex(16)])
        return database.meta(self._db, self.out)["pseudonym_key"]

    def set_course(self, text: str) -> None:
        """Keep the text of a course's policy; reports follow it from now on."""
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('course', ?)", [text])

    def course(self) -> Course:
        """Return the course's policy; one without dates where none was given."""
        return _course(database.meta(self._db, self.out).get("course", ""), f"the course kept in {self.out / FILE}")

    def roll(self) -> Roll:
        """Return the class as it stands, without raw rounds: `reports` gives those of a student."""
        meta = database.meta(self._db, self.out)
        attempts, course = self._attempts(), self.course()
        found = list(stands(attempts, course))
        graded = [self._grading(one) for one in found if one.grading is not None]
        read, unreadable = self._read(graded)
        lost = {(one.student, one.lesson) for one in unreadable}
        return Roll(
            title=Path(meta["class"]).name,
            kit=meta["kit"],
            students=tuple(name for (name,) in self._db.execute("SELECT name FROM students ORDER BY name")),
            tasks=tuple(TaskPoints(*row) for row in self._db.execute(rows.TASKS)),
            reports=tuple(report for report, _ in read),
            waiting=(*(hand_in for one in found for hand_in in one.waiting), *unreadable),
            notes=(
                *(note for (note,) in self._db.execute("SELECT note FROM notes ORDER BY rowid")),
                *(f"{s.student}, {s.lesson}: {s.reason}" for one in found if (s := one.standing) and s.reason),
                *struck(attempts, course),
                *(f"{one.student}, {one.lesson}: its grade in {FILE} cannot be read" for one in unreadable),
            ),
            standings=tuple(s for one in found if (s := one.standing) and (s.student, s.lesson) not in lost),
            spans=tuple(span for _, span in read),
        )

    def _read(self, graded: Sequence[sqlite3.Row]) -> tuple[list[tuple[Report, Span]], list[HandIn]]:
        """Return the reports of these gradings without raw rounds, and the hand-ins whose grading cannot be read."""
        read: list[tuple[Report, Span]] = []
        unreadable: list[HandIn] = []
        for row in graded:
            try:
                read.append((rows.report(self._db, row, raw=False), _span(row)))
            except Exception:  # noqa: BLE001 - whatever it is, it concerns this hand-in alone
                unreadable.append(HandIn(row["student"], row["lesson"], row["path"], row["sha256"]))
        return read, unreadable

    def _attempts(self, student: str | None = None) -> list[Row]:
        """Every attempt of the class, or of one student, by student and lesson."""
        asked = (rows.ATTEMPTS,) if student is None else (rows.ATTEMPTS_OF, [student])
        return [
            Row(
                HandIn(row["student"], row["lesson"], row["path"], row["sha256"]),
                rows.moment(row["handed_in_utc"]),
                bool(row["there"]),
                row["grading"],
                row["points"],
                bool(row["refused"]),
            )
            for row in self._db.execute(*asked)
        ]

    def _grading(self, stand: Stand) -> sqlite3.Row:
        """The row of the grade that counts."""
        row: sqlite3.Row = self._db.execute(rows.GRADING, [stand.grading]).fetchone()
        return row


_course = lru_cache(maxsize=4)(parse)
"""The same text is the same course: reports ask for it once a student."""


def _span(row: sqlite3.Row) -> Span:
    times = (datetime.fromisoformat(row[name]) for name in ("started_utc", "finished_utc"))
    return Span(row["student"], row["lesson"], *times)
