"""Open, lock and query the database of a class's grades (the journal) in the output folder of a run.

`hand_ins` has one row per attempt, `gradings` one per grading, and `verdicts` one per task of a grading. A grading
belongs to the content of a file, so all students who handed in the same content share the grading. Its
column `state` is "counts", "held" or "discarded". The view `attempts` joins the three tables for people: one row per
task of each grading of each attempt, also of gradings that do not count. `by_hand` has the history of points and
comments that a person gave. The column `folder` is the class folder in which a run found the student or the file.
"""

import fcntl
import os
import shlex
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader import seeds
from grader.files import explained, rights
from harness.errors import UsageError

FILE: Final = "grades.sqlite"
_LOCK: Final = ".lock"
_OTHER_USERS: Final = 0o077  # all permissions of all users but the owner
_TIMEOUT_S: Final = 30.0  # another program, such as an SQLite browser, may lock the file

SCHEMA: Final = "7"  # a database whose tables have another version is refused

TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE students (folder TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (folder, name));
CREATE TABLE senders (
    folder TEXT NOT NULL, entry TEXT NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL, ids TEXT NOT NULL,
    PRIMARY KEY (folder, entry, label, name, ids)
);
CREATE TABLE tasks (
    lesson TEXT NOT NULL, task TEXT NOT NULL UNIQUE, points REAL NOT NULL, counts INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE hand_ins (
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    content TEXT NOT NULL, refused INTEGER NOT NULL, handed_in_utc TEXT, time_source TEXT NOT NULL,
    there INTEGER NOT NULL, folder TEXT NOT NULL,
    PRIMARY KEY (student, lesson, content)
);
CREATE INDEX present ON hand_ins (student) WHERE there;
CREATE TABLE notes (folder TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (folder, note));
CREATE TABLE left_out (
    student TEXT NOT NULL, path TEXT NOT NULL, lesson TEXT NOT NULL, why TEXT NOT NULL, misnamed INTEGER NOT NULL,
    name TEXT NOT NULL, folder TEXT NOT NULL
);
CREATE TABLE by_hand (
    id INTEGER PRIMARY KEY, student TEXT NOT NULL, task TEXT NOT NULL, points REAL, comment TEXT NOT NULL,
    given_by TEXT NOT NULL, at_utc TEXT NOT NULL, undo INTEGER NOT NULL
);
CREATE TABLE gradings (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    source TEXT, refusal TEXT NOT NULL,
    kit TEXT NOT NULL, sandboxed INTEGER NOT NULL, environment TEXT NOT NULL, notes TEXT NOT NULL,
    missing_layers TEXT NOT NULL, remarks TEXT NOT NULL,
    started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL, duration_s REAL NOT NULL, faulted INTEGER NOT NULL,
    regrade INTEGER NOT NULL, content TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'counts'
);
CREATE UNIQUE INDEX one_grade ON gradings (lesson, content, kit, regrade) WHERE NOT faulted;
CREATE INDEX by_content ON gradings (lesson, content);
CREATE INDEX of_state ON gradings (state) WHERE state <> 'counts';
CREATE TABLE verdicts (
    grading INTEGER NOT NULL REFERENCES gradings (id), position INTEGER NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL, max_points REAL NOT NULL, cost TEXT,
    ratio REAL, low REAL, high REAL, rounds_played INTEGER, tier INTEGER, undecided INTEGER,
    cases_passed INTEGER NOT NULL, cases INTEGER NOT NULL,
    rationale TEXT NOT NULL, help TEXT NOT NULL, output_tail TEXT NOT NULL, rounds TEXT NOT NULL,
    control TEXT NOT NULL,
    PRIMARY KEY (grading, position), UNIQUE (grading, task)
);
CREATE VIEW attempts AS SELECT
    h.student, h.lesson, task, h.sha256, status, points, max_points, cost, ratio, low, high, rounds_played, tier,
    undecided, rationale, help, rounds, control, environment, kit, sandboxed, missing_layers, started_utc,
    finished_utc, duration_s, h.path, g.id AS grading, state
    FROM hand_ins AS h JOIN gradings AS g ON g.lesson = h.lesson AND g.content = h.content
    JOIN verdicts ON verdicts.grading = g.id ORDER BY g.id, h.student, position;
"""

_NEW_TIME_COUNTS: Final = """handed_in_utc IS NULL
    OR instr('file folder platform', excluded.time_source) > instr('file folder platform', time_source)
    OR excluded.time_source = time_source AND (time_source = 'folder' OR excluded.handed_in_utc < handed_in_utc)"""

HAND_IN: Final = f"""
INSERT INTO hand_ins VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (student, lesson, content) DO UPDATE SET
    path = excluded.path, there = 1, folder = excluded.folder,
    handed_in_utc = CASE WHEN {_NEW_TIME_COUNTS} THEN excluded.handed_in_utc ELSE handed_in_utc END,
    time_source = CASE WHEN {_NEW_TIME_COUNTS} THEN excluded.time_source ELSE time_source END
"""  # noqa: S608 - the inserted text is a constant
"""An SQL statement that stores an attempt.

If the file is stored already, the time of the better source counts: the platform, then a folder's name, then the file.
Of two times of the platform or of the file, the earlier counts, because a later copy is not a later attempt.
"""

ATTEMPTS: Final = """
SELECT hand_ins.*, grade.id AS grading, grade.regrade,
    CASE WHEN grade.faulted THEN NULL ELSE (SELECT sum(points) FROM verdicts WHERE grading = grade.id) END AS points,
    coalesce((SELECT json_group_object(task, points) FROM verdicts WHERE grading = grade.id), '{}') AS by_task,
    EXISTS (
        SELECT 1 FROM gradings AS g WHERE g.lesson = hand_ins.lesson AND g.content = hand_ins.content AND g.faulted
    ) AS was_faulted,
    coalesce((SELECT min(help = ?) FROM verdicts WHERE grading = grade.id), 0) AS untouched
FROM hand_ins LEFT JOIN gradings AS grade ON grade.id = (
    SELECT id FROM gradings AS g WHERE g.lesson = hand_ins.lesson AND g.content = hand_ins.content
    AND g.state IN ('counts', ?) ORDER BY faulted, regrade DESC, id DESC LIMIT 1
) WHERE hand_ins.student IN (
    SELECT value FROM json_each(coalesce(?, (SELECT json_group_array(DISTINCT student) FROM hand_ins)))
) AND hand_ins.lesson IN (
    SELECT lesson FROM tasks WHERE counts
) AND hand_ins.lesson IN (
    SELECT value FROM json_each(coalesce(?, (SELECT json_group_array(lesson) FROM tasks)))
)
ORDER BY hand_ins.student, hand_ins.lesson, handed_in_utc, hand_ins.rowid
"""
"""An SQL query for all attempts of the class, or of some students, each with the newest grade of its file.

Its parameters are the advice to a student who has written nothing, "held" if held gradings count, too (otherwise
"counts"), and the students and the lessons, each as a JSON list or NULL for all.
"""

SOURCES: Final = """
SELECT hand_ins.*, (
    SELECT source FROM gradings AS g WHERE g.lesson = hand_ins.lesson AND g.content = hand_ins.content
    AND source IS NOT NULL ORDER BY id DESC LIMIT 1
) AS source FROM hand_ins ORDER BY student, lesson, path, content
"""
"""An SQL query for all attempts of the class, each with its code."""

UNGRADED: Final = """
SELECT DISTINCT student, lesson FROM hand_ins AS h WHERE there AND NOT EXISTS (
    SELECT 1 FROM gradings AS g
    WHERE g.lesson = h.lesson AND g.content = h.content AND NOT g.faulted AND g.state = 'counts'
)
"""
"""An SQL query for the students and lessons with an attempt that has no grade."""


def check_folder(out: Path, folder: Path) -> None:
    """Raise `UsageError` if the grades of the submissions in `folder` cannot be stored in the folder `out`."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file. Give a folder for the grades; if the folder does not exist, it is created.")
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{out} is in the class folder, so `run` would take it for the folder of a student. Use another folder."
        )
    if out.is_dir() and not (out / FILE).exists():
        others = sorted(path.name for path in out.iterdir() if path.name not in {seeds.FILE, _LOCK})
        if others:
            raise UsageError(f"{out} holds other files (such as {others[0]}) and no journal. Use a new folder.")


