"""Take in what a student hands in: store the file durably, give a receipt, and read the attempts in the file.

A receipt is given when the file and its row in `receipts` are on the disk. Reading comes later, in another process,
because a file can take seconds to read. Whatever was not read before a crash is read at the next start.
"""

import hashlib
import json
import os
import re
import sqlite3
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Final

from grader import paths
from grader.class_run import enrolment
from grader.course.roll import folder_name
from grader.course.roster import Roster
from grader.files import storable
from grader.hand_ins.archives import Item
from grader.hand_ins.entries import on_disk
from grader.hand_ins.layouts import LayoutClaim
from grader.hand_ins.left_out import SUFFIXES, LessonNames
from grader.hand_ins.reader import Collection, HandInReader
from grader.records import Sender, Submission, TimeSource
from grader.server.course_folder import CourseFolder, OpenCourse

_CHUNK: Final = 1 << 20
_UNSAFE: Final = re.compile(r"[^\w .()+@-]")
_MOST_NAME_BYTES: Final = 100  # of a name, and of its suffix; file systems allow 255 for both


@dataclass(frozen=True, slots=True)
class Receipt:
    """A file that arrived. `lesson` is the one for which the student handed it in, or "". `path` is below `hand-ins`.

    `found` has what was read in the file, or is None while it waits to be read: for each exercise its lesson, the key
    of its grade (`content`, "" if it is no attempt) and a sentence.
    """

    number: int
    student: str
    lesson: str
    name: str
    path: str
    sha256: str
    size: int
    at: datetime
    found: tuple[tuple[str, str, str], ...] | None


def receipts(db: sqlite3.Connection, student: str, number: int | None = None) -> list[Receipt]:
    """Return the receipts of a student, the newest first, or the one with this number."""
    query = "SELECT * FROM receipts WHERE student = ? AND id = coalesce(?, id) ORDER BY id DESC"
    return [_receipt(row) for row in db.execute(query, [student, number])]


def find(db: sqlite3.Connection, text: str) -> list[Receipt]:
    """Return the receipts of all students with this number, or with a SHA-256 that begins so, the newest first."""
    wanted = text.casefold()
    is_digest = len(wanted) >= 8 and all(one in "0123456789abcdef" for one in wanted)
    query = "SELECT * FROM receipts WHERE CAST(id AS TEXT) = ? OR (? AND substr(sha256, 1, ?) = ?) ORDER BY id DESC"
    return [_receipt(row) for row in db.execute(query, [wanted, is_digest, len(wanted), wanted])]


def unread(db: sqlite3.Connection) -> list[tuple[int, str]]:
    """Return the number and the student of each receipt whose file was not read yet, in order of arrival."""
    return [(row["id"], row["student"]) for row in db.execute("SELECT * FROM receipts WHERE NOT is_read ORDER BY id")]


def last_arrival(db: sqlite3.Connection) -> datetime | None:
    """Return the time of the newest receipt, or None without receipts."""
    (last,) = db.execute("SELECT max(at_utc) FROM receipts").fetchone()
    return datetime.fromisoformat(last) if last else None


def _receipt(row: sqlite3.Row) -> Receipt:
    found = tuple((lesson, content, what) for lesson, content, what in json.loads(row["found"]))
    student, lesson, name, path, sha256 = (row[one] for one in ("student", "lesson", "name", "path", "sha256"))
    at = datetime.fromisoformat(row["at_utc"])
    about = found if row["is_read"] else None
    return Receipt(row["id"], student, lesson, name, path, sha256, row["size"], at, about)


