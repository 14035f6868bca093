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

from grader.class_run import place, rows
from grader.class_run.course import Course, parse
from grader.class_run.roll import HandIn, Roll, Span, TaskPoints, is_faulted
from grader.class_run.standing import Row, Stand, stands, struck
from grader.files import WriteError, explained, write_atomically
from grader.hand_ins.collect import Collection
from grader.records import Report, Submission
from harness.errors import UsageError

FILE, SEED = place.FILE, place.SEED

_PATIENCE_S = 30.0  # for a reader that holds the file, such as an SQLite browser


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
    identity = str(folder.resolve())
    place.check(out, folder)
    if (out / FILE).exists():
        with closing(_connect(out)) as db:
            _check_meta(out, _meta(db, out), identity, kit)
    with explained(out):
        out.mkdir(parents=True, exist_ok=True)
    with place.lock(out), closing(_connect(out, mode="rwc")) as db:
        journal = Journal(out, db)
        journal.upgrade()
        with journal.transaction():
            if not _meta(db, out):
                for statement in rows.TABLES.split(";\n"):
                    db.execute(statement)
                made = datetime.now(UTC).isoformat()
                about = {"schema": rows.SCHEMA, "kit": kit, "class": identity, "created_utc": made}
                db.executemany("INSERT INTO meta VALUES (?, ?)", about.items())
            _check_meta(out, _meta(db, out), identity, kit)
        yield journal


@contextmanager
def read(out: Path) -> Iterator["Journal"]:
    """Open the journal in `out` to read it, also during a run. `UsageError` where there is none."""
    if not (out / FILE).is_file():
        raise UsageError(f"{out} holds no {FILE}; name the folder that was given to `run` as --out.")
    with closing(_connect(out)) as db:
        if not (meta := _meta(db, out)):
            raise UsageError(f"{out / FILE} is empty: its first run was stopped; start it again.")
        _check_meta(out, meta)
        journal = Journal(out, db)
        journal.upgrade()
        yield journal


def course_of(out: Path) -> Course:
    """Return the policy that `out` was graded by so far, where anything was."""
    if not (out / FILE).is_file():
        return Course()
    with closing(_connect(out)) as db:
        return Journal(out, db).course()