def create_folder(out: Path) -> None:
    """Create the folder `out` and an empty database in it, which only the user can read. Raise `WriteError`.

    A folder that has no database yet loses the rights of other users. Later, its files get the rights of the folder.
    """
    with explained(out):
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (out / FILE).exists():
            with suppress(PermissionError):  # the folder belongs to another user
                out.chmod(stat.S_IMODE(out.stat().st_mode) & ~_OTHER_USERS)
        for name in (FILE, _LOCK):
            (out / name).touch(mode=rights(out))


def create_tables(db: sqlite3.Connection, kit: str, folder: str) -> None:
    """Create the tables for a class in `folder` that this version of the kit grades."""
    for statement in TABLES.split(";\n"):
        db.execute(statement)
    about = {"schema": SCHEMA, "kit": kit, "class": folder, "created_utc": datetime.now(UTC).isoformat()}
    db.executemany("INSERT INTO meta VALUES (?, ?)", about.items())


def readers(out: Path) -> Iterator[str]:
    """Yield a sentence if other users of this machine can read the folder `out`."""
    if out.stat().st_mode & _OTHER_USERS:
        prevent = f"chmod -R go= {shlex.quote(str(out))}"
        yield f"Other users of this machine may be able to read {out}. To prevent this: {prevent}"


