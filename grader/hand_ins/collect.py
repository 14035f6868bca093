"""From a folder of hand-ins to submissions: what each student handed in for each lesson, in sorted order.

    DIR/<student>/<lesson>.py | <lesson>.ipynb | <anything>.zip
    DIR/<student>/<time>/<the same>                              one attempt of several, handed in then
    DIR/<student>.zip                                            as `submit` writes it
    DIR/<name>_<number>_<number>_<lesson>.py | .ipynb | .zip     as Canvas downloads all submissions

When something was handed in is said by the name of its folder, such as 2026-11-20T23-59-00 (the course's time zone)
or 20261120T225900Z; else it is the time that the file or zip itself has in DIR, and for files of Canvas, which have the
time of the download, it is not known. What stands inside of a zip says nothing: the student's own clock wrote that.

A file that cannot be taken becomes a `Submission` without source whose `refusal` tells the student why; the
class goes on. So it does where the grader itself fails at a hand-in: then the `fault` of its `Submission` says so.
What is not graded is listed as `left_out`, with what it is likely to be. A student's name is data: it may hold anything
that a file name can.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath

from grader.hand_ins import archives, left_out, location, manifest, moments
from grader.hand_ins.left_out import LeftOut, Naming
from grader.hand_ins.location import Location
from grader.hand_ins.notebooks import python_source
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, MAX_SOURCE_BYTES, digest, python_text
from grader.records import Submission
from grader.text import file_name
from harness.errors import UsageError

_READERS: dict[str, tuple[int, Callable[[bytes, str], str]]] = {
    ".py": (MAX_SOURCE_BYTES, python_text),
    ".ipynb": (MAX_NOTEBOOK_BYTES, python_source),
}
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<stem>.+?)(?:-\d+)?(?P<suffix>\.\w+)")
"""A file of Canvas's download: the student's name and number; one handed in again ends in -1, -2 and so on."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A class as it was handed in: every student, also those without a hand-in, and files that are not graded."""

    students: tuple[str, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one place gave. `blanket` (of lesson "") stands for every lesson of an unreadable place."""

    submissions: tuple[Submission, ...] = ()
    blanket: Submission | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def collect(
    folder: Path, lessons: Sequence[str], *, kit: str, zone: tzinfo = UTC, known: Sequence[str] = ()
) -> Collection:
    """Collect the hand-ins for `lessons`. `kit` is the version of this kit, compared with that of each zip.

    `zone` is that of times without an offset in the names of folders, `known` are further lessons of the kit. Raises
    `UsageError` when `folder` does not exist, is no folder, or holds no hand-in.
    """
    found = _collection(list(_places(folder, Naming.of(lessons, known), kit, zone)), lessons)
    if not found.submissions:
        expected = f"{folder}/<student>/{lessons[0]}.py or {folder}/<student>.zip"
        left = "".join(f" {one.path} was left out: {one.why}" for one in found.left_out if one.misnamed)
        raise UsageError(f"{folder} holds no hand-in; expected names such as {expected}.{left}")
    return found


def collect_one(folder: Path, student: str, lessons: Sequence[str], *, kit: str) -> Collection:
    """Collect what one student handed in, where `folder` holds that and nothing else; perhaps nothing at all.

    Raises `UsageError` when there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} with what was handed in.")
    place = Location(folder, Path(os.path.realpath(folder)), student, student)
    return _collection([(student, _from_folder(place, Naming.of(lessons, ()), kit))], lessons)


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
    students = sorted({student for student, _ in places if student})
    found = {student for student, _ in given}
    left = [f"{student}: no exercise found" for student in students if student not in found]
    return Collection(
        tuple(students),
        tuple(attempt for key in sorted(given) for attempt in _attempts(given[key])),
        tuple(sorted([*left, *(note for _, taken in places for note in taken.notes)])),
        tuple(sorted((file for _, taken in places for file in taken.left_out), key=lambda one: one.path)),
    )


def submission_of(path: Path, *, student: str, lesson: str) -> Submission:
    """Take one exercise file, as `check` does. Raises `UsageError` when there is nothing at `path`."""
    if not path.exists():
        raise UsageError(f"There is no file {path}; name the exercise file, such as lessons/exercises/{lesson}.py.")
    if path.suffix not in _READERS:
        raise UsageError(f"{path} is no exercise; name a .py or .ipynb file.")
    return _from_file(Location(path, Path(os.path.realpath(path)).parent, student, str(path)), lesson)


def _places(folder: Path, names: Naming, kit: str, zone: tzinfo) -> Iterator[tuple[str, _Taken]]:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}; name the folder that holds one folder or zip for each student.")
    try:
        entries = sorted(folder.iterdir())
    except OSError as fault:
        raise UsageError(f"{folder} cannot be read ({fault.strerror}); make it readable, run again.") from None
    root = Path(os.path.realpath(folder))
    for entry in entries:
        name = file_name(entry.name)
        if archives.is_junk(name):
            continue
        try:
            yield _of_entry(Location(entry, root, name, name), names, kit, zone)
        except Exception as error:  # noqa: BLE001 - whatever one student's place raises ends that place alone
            student = re.sub(r"\.zip$", "", name, flags=re.IGNORECASE)
            yield student, _Taken(blanket=location.failed(Location(entry, root, student, name), "", error))


