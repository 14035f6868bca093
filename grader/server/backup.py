"""Write a served course into one zip, also while its server runs, and make the folder of a course from such a zip."""

import os
import shutil
import sqlite3
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from grader import seeds
from grader.class_run import database, enrolment
from grader.course import roster
from grader.errors import UsageError
from grader.files import explained
from grader.server.course_folder import CourseFolder
from harness.rendering import units
from harness.storage.user_files import refuse_edited

_HAND_INS: Final = "hand-ins"
_DATABASE: Final = f"grades/{database.FILE}"
_SEED: Final = f"grades/{seeds.FILE}"
_NEEDED: Final = frozenset({"course.toml", _DATABASE, _SEED})
_FILES: Final = _NEEDED | {roster.FILE}


def back_up(path: Path, out: Path, *, force: bool) -> str:
    """Write the course in the folder `path` to the zip `out`, and return a sentence on it.

    The zip has the database at one moment, and each file that has a receipt in it. Raise `UsageError` if there is no
    such course, and `WriteError` if the zip cannot be written. An older zip then stays.
    """
    course = CourseFolder(path)
    if not (course.grades / database.FILE).is_file():
        raise UsageError(f"{path} was never served, so it holds nothing to back up.")
    refuse_edited(out, force=force, is_ours=_is_backup)
    with explained(out), tempfile.TemporaryDirectory(dir=out.resolve().parent, prefix=".backup-") as scratch:
        copy, made = Path(scratch, database.FILE), Path(scratch, "zip")
        before = {*_files(course.hand_ins)}
        with course.opened() as opened, closing(sqlite3.connect(copy)) as to:
            opened.db.backup(to)
            receipts = {of for (of,) in to.execute("SELECT path FROM receipts")}
        names = sorted(before | {name for name in receipts if (course.hand_ins / name).is_file()})
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for file, name in [(copy, _DATABASE), *((path / name, name) for name in sorted(_FILES - {_DATABASE}))]:
                if name in _NEEDED or file.is_file():
                    archive.write(file, name)
            for name in names:
                archive.write(course.hand_ins / name, f"{_HAND_INS}/{name}")
        made.chmod(stat.S_IRUSR | stat.S_IWUSR)
        with made.open("rb") as whole:
            os.fsync(whole.fileno())
        made.replace(out)
    return f"Wrote {out}: the course with {units.some(len(names), 'file')} that students handed in. Keep it secret."


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of all files below a folder, without uploads that have not ended."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith(".incoming-"):
            yield path.relative_to(folder).as_posix()


def _is_backup(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return {*archive.namelist()} >= _NEEDED
    except zipfile.BadZipFile:
        return False


def restore(file: Path, path: Path) -> str:
    """Make the folder `path` of a course from a zip that `back_up` wrote, and return a sentence with the next command.

    Raise `UsageError` if `path` has files, or if the zip is not whole or has other files. Then nothing is made.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"{path} exists and is not empty. Name a new folder.")
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with explained(path), tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".restore-") as scratch:
        made = Path(scratch, "course")
        try:
            with zipfile.ZipFile(file) as archive:
                _extract(archive, made, file)
            _move(made, path)
        except FileNotFoundError:
            raise UsageError(f"There is no file {file}.") from None
        except (zipfile.BadZipFile, EOFError, sqlite3.DatabaseError) as error:
            raise UsageError(f"{file} is damaged ({error}). Use another backup.") from None
        made.replace(path)
    return f"Made {path} from {file}. To serve it: python -m grader serve {path}"


def _extract(archive: zipfile.ZipFile, made: Path, file: Path) -> None:
    """Write the files of a backup below the folder `made`, which only the user can read."""
    infos = [one for one in archive.infolist() if not one.is_dir()]
    names = {one.filename for one in infos}
    if names < _NEEDED or not names >= _NEEDED or any(not _is_ours(name) for name in names):
        raise UsageError(f"{file} is no backup of a course. Give a zip that `serve backup` wrote.")
    for name in (_HAND_INS, "grades"):
        (made / name).mkdir(mode=0o700, parents=True)
    made.chmod(0o700)
    for one in infos:
        target = made / one.filename
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with archive.open(one) as source, target.open("xb") as to:
            shutil.copyfileobj(source, to)
            target.chmod(stat.S_IRUSR | stat.S_IWUSR)
            to.flush()
            os.fsync(to.fileno())


def _is_ours(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return name in _FILES or (parts[:1] == (_HAND_INS,) and len(parts) > 1 and ".." not in parts and "\0" not in name)


def _move(made: Path, path: Path) -> None:
    """Let the database in the folder `made` name the folder of hand-ins that it will have at `path`."""
    database_file = made / _DATABASE
    with closing(sqlite3.connect(database_file, isolation_level=None)) as db:
        if (checked := db.execute("PRAGMA quick_check").fetchone()) != ("ok",):
            raise sqlite3.DatabaseError(checked[0])
        enrolment.move(db, str(path.resolve() / _HAND_INS))
        db.execute("PRAGMA journal_mode = WAL")