def store(
    course: CourseFolder, opened: OpenCourse, student: str, file: IO[bytes], name: str, lesson: str, at: datetime
) -> Receipt:
    """Store an uploaded file that arrived at the time `at`, and return its receipt.

    Raise `OSError` or `WriteError` if the disk is full. Then nothing is stored.
    """
    name = _plain(name) or "file"
    suffix = PurePosixPath(name).suffix.casefold()
    stored = f"{lesson}{suffix}" if lesson and suffix in SUFFIXES and not lesson_of(name) else name
    folder = course.hand_ins / label(opened.book.roster(), student)
    folder.mkdir(mode=0o700, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=course.hand_ins, prefix=".incoming-")
    digest, size, final = hashlib.sha256(), 0, None
    try:
        with os.fdopen(handle, "wb") as to:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += to.write(chunk)
            to.flush()
            os.fsync(to.fileno())
        final = _own_folder(folder, at) / stored
        Path(temporary).rename(final)
        for changed in (final.parent, folder, course.hand_ins):
            _sync(changed)
        path = storable(final.relative_to(course.hand_ins).as_posix())
        row = (student, lesson, name, path, digest.hexdigest(), size, at.astimezone(UTC).isoformat())
        with opened.book.transaction() as db:
            columns = "student, lesson, name, path, sha256, size, at_utc"
            db.execute(f"INSERT INTO receipts ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
            (number,) = db.execute("SELECT last_insert_rowid()").fetchone()
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
            if final:
                final.unlink(missing_ok=True)
                final.parent.rmdir()
        raise
    return Receipt(number, student, lesson, name, path, digest.hexdigest(), size, at, None)


def label(roster: Roster, student: str) -> str:
    """Return the name of a student's folder below `hand-ins`, by which `run` finds the same student."""
    person = roster.students.get(student)
    wanted = next(filter(None, (person.id, person.email) if person else ()), student)
    return wanted if wanted == _plain(wanted) and not wanted.startswith(".") else folder_name(wanted)


def _plain(name: str) -> str:
    """Return a file name without folders, control characters, and characters that mean something to a shell."""
    last = unicodedata.normalize("NFC", storable(name)).replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = _UNSAFE.sub("_", last).strip(" ").rpartition(".")
    stem = _cut(stem.lstrip(". -")) or ("file" if dot else "")
    return f"{stem}{dot}{_cut(suffix if dot else suffix.lstrip('-'))}"


def _cut(text: str) -> str:
    return text.encode()[:_MOST_NAME_BYTES].decode(errors="ignore")


def lesson_of(name: str) -> str:
    """Return the lesson of an exercise file with this name, or "" for all other names."""
    return _names().exercise(_plain(name))[0]


@cache
def _names() -> LessonNames:
    """Return the names of all exercises. The list of lessons has them, and the exercises themselves load slowly."""
    functions = {lesson: tuple(tasks) for lesson, tasks in paths.tasks_of_lessons().items()}
    return LessonNames.of(tuple(functions), functions)


def _own_folder(folder: Path, at: datetime) -> Path:
    """Create and return the folder of one hand-in, whose name is its time. Two hand-ins never share a folder."""
    while True:
        place = folder / f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
            return place
        at += timedelta(seconds=1)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def collected(course: CourseFolder, receipt: Receipt) -> Collection:
    """Return what a student handed in with one file. A submission's time is the time at which the file arrived."""
    reader = HandInReader(_names(), "", student_of=lambda _: receipt.student)
    path = course.hand_ins / receipt.path
    entry = on_disk(path, Path(os.path.realpath(path.parent)), (path.name,), receipt.path)
    claim = LayoutClaim("", (Sender(receipt.student),), path.name, "", receipt.at, TimeSource.PLATFORM)
    reader.read_item(claim, Item(entry))
    return reader.collection("")


def read(course: CourseFolder, number: int) -> None:
    """Read the file of a receipt, and store the attempts in it. A file that was read before stays as it is."""
    with course.opened() as opened:
        row = opened.db.execute("SELECT * FROM receipts WHERE id = ? AND NOT is_read", [number]).fetchone()
        if row is None:
            return
        found = collected(course, _receipt(row))
        with opened.book.transaction() as db:
            enrolment.add(db, opened.book.folder, found)
            about = json.dumps([*_about(found)], ensure_ascii=False)
            db.execute("UPDATE receipts SET is_read = 1, found = ? WHERE id = ?", [about, number])


def _about(found: Collection) -> Iterator[tuple[str, str, str]]:
    for one in found.submissions:
        yield one.lesson, one.content, one.refusal
    for file in found.left_out:
        yield file.lesson, "", f"{PurePosixPath(file.path).name}: {file.why}"
    if not (found.submissions or found.left_out):
        yield "", "", "The file contains no exercise."


def submission(course: CourseFolder, opened: OpenCourse, student: str, lesson: str, content: str) -> Submission | None:
    """Return a submission that was handed in, read again from its file, or None if the file is gone."""
    for receipt in receipts(opened.db, student):
        if any((lesson, content) == one[:2] for one in receipt.found or ()):
            with suppress(OSError):
                found = collected(course, receipt).submissions
                return next((one for one in found if (one.lesson, one.content) == (lesson, content)), None)
    return None


def give_up(course: CourseFolder, number: int) -> None:
    """Store that the grader could not read the file of a receipt."""
    why = "The grader could not read this file. This costs you nothing. Hand in the exercise itself, as a .py file."
    with course.opened() as opened, opened.book.transaction() as db:
        db.execute("UPDATE receipts SET is_read = 1, found = ? WHERE id = ?", [json.dumps([["", "", why]]), number])
