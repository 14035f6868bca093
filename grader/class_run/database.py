"""The journal's file: how it is opened, and whose grades it says it holds."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from grader.class_run import place, tables
from harness.errors import UsageError

_PATIENCE_S = 30.0  # for a reader that holds the file, such as an SQLite browser


def connect(out: Path, mode: str = "rw") -> sqlite3.Connection:
    """Open the journal in autocommit mode: transactions are begun and ended by name alone."""
    path = out / place.FILE
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


def meta(db: sqlite3.Connection, out: Path) -> dict[str, str]:
    """Return what the journal says of itself; nothing when it was never filled."""
    try:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return {}
        return {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except sqlite3.Error as fault:
        raise _unusable(out / place.FILE, fault) from None


def check(out: Path, about: dict[str, str], identity: str = "", kit: str = "") -> None:
    """Raise `UsageError` unless the journal is of this schema and, where given, of this class and kit."""
    if about and about.get("schema") not in {tables.SCHEMA, *tables.UPGRADE}:
        raise UsageError(f"{out} was written by a kit whose journal this one cannot read; use that kit.")
    if identity and about.get("class", identity) != identity:
        raise UsageError(f"{out} holds the grades of another class ({about['class']}); name another folder.")
    if kit and about.get("kit", kit) != kit:
        raise UsageError(
            f"{out} was graded with kit {about['kit']} and this is {kit}, which may grade otherwise; "
            "name another folder, or use that kit."
        )


def upgrade(db: sqlite3.Connection, out: Path, transaction: Callable[[], AbstractContextManager[object]]) -> None:
    """Bring a journal that an older kit wrote to the tables of this one, each version in one step."""
    while steps := tables.UPGRADE.get(meta(db, out).get("schema", "")):
        with transaction():
            if tables.UPGRADE.get(meta(db, out).get("schema", "")) != steps:
                continue  # another process has just done it
            for statement in steps.split(";\n"):
                db.execute(statement)
            if board := older_board(out):
                db.execute(tables.REMEMBER_BOARD, [board])


def older_board(out: Path) -> str:
    """Return the names for the leaderboard of a journal before version 5, in which the file alone says there is one."""
    return "pseudonyms" if (out / place.BOARD).exists() else ""


def _unusable(path: Path, fault: sqlite3.Error) -> UsageError:
    return UsageError(f"{path} cannot be used as a journal ({fault}); make it writable, or name a new folder.")
