"""Open and lock the database of a class's grades (the journal) in the output folder of a run.

The database is only used if it belongs to this class and if this version of the kit can read it.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grader import seeds
from grader.class_run import tables
from grader.files import explained
from harness.errors import UsageError

FILE: Final = "grades.sqlite"
_LOCK: Final = ".lock"
_TIMEOUT_S: Final = 30.0  # another program, such as an SQLite browser, may lock the file


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


@contextmanager
def lock(out: Path) -> Iterator[None]:
    """Lock the folder `out` against other processes until the end of the `with` block or of this process.

    Raise `UsageError` if another process holds the lock.
    """
    with explained(out):
        file = (out / _LOCK).open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"Another run (process {file.read().strip() or 'unknown'}) is grading into {out}. "
                "Wait until it ends, or stop it, and run the command again."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def connect(out: Path, mode: str = "rw") -> sqlite3.Connection:
    """Return a connection to the database of grades in the folder `out`, without automatic transactions.

    The mode "rwc" creates the file if there is none. Raise `UsageError` if the file cannot be used.
    """
    path = out / FILE
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_TIMEOUT_S
        )
        db.row_factory = sqlite3.Row
        if mode == "rwc":
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk before the next submission starts
    except sqlite3.Error as fault:
        raise _unusable(path, fault) from None
    return db


def meta(db: sqlite3.Connection, out: Path, identity: str = "", kit: str = "") -> dict[str, str]:
    """Return the table `meta` of the database in the folder `out` as a dict, or {} for an empty file.

    Raise `UsageError` if this version cannot read the database, or if it is of another class or program version than
    `identity` and `kit`. Both are only compared if they are not "".
    """
    try:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'").fetchone():
            return {}
        about = {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except sqlite3.Error as fault:
        raise _unusable(out / FILE, fault) from None
    if about.get("schema") != tables.SCHEMA:
        raise UsageError(
            f"{out} was written by a different version of the kit, and this version cannot read the journal in it. "
            "Use the kit that wrote this folder."
        )
    if identity and about["class"] != identity:
        raise UsageError(f"{out} holds the grades of another class ({about['class']}). Use another folder.")
    if kit and about["kit"] != kit:
        raise UsageError(
            f"{out} was graded with version {about['kit']} of the kit, and version {kit} may grade differently. "
            f"Use another folder, or kit {about['kit']}."
        )
    return about


def _unusable(path: Path, fault: sqlite3.Error) -> UsageError:
    return UsageError(f"{path} cannot be used as a journal ({fault}). Make the file writable, or use a new folder.")