def _of_entry(entry: Location, names: Naming, kit: str, zone: tzinfo) -> tuple[str, _Taken]:
    """Return what an entry of the class's folder holds, by its student; "" where it is no student's."""
    path, name = entry.path, entry.shown
    if path.is_symlink() and (_is_zip(path) or not path.is_file()):
        return _of_link(entry)
    if path.is_dir():
        return name, _from_folder(replace(entry, zone=zone), names, kit)
    if (canvas := _CANVAS.fullmatch(name)) and _is_file(path):
        student = f"{canvas['name']}_{canvas['number']}"
        place = replace(entry, student=student, dated=False)
        if _is_zip(path):
            return student, _from_zip(place, names, kit)
        if canvas["suffix"] in _READERS and canvas["stem"] in names.graded:
            return student, _Taken((_from_file(place, canvas["stem"]),))
        file = names.judge(student, f"{canvas['stem']}{canvas['suffix']}", path)
        if file.misnamed:
            return student, _Taken(left_out=(replace(file, path=name),))
    if _is_zip(path):
        student = name[: -len(".zip")]
        return student, _from_zip(replace(entry, student=student), names, kit)
    student = left_out.archive_stem(name) if left_out.is_archive(name) else ""
    file = names.judge(student, name, path)
    beside = "" if student else "It lies beside the students' folders, so it is no student's. "
    return student, _Taken(left_out=(replace(file, why=beside + file.why),))


def _of_link(link: Location) -> tuple[str, _Taken]:
    """Refuse a student's place that is a link: what it leads to is another's, in the class or out of it."""
    student = link.student.removesuffix(".zip")
    why = f"{link.shown} is a link, not files of its own; hand in a folder of files, or a zip."
    return student, _Taken(blanket=location.refused(replace(link, student=student), "", why))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_zip(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and not path.is_dir()


def _from_folder(folder: Location, names: Naming, kit: str) -> _Taken:
    home = Path(os.path.realpath(folder.path))
    try:
        entries = sorted(folder.path.iterdir())
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends this folder alone
        return _Taken(blanket=location.failed(folder, "", error))
    parts: list[_Taken] = []
    others: list[LeftOut] = []
    for entry in entries:
        name = file_name(entry.name)
        place = replace(folder, path=entry, home=home, shown=f"{folder.shown}/{name}")
        try:
            part = _of_file(place, names, kit)
            if not part and not archives.is_junk(name):
                others.append(names.judge(folder.student, place.shown, entry))
        except Exception as error:  # noqa: BLE001 - the student's other files are taken
            part = _Taken(blanket=location.failed(place, "", error))
        parts += [part] if part else []
    return _Taken(
        tuple(submission for part in parts for submission in part.submissions),
        next((part.blanket for part in parts if part.blanket), None),
        tuple(note for part in parts for note in part.notes),
        (*(file for part in parts for file in part.left_out), *left_out.listed(others, folder.shown)),
    )


def _of_file(place: Location, names: Naming, kit: str) -> _Taken | None:
    """Return what an entry of a student's folder holds; None where it is left aside."""
    path = place.path
    if path.suffix in _READERS and path.stem in names.graded:
        return _Taken((_from_file(place, path.stem),))
    if _is_zip(path):
        return _from_zip(place, names, kit)
    if place.at or path.is_symlink() or not path.is_dir():
        return None
    at = moments.of_folder(path.name, place.zone)
    return _from_folder(replace(place, at=at), names, kit) if at else None


def _from_zip(place: Location, names: Naming, kit: str) -> _Taken:
    exercises = frozenset(lesson + suffix for lesson in names.graded for suffix in _READERS)
    wanted = exercises | {manifest.NAME}
    student, shown = place.student, place.shown
    data = b""
    try:
        data = location.read(place, archives.MAX_ARCHIVE_BYTES)
        files = archives.members(data, wanted)
        others = [names.judge(student, f"{shown}/{name}") for name in archives.others(data, wanted)]
        listed = manifest.Manifest.from_json(files[manifest.NAME]) if manifest.NAME in files else None
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends this zip alone
        return _Taken(blanket=location.failed(place, "", error, data))
    submissions = tuple(
        _taken(replace(place, shown=f"{shown}/{name}"), PurePosixPath(name), content, listed)
        for name, content in sorted(files.items())
        if PurePosixPath(name).name in exercises
    )
    note = ""
    if listed is None:
        note = f"{student}: {shown} has no {manifest.NAME} to compare it with"
    elif listed.kit != kit:
        note = f"{student}: {shown} was made with kit {listed.kit}, this is {kit}"
    return _Taken(submissions, notes=(note,) if note else (), left_out=tuple(left_out.listed(others, shown)))


def _from_file(place: Location, lesson: str) -> Submission:
    try:
        data = location.read(place, _READERS[place.path.suffix][0])
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends this file alone
        return location.failed(place, lesson, error)
    return _taken(place, PurePosixPath(place.path.name).with_stem(lesson), data, None)


def _taken(place: Location, file: PurePosixPath, data: bytes, listed: manifest.Manifest | None) -> Submission:
    """Return the submission that an exercise file's bytes make, or what became of it."""
    try:
        if listed:
            listed.check(str(file), digest(data))
        source = _READERS[file.suffix][1](data, file.name)
        return location.taken(place, file.stem, data, source)
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends this file alone
        return location.failed(place, file.stem, error, data)


def _attempts(given: list[Submission]) -> Iterator[Submission]:
    """Yield the attempts at a lesson in order of time; the same bytes again are no new one."""
    slots: dict[datetime | None, list[Submission]] = {}
    for one in given:
        slots.setdefault(one.handed_in if one.timed else None, []).append(one)
    seen: set[str] = set()
    for attempt in sorted(map(_only_one, slots.values()), key=lambda one: (one.handed_in is not None, one.handed_in)):
        if attempt.content not in seen:
            seen.add(attempt.content)
            yield attempt


def _only_one(given: list[Submission]) -> Submission:
    """Return the one hand-in for a lesson in one place, or a refusal that names them all."""
    if len(given) == 1:
        return given[0]
    paths = " and ".join(sorted(submission.path for submission in given))
    why = f"{given[0].lesson} was handed in as {paths}; hand in only one."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)