class Journal:
    """The open journal of one class, as `claim` and `read` give it."""

    def __init__(self, out: Path, db: sqlite3.Connection) -> None:
        self.out = out
        self._db = db

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Raises `WriteError` when the disk is full; what was kept before is kept."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as fault:
            raise WriteError(
                f"{self.out / FILE} could not be written ({fault}); what was graded so far is kept: "
                "make room or make it writable, and run the same command again."
            ) from fault
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def upgrade(self) -> None:
        """Bring a journal that an older kit wrote to the tables of this one, in one step."""
        while steps := rows.UPGRADE.get(_meta(self._db, self.out).get("schema", "")):
            with self.transaction() as db:
                if rows.UPGRADE.get(_meta(db, self.out).get("schema", "")) != steps:
                    continue  # another process has just done it
                for statement in steps.split(";\n"):
                    db.execute(statement)

    def secret_seed(self, seed_file: Path | None = None) -> str:
        """Return the secret seed of the class: from `seed_file`, else made once and kept in OUT.

        Raises `UsageError` when it is not the seed that the class was graded with so far.
        """
        own = self.out / SEED
        known = _meta(self._db, self.out).get("seed_sha256")
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
            db.executemany("INSERT INTO students VALUES (?)", [[name] for name in found.students])
            db.executemany("INSERT INTO tasks VALUES (?, ?, ?)", [[t.lesson, t.task, t.points] for t in tasks])
            db.executemany("INSERT INTO notes VALUES (?)", [[note] for note in found.notes])
            for one in found.submissions:
                at = one.handed_in.isoformat() if one.handed_in else None
                db.execute(rows.HAND_IN, [one.student, one.lesson, one.path, one.sha256, at, one.timed])

    def has(self, submission: Submission) -> bool:
        """Tell whether these very bytes have a grade already; one that is a fault of ours is none."""
        key = [submission.student, submission.lesson, submission.sha256]
        same = "student = ? AND lesson = ? AND sha256 = ? AND NOT faulted"
        return self._db.execute(f"SELECT 1 FROM gradings WHERE {same}", key).fetchone() is not None  # noqa: S608

    def add(self, graded: Graded) -> None:
        """Add a grade, all of it or nothing.

        `sqlite3.IntegrityError` when the submission has one already, unless it was graded `again`.
        """
        report = graded.report
        kit = _meta(self._db, self.out)["kit"]
        times = (graded.started.isoformat(), graded.finished.isoformat())
        with self.transaction() as db:
            given = report.submission
            earlier = "SELECT count(*) FROM gradings WHERE student = ? AND lesson = ? AND sha256 = ?"
            (number,) = db.execute(earlier, [given.student, given.lesson, given.sha256]).fetchone()
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
        return _meta(self._db, self.out)["pseudonym_key"]

    def set_course(self, text: str) -> None:
        """Keep the text of a course's policy; reports follow it from now on."""
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('course', ?)", [text])

    def course(self) -> Course:
        """Return the course's policy; one without dates where none was given."""
        return _course(_meta(self._db, self.out).get("course", ""), f"the course kept in {self.out / FILE}")

    def roll(self) -> Roll:
        """Return the class as it stands, without raw rounds: `reports` gives those of a student."""
        meta = _meta(self._db, self.out)
        attempts, course = self._attempts(), self.course()
        found = list(stands(attempts, course))
        graded = [self._grading(one) for one in found if one.grading is not None]
        return Roll(
            title=Path(meta["class"]).name,
            kit=meta["kit"],
            students=tuple(name for (name,) in self._db.execute("SELECT name FROM students ORDER BY name")),
            tasks=tuple(TaskPoints(*row) for row in self._db.execute(rows.TASKS)),
            reports=tuple(rows.report(self._db, row, raw=False) for row in graded),
            waiting=tuple(hand_in for one in found for hand_in in one.waiting),
            notes=(
                *(note for (note,) in self._db.execute("SELECT note FROM notes ORDER BY rowid")),
                *(f"{s.student}, {s.lesson}: {s.reason}" for one in found if (s := one.standing) and s.reason),
                *struck(attempts, course),
            ),
            standings=tuple(one.standing for one in found if one.standing),
            spans=tuple(_span(row) for row in graded),
        )

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


def _connect(out: Path, mode: str = "rw") -> sqlite3.Connection:
    """Open the journal in autocommit mode: transactions are begun and ended by name alone."""
    path = out / FILE
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_PATIENCE_S)
    except sqlite3.Error as fault:
        raise _unusable(path, fault) from None
    try:
        db.row_factory = sqlite3.Row
        if mode == "rwc":
            db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk before the next submission starts
    except sqlite3.Error as fault:
        db.close()
        raise _unusable(path, fault) from None
    return db


def _unusable(path: Path, fault: sqlite3.Error) -> UsageError:
    return UsageError(f"{path} cannot be used as a journal ({fault}); make it writable, or name a new folder.")


def _meta(db: sqlite3.Connection, out: Path) -> dict[str, str]:
    """Return what the journal says of itself; nothing when it was never filled."""
    try:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return {}
        return {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except sqlite3.Error as fault:
        raise _unusable(out / FILE, fault) from None


def _check_meta(out: Path, meta: dict[str, str], identity: str = "", kit: str = "") -> None:
    """Raise `UsageError` unless the journal is of this schema and, where given, of this class and kit."""
    if meta and meta.get("schema") not in {rows.SCHEMA, *rows.UPGRADE}:
        raise UsageError(f"{out} was written by a kit whose journal this one cannot read; use that kit.")
    if identity and meta.get("class", identity) != identity:
        raise UsageError(f"{out} holds the grades of another class ({meta['class']}); name another folder.")
    if kit and meta.get("kit", kit) != kit:
        raise UsageError(
            f"{out} was graded with kit {meta['kit']} and this is {kit}, which may grade otherwise; "
            "name another folder, or use that kit."
        )
