"""The journal, `OUT/grades.sqlite`: every grade ever given in a class, with the evidence it rests on.

One transaction a submission, in WAL mode and synced to the disk, so that a killed run or a power cut loses
what was in flight and nothing else. Grades are only ever added: a changed hand-in is graded anew beside its
old grade, and a submission has at most one grade that is not a fault of ours. Ask it with any SQLite tool:
`SELECT * FROM attempts` has one row for each task graded, with raw rounds, environment and kit version.
"""

import fcntl
import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader import rows
from grader.collect import Collection
from grader.files import WriteError, explained, write_atomically
from grader.records import Report, Submission
from grader.roll import HandIn, Roll, Span, TaskPoints, is_faulted
from harness.errors import UsageError

FILE = "grades.sqlite"
SEED = ".seed"
LOCK = ".lock"

_PATIENCE_S = 30.0  # for a reader that holds the file, such as an SQLite browser


@dataclass(frozen=True, slots=True)
class Graded:
    """A report with the times, in UTC, at which its grading began and ended."""

    report: Report
    started: datetime
    finished: datetime


@contextmanager
def claim(out: Path, folder: Path, *, kit: str) -> Iterator["Journal"]:
    """Open the journal in `out` to grade the class in `folder`, alone; make it where there is none.

    Raises `UsageError`, and has touched nothing, when `out` belongs to another class or kit version, holds
    other files, or another process is grading into it.
    """
    identity = str(folder.resolve())
    _check_place(out, folder)
    if (out / FILE).exists():
        with closing(_connect(out)) as db:
            _check_meta(out, _meta(db, out), identity, kit)
    with explained(out):
        out.mkdir(parents=True, exist_ok=True)
    with _lock(out), closing(_connect(out, mode="rwc")) as db:
        journal = Journal(out, db)
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
        yield Journal(out, db)


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
        """Record the class and its hand-ins for the lessons of `tasks`, in place of what was there."""
        with self.transaction() as db:
            for lesson in {task.lesson for task in tasks}:
                db.execute("DELETE FROM tasks WHERE lesson = ?", [lesson])
                db.execute("DELETE FROM hand_ins WHERE lesson = ?", [lesson])
            db.execute("DELETE FROM notes")
            db.execute("DELETE FROM students")
            db.executemany("INSERT INTO students VALUES (?)", [[name] for name in found.students])
            db.execute("DELETE FROM hand_ins WHERE student NOT IN (SELECT name FROM students)")
            db.executemany("INSERT INTO tasks VALUES (?, ?, ?)", [[t.lesson, t.task, t.points] for t in tasks])
            db.executemany("INSERT INTO notes VALUES (?)", [[note] for note in found.notes])
            hand_ins = [[s.student, s.lesson, s.path, s.sha256] for s in found.submissions]
            db.executemany("INSERT INTO hand_ins VALUES (?, ?, ?, ?)", hand_ins)

    def has(self, submission: Submission) -> bool:
        """Tell whether these very bytes have a grade already; one that is a fault of ours is none."""
        key = [submission.student, submission.lesson, submission.sha256]
        same = "student = ? AND lesson = ? AND sha256 = ? AND NOT faulted"
        return self._db.execute(f"SELECT 1 FROM gradings WHERE {same}", key).fetchone() is not None  # noqa: S608

    def add(self, graded: Graded) -> None:
        """Add a grade, all of it or nothing. `sqlite3.IntegrityError` when the submission has one already."""
        report = graded.report
        kit = _meta(self._db, self.out)["kit"]
        times = (graded.started.isoformat(), graded.finished.isoformat())
        with self.transaction() as db:
            row = rows.of_report(report, kit=kit, times=times, faulted=is_faulted(report))
            number = db.execute(rows.INSERT_GRADING, row).lastrowid
            verdicts = [(number, place, *rows.of_verdict(v)) for place, v in enumerate(report.verdicts)]
            db.executemany(rows.INSERT_VERDICT, verdicts)

    def reports(self, student: str | None = None) -> tuple[Report, ...]:
        """Return the report of every hand-in as last handed in, where it has one, by student and lesson."""
        asked = (rows.CURRENT,) if student is None else (rows.CURRENT_OF, [student])
        return tuple(rows.report(self._db, row) for row in self._db.execute(*asked))

    def pseudonym_key(self) -> str:
        """Return what turns students into pseudonyms: random, made once a class, and nothing that is ever given out."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('pseudonym_key', ?)", [secrets.token_hex(16)])
        return _meta(self._db, self.out)["pseudonym_key"]

    def roll(self) -> Roll:
        """Return the class as it stands, without raw rounds: `reports` gives those of a student."""
        meta = _meta(self._db, self.out)
        graded = [(rows.report(self._db, row, raw=False), row) for row in self._db.execute(rows.CURRENT)]
        reports = tuple(report for report, _ in graded)
        done = {(report.submission.student, report.submission.lesson) for report in reports}
        hand_ins = [HandIn(*row) for row in self._db.execute("SELECT * FROM hand_ins ORDER BY student, lesson")]
        return Roll(
            title=Path(meta["class"]).name,
            kit=meta["kit"],
            students=tuple(name for (name,) in self._db.execute("SELECT name FROM students ORDER BY name")),
            tasks=tuple(TaskPoints(*row) for row in self._db.execute(rows.TASKS)),
            reports=reports,
            waiting=tuple(one for one in hand_ins if (one.student, one.lesson) not in done),
            notes=tuple(note for (note,) in self._db.execute("SELECT note FROM notes ORDER BY rowid")),
            spans=tuple(_span(row) for _, row in graded),
        )


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


def _check_place(out: Path, folder: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder for the grades, which is made when it does not exist.")
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{out} lies in the class folder, where it would be taken for a student; name one outside.")
    if out.is_dir() and not (out / FILE).exists():
        others = sorted(path.name for path in out.iterdir() if path.name not in {SEED, LOCK})
        if others:
            raise UsageError(f"{out} holds other files (such as {others[0]}) and no journal; name a new folder.")


def _check_meta(out: Path, meta: dict[str, str], identity: str = "", kit: str = "") -> None:
    """Raise `UsageError` unless the journal is of this schema and, where given, of this class and kit."""
    if meta.get("schema", rows.SCHEMA) != rows.SCHEMA or (meta and "schema" not in meta):
        raise UsageError(f"{out} was written by a kit whose journal this one cannot read; use that kit.")
    if identity and meta.get("class", identity) != identity:
        raise UsageError(f"{out} holds the grades of another class ({meta['class']}); name another folder.")
    if kit and meta.get("kit", kit) != kit:
        raise UsageError(
            f"{out} was graded with kit {meta['kit']} and this is {kit}, which may grade otherwise; "
            "name another folder, or use that kit."
        )


@contextmanager
def _lock(out: Path) -> Iterator[None]:
    """Hold OUT against other processes. The lock ends with the process that holds it, however that ends."""
    with explained(out):
        file = (out / LOCK).open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"Another run (process {file.read().strip() or 'unknown'}) is grading into {out}; "
                "wait for it, or stop it and run again."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