@contextmanager
def lock(out: Path, *, shared: bool = False) -> Iterator[None]:
    """Lock the folder `out` during the `with` block. Raise `UsageError` if another process holds the lock.

    Processes with a `shared` lock exclude only those without: a server may run while a person gives points by hand.
    """
    with explained(out):
        file = (out / _LOCK).open("a+")
    with file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"Another run or server (process {file.read().strip() or 'unknown'}) is using {out}. "
                "Wait until it ends, or stop it, and run the command again."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def connect(out: Path, mode: str = "rw") -> sqlite3.Connection:
    """Return a connection to the database of grades in the folder `out`, without automatic transactions.

    The mode "rwc" creates the file if there is none. Threads may use the connection one after the other. Raise
    `UsageError` if the file cannot be used.
    """
    uri = f"{(out / FILE).absolute().as_uri()}?mode={mode}"
    try:
        db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_TIMEOUT_S, check_same_thread=False)
        db.row_factory = sqlite3.Row
        if mode == "rwc":
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk before the next submission starts
    except sqlite3.Error as fault:
        raise _unusable(out / FILE, fault) from None
    return db


@contextmanager
def readable(out: Path) -> Iterator[None]:
    """Raise `UsageError` if the database in the folder `out` is damaged, instead of an error of SQLite."""
    try:
        yield
    except sqlite3.DatabaseError as fault:
        raise UsageError(f"{out / FILE} cannot be read ({fault}). Restore this file from a copy.") from fault


def meta(db: sqlite3.Connection, out: Path, kit: str = "") -> dict[str, str]:
    """Return the table `meta` of the database in the folder `out` as a dict, or {} for an empty file.

    Raise `UsageError` if this version cannot read the database, or if the database is of another program version than
    `kit`. "" means any.
    """
    try:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'").fetchone():
            return {}
        about = {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except sqlite3.Error as fault:
        raise _unusable(out / FILE, fault) from None
    if about.get("schema") != SCHEMA:
        raise UsageError(
            f"{out} was written by a different version of the kit, and this version cannot read the journal in it. "
            "Use the kit that wrote this folder."
        )
    if kit and about["kit"] != kit:
        raise UsageError(
            f"{out} was graded with version {about['kit']} of the kit, and version {kit} may grade differently. "
            f"Use another folder, or kit {about['kit']}."
        )
    return about


def students(db: sqlite3.Connection) -> list[str]:
    """Return the students in the class folders, with a hand-in, or with points by hand, sorted by name."""
    names = db.execute(
        "SELECT name FROM students UNION SELECT student FROM hand_ins WHERE there UNION SELECT student FROM by_hand"
    )
    return sorted(name for (name,) in names)


def _unusable(path: Path, fault: sqlite3.Error) -> UsageError:
    return UsageError(
        f"{path} cannot be used as a journal ({fault}). Restore it from a copy, make it writable, or use a new folder."
    )
