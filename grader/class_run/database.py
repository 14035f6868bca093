"""Open the database of a class's grades (the journal), and check that it belongs to this class and can be read."""

import sqlite3
from pathlib import Path

from grader.class_run import out_folder, tables
from harness.errors import UsageError

_TIMEOUT_S = 30.0  # another program, such as an SQLite browser, may lock the file


def connect(out: Path, mode: str = "rw") -> sqlite3.Connection:
    """Return a connection to the database of grades in the folder `out`, without automatic transactions.

    Raise `UsageError` if the file cannot be used.
    """
    path = out / out_folder.FILE
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        db = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_TIMEOUT_S)
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
    """Return the table `meta` of the database as a dict, or {} for an empty file.

    Raise `UsageError` if the table cannot be read.
    """
    try:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return {}
        return {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except sqlite3.Error as fault:
        raise _unusable(out / out_folder.FILE, fault) from None


def check(out: Path, about: dict[str, str], identity: str = "", kit: str = "") -> None:
    """Raise `UsageError` if this version cannot read the database of grades in `out`, or if it is of another class.

    `about` is the content of its table `meta`. `identity` and `kit` are the expected class and program version. They
    are only compared if they are not "".
    """
    if about and about.get("schema") != tables.SCHEMA:
        raise UsageError(
            f"{out} was written by a different version of the kit, and this version cannot read the journal in it. "
            "Use the kit that wrote this folder."
        )
    if identity and about.get("class", identity) != identity:
        raise UsageError(f"{out} holds the grades of another class ({about['class']}). Use another folder.")
    if kit and about.get("kit", kit) != kit:
        raise UsageError(
            f"{out} was graded with version {about['kit']} of the kit, and version {kit} may grade differently. "
            f"Use another folder, or kit {about['kit']}."
        )


def _unusable(path: Path, fault: sqlite3.Error) -> UsageError:
    return UsageError(f"{path} cannot be used as a journal ({fault}). Make the file writable, or use a new folder.")
