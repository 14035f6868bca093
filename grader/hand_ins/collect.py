"""From a folder of hand-ins to submissions: what each student handed in for each lesson, in sorted order.

    DIR/<student>/<lesson>.py | <lesson>.ipynb | <anything>.zip
    DIR/<student>/<time>/<the same>                              one attempt of several, handed in then
    DIR/<student>.zip                                            as `submit` writes it
    DIR/<name>_<number>_<number>_<lesson>.py | .ipynb | .zip     as Canvas downloads all submissions

When something was handed in is said by the name of its folder, such as 2026-11-20T23-59-00 (the course's time zone)
or 20261120T225900Z; else it is the time that the file or zip itself has in DIR, and for files of Canvas, which have the
time of the download, it is not known. What stands inside of a zip says nothing: the student's own clock wrote that.

A file that cannot be taken becomes a `Submission` without source whose `refusal` tells the student why; the
class goes on. What is no exercise is noted for the instructor and never a fault. A student's name is data: it
may hold anything that a file name can.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath

from grader.hand_ins import archives, manifest, moments
from grader.hand_ins.notebooks import python_source
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, Refusal, digest, python_text
from grader.records import Submission
from harness.errors import UsageError

_READERS: dict[str, tuple[int, Callable[[bytes, str], str]]] = {
    ".py": (MAX_SOURCE_BYTES, python_text),
    ".ipynb": (MAX_NOTEBOOK_BYTES, python_source),
}
_SHOWN_FILES = 5
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<stem>.+?)(?:-\d+)?(?P<suffix>\.\w+)")
"""A file of Canvas's download: the student's name and number; one handed in again ends in -1, -2 and so on."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A class as it was handed in: every student, also those without a hand-in, and what was left aside."""

    students: tuple[str, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder or file of one student's, `shown` to people so; nothing outside `home` belongs to it.

    `at` is when it was handed in, where a folder's name says so; offsets missing there are those of `zone`. Where it is
    not `dated`, its file's own time says nothing.
    """

    path: Path
    home: Path
    student: str
    shown: str
    at: datetime | None = None
    zone: tzinfo = UTC
    dated: bool = True


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one place gave. `blanket` (of lesson "") stands for every lesson of an unreadable place."""

    submissions: tuple[Submission, ...] = ()
    blanket: Submission | None = None
    notes: tuple[str, ...] = ()


def collect(folder: Path, lessons: Sequence[str], *, kit: str, zone: tzinfo = UTC) -> Collection:
    """Collect the hand-ins for `lessons`. `kit` is the version of this kit, compared with that of each zip.

    `zone` is that of times without an offset in the names of folders. Raises `UsageError` when `folder` does not
    exist, is no folder, or holds no hand-in.
    """
    found = _collection(list(_places(folder, lessons, kit, zone)), lessons)
    if not found.submissions:
        expected = f"{folder}/<student>/{lessons[0]}.py or {folder}/<student>.zip"
        raise UsageError(f"{folder} holds no hand-in; expected names such as {expected}.")
    return found


def collect_one(folder: Path, student: str, lessons: Sequence[str], *, kit: str) -> Collection:
    """Collect what one student handed in, where `folder` holds that and nothing else; perhaps nothing at all.

    Raises `UsageError` when there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} with what was handed in.")
    place = _Place(folder, Path(os.path.realpath(folder)), student, student)
    return _collection([(student, _from_folder(place, lessons, kit))], lessons)


def _collection(places: list[tuple[str, _Taken]], lessons: Sequence[str]) -> Collection:
    given: dict[tuple[str, str], list[Submission]] = {}
    for _, taken in places:
        for submission in taken.submissions:
            given.setdefault((submission.student, submission.lesson), []).append(submission)
    # A place that cannot be read holds nobody knows which lessons: take those that the class handed in.
    of_class = {lesson for _, lesson in given} or set(lessons)
    for student, taken in places:
        for lesson in of_class if taken.blanket else ():
            if taken.blanket and (student, lesson) not in given:
                given[student, lesson] = [replace(taken.blanket, lesson=lesson)]
    students = sorted({student for student, _ in places})
    found = {student for student, _ in given}
    left = [f"{student}: no exercise found" for student in students if student not in found]
    return Collection(
        tuple(students),
        tuple(attempt for key in sorted(given) for attempt in _attempts(given[key])),
        tuple(sorted([*left, *(note for _, taken in places for note in taken.notes)])),
    )


def submission_of(path: Path, *, student: str, lesson: str) -> Submission:
    """Take one exercise file, as `check` does. Raises `UsageError` when there is nothing at `path`."""
    if not path.exists():
        raise UsageError(f"There is no file {path}; name the exercise file, such as lessons/exercises/{lesson}.py.")
    if path.suffix not in _READERS:
        raise UsageError(f"{path} is no exercise; name a .py or .ipynb file.")
    return _from_file(_Place(path, Path(os.path.realpath(path)).parent, student, str(path)), lesson)


def _places(folder: Path, lessons: Sequence[str], kit: str, zone: tzinfo) -> Iterator[tuple[str, _Taken]]:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}; name the folder that holds one folder or zip for each student.")
    try:
        entries = sorted(folder.iterdir())
    except OSError as fault:
        raise UsageError(f"{folder} cannot be read ({fault.strerror}); make it readable, run again.") from None
    root = Path(os.path.realpath(folder))
    for entry in entries:
        name = _text(entry.name)
        if archives.is_junk(name):
            continue
        if entry.is_symlink() and (_is_zip(entry) or not entry.is_file()):
            yield _of_link(_Place(entry, root, name, name))
        elif (canvas := _CANVAS.fullmatch(name)) and _is_file(entry) and _is_exercise(canvas, lessons):
            student = f"{canvas['name']}_{canvas['number']}"
            place = _Place(entry, root, student, name, dated=False)
            zipped = _is_zip(entry)
            yield student, _from_zip(place, lessons, kit) if zipped else _Taken((_from_file(place, canvas["stem"]),))
        elif _is_zip(entry):
            student = name[: -len(".zip")]
            yield student, _from_zip(_Place(entry, root, student, name), lessons, kit)
        elif entry.is_dir():
            yield name, _from_folder(_Place(entry, root, name, name, zone=zone), lessons, kit)


def _of_link(link: _Place) -> tuple[str, _Taken]:
    """Refuse a student's place that is a link: what it leads to is another's, in the class or out of it."""
    student = link.student.removesuffix(".zip")
    why = f"{link.shown} is a link, not files of its own; hand in a folder of files, or a zip."
    return student, _Taken(blanket=_refused(replace(link, student=student), "", why))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_exercise(canvas: re.Match[str], lessons: Sequence[str]) -> bool:
    return canvas["suffix"] == ".zip" or (canvas["suffix"] in _READERS and canvas["stem"] in lessons)


def _is_zip(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and not path.is_dir()


def _from_folder(folder: _Place, lessons: Sequence[str], kit: str) -> _Taken:
    student = folder.student
    home = Path(os.path.realpath(folder.path))
    try:
        entries = sorted(folder.path.iterdir())
    except OSError as fault:
        return _Taken(blanket=_refused(folder, "", _unreadable(fault, student)))
    parts: list[_Taken] = []
    others: list[str] = []
    for entry in entries:
        name = _text(entry.name)
        place = replace(folder, path=entry, home=home, shown=f"{folder.shown}/{name}")
        if entry.suffix in _READERS and entry.stem in lessons:
            parts.append(_Taken((_from_file(place, entry.stem),)))
        elif _is_zip(entry):
            parts.append(_from_zip(place, lessons, kit))
        elif (
            folder.at is None
            and entry.is_dir()
            and not entry.is_symlink()
            and (at := moments.of_folder(name, folder.zone))
        ):
            parts.append(_from_folder(replace(place, at=at), lessons, kit))
        elif not archives.is_junk(name):
            others.append(name)
    if others:
        more = f" and {len(others) - _SHOWN_FILES} more" if len(others) > _SHOWN_FILES else ""
        where = "" if folder.shown == student else f" in {folder.path.name}"
        parts.append(_Taken(notes=(f"{student}: left aside {', '.join(others[:_SHOWN_FILES])}{more}{where}",)))
    return _Taken(
        tuple(submission for part in parts for submission in part.submissions),
        next((part.blanket for part in parts if part.blanket), None),
        tuple(note for part in parts for note in part.notes),
    )


def _from_zip(place: _Place, lessons: Sequence[str], kit: str) -> _Taken:
    exercises = frozenset(lesson + suffix for lesson in lessons for suffix in _READERS)
    student, shown = place.student, place.shown
    data = b""
    try:
        data = _read(place, archives.MAX_ARCHIVE_BYTES)
        files = archives.members(data, exercises | {manifest.NAME})
        listed = manifest.Manifest.from_json(files[manifest.NAME]) if manifest.NAME in files else None
    except Refusal as refusal:
        return _Taken(blanket=_refused(place, "", str(refusal), data))
    submissions = tuple(
        _taken(replace(place, shown=f"{shown}/{name}"), PurePosixPath(name), content, listed)
        for name, content in sorted(files.items())
        if PurePosixPath(name).name in exercises
    )
    if listed is None:
        return _Taken(submissions, notes=(f"{student}: {shown} has no {manifest.NAME} to compare it with",))
    other_kit = f"{student}: {shown} was made with kit {listed.kit}, this is {kit}"
    return _Taken(submissions, notes=() if listed.kit == kit else (other_kit,))


def _from_file(place: _Place, lesson: str) -> Submission:
    try:
        data = _read(place, _READERS[place.path.suffix][0])
    except Refusal as refusal:
        return _refused(place, lesson, str(refusal))
    return _taken(place, PurePosixPath(place.path.name).with_stem(lesson), data, None)


def _taken(place: _Place, file: PurePosixPath, data: bytes, listed: manifest.Manifest | None) -> Submission:
    """Return the submission that an exercise file's bytes make, or its refusal."""
    try:
        if listed:
            listed.check(str(file), digest(data))
        source = _READERS[file.suffix][1](data, file.name)
    except Refusal as refusal:
        return _refused(place, file.stem, str(refusal), data)
    return Submission(place.student, file.stem, place.shown, digest(data), source, "", *_when(place))


def _read(place: _Place, limit: int) -> bytes:
    """Return the bytes of a plain file that lies in its home. Raises `Refusal` for anything else."""
    shown = place.shown
    try:
        real = Path(os.path.realpath(place.path, strict=True))
        if not real.is_relative_to(place.home):
            raise Refusal(f"{shown} is a link that leads out of its folder; hand in the file itself.")
        if real.is_dir():
            raise Refusal(f"{shown} is a folder; hand in a file of that name.")
        if not real.is_file():
            raise Refusal(f"{shown} is no plain file; hand in the file itself.")
        with real.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as fault:
        raise Refusal(_unreadable(fault, shown)) from None
    if len(data) > limit:
        raise Refusal(f"{shown} is larger than {limit:,} bytes; hand in the exercise alone.")
    return data


def _attempts(given: list[Submission]) -> Iterator[Submission]:
    """Yield the attempts at a lesson in order of time; the same bytes again are no new one."""
    slots: dict[datetime | None, list[Submission]] = {}
    for one in given:
        slots.setdefault(one.handed_in if one.timed else None, []).append(one)
    seen: set[str] = set()
    for attempt in sorted(map(_only_one, slots.values()), key=lambda one: (one.handed_in is not None, one.handed_in)):
        if attempt.sha256 not in seen:
            seen.add(attempt.sha256)
            yield attempt


def _only_one(given: list[Submission]) -> Submission:
    """Return the one hand-in for a lesson in one place, or a refusal that names them all."""
    if len(given) == 1:
        return given[0]
    paths = " and ".join(sorted(submission.path for submission in given))
    why = f"{given[0].lesson} was handed in as {paths}; hand in only one."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)


def _refused(place: _Place, lesson: str, why: str, data: bytes = b"") -> Submission:
    """Return a submission without source. Where no bytes could be read, its digest is that of the reason."""
    return Submission(place.student, lesson, place.shown, digest(data or why.encode()), None, why, *_when(place))


def _when(place: _Place) -> tuple[datetime | None, bool]:
    """When a place was handed in, and whether its folder's name says so."""
    return (place.at, True) if place.at else (moments.of_file(place.path) if place.dated else None, False)


def _unreadable(fault: OSError, shown: str) -> str:
    return f"{shown} could not be read ({fault.strerror}); hand it in again."


def _text(name: str) -> str:
    """Return a file name as text that any report can hold: bytes that are no UTF-8 are written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
