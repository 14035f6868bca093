"""Read a folder of hand-ins: the files that the students of a class handed in for each lesson.

    DIR/<student>/<lesson>.py | <lesson>.ipynb | <anything>.zip
    DIR/<student>/<time>/<the same>                              one of several attempts, handed in at this time
    DIR/<student>.zip                                            as `submit` writes it
    DIR/<name>_<number>_<number>_<lesson>.py | .ipynb | .zip     as Canvas downloads all submissions

The time of a hand-in is the time in its folder's name, such as 2026-11-20T23-59-00 (in the course's time zone) or
20261120T225900Z. If no folder has such a name, it is the modification time of the file or zip in DIR. For files from
Canvas the time is unknown, because they have the time of the download. Times inside a zip are ignored, because they
come from the student's own clock.

A file that cannot be used becomes a `Submission` without source, whose `refusal` gives the student the reason. If the
grader itself fails to read a file, the `Submission` has a `fault`. In both cases, all other hand-ins are still
collected. Files that are not graded are listed as `left_out`. A student's name may have any character that a file name
can have.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path, PurePosixPath

from grader.hand_ins import archives, left_out, location, manifest, timestamps
from grader.hand_ins.left_out import LeftOut, LessonNames
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
# Canvas adds -1 to the name of a second hand-in.
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<stem>.+?)(?:-\d+)?(?P<suffix>\.\w+)")


@dataclass(frozen=True, slots=True)
class Collection:
    """The students of a class, also those without a hand-in, their submissions, and the files that are not graded."""

    students: tuple[str, ...]
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Contents:
    submissions: tuple[Submission, ...] = ()
    for_all_lessons: Submission | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def collect(
    folder: Path, lessons: Sequence[str], *, kit: str, zone: tzinfo = UTC, known: Sequence[str] = ()
) -> Collection:
    """Return the hand-ins for `lessons` in a class's folder.

    `kit` is the grader's version, which is compared with the version in each zip. `zone` is the time zone of folder
    names without an offset. `known` are further lessons of the course. Raise `UsageError` if `folder` does not exist,
    is not a folder, or contains no hand-in.
    """
    found = _collection(list(_places(folder, LessonNames.of(lessons, known), kit, zone)), lessons)
    if not found.submissions:
        expected = f"{folder}/<student>/{lessons[0]}.py or {folder}/<student>.zip"
        left = "".join(f" {one.path} was left out: {one.why}" for one in found.left_out if one.misnamed)
        raise UsageError(f"{folder} contains no hand-in; expected names such as {expected}.{left}")
    return found


def collect_one(folder: Path, student: str, lessons: Sequence[str], *, kit: str) -> Collection:
    """Return the submissions of one student, possibly none. `folder` contains only files of this student.

    `kit` is the grader's version. Raise `UsageError` if the folder does not exist.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}; give the folder with the student's files.")
    place = Location(folder, Path(os.path.realpath(folder)), student, student)
    return _collection([(student, _from_folder(place, LessonNames.of(lessons, ()), kit))], lessons)


def _collection(places: list[tuple[str, _Contents]], lessons: Sequence[str]) -> Collection:
    given: dict[tuple[str, str], list[Submission]] = {}
    for _, taken in places:
        for submission in taken.submissions:
            given.setdefault((submission.student, submission.lesson), []).append(submission)
    # The lessons in an unreadable zip are unknown, so each lesson that the class handed in gets the refusal.
    of_class = {lesson for _, lesson in given} or set(lessons)
    for student, taken in places:
        for lesson in of_class if taken.for_all_lessons else ():
            if taken.for_all_lessons and (student, lesson) not in given:
                given[student, lesson] = [replace(taken.for_all_lessons, lesson=lesson)]
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
    """Return the submission in one exercise file. Raise `UsageError` if `path` is not an exercise file."""
    if not path.exists():
        raise UsageError(
            f"There is no file {path}; give the path of the exercise file, such as lessons/exercises/{lesson}.py."
        )
    if path.suffix not in _READERS:
        raise UsageError(f"{path} is not an exercise; give a .py or .ipynb file.")
    return _from_file(Location(path, Path(os.path.realpath(path)).parent, student, str(path)), lesson)


def _places(folder: Path, names: LessonNames, kit: str, zone: tzinfo) -> Iterator[tuple[str, _Contents]]:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}; give the folder that contains one folder or zip for each student.")
    try:
        entries = sorted(folder.iterdir())
    except OSError as fault:
        raise UsageError(
            f"{folder} cannot be read ({fault.strerror}); make it readable and run the command again."
        ) from None
    root = Path(os.path.realpath(folder))
    for entry in entries:
        name = file_name(entry.name)
        if archives.is_junk(name):
            continue
        try:
            yield _of_entry(Location(entry, root, name, name), names, kit, zone)
        except Exception as error:  # noqa: BLE001 - an error in one student's files must not stop the others
            student = re.sub(r"\.zip$", "", name, flags=re.IGNORECASE)
            yield student, _Contents(for_all_lessons=location.failed(Location(entry, root, student, name), "", error))


def _of_entry(entry: Location, names: LessonNames, kit: str, zone: tzinfo) -> tuple[str, _Contents]:
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
            return student, _Contents((_from_file(place, canvas["stem"]),))
        file = names.classify(student, f"{canvas['stem']}{canvas['suffix']}", path)
        if file.misnamed:
            return student, _Contents(left_out=(replace(file, path=name),))
    if _is_zip(path):
        student = name[: -len(".zip")]
        return student, _from_zip(replace(entry, student=student), names, kit)
    student = left_out.archive_stem(name) if left_out.is_archive(name) else ""
    file = names.classify(student, name, path)
    beside = "" if student else "It is beside the students' folders, so it belongs to no student. "
    return student, _Contents(left_out=(replace(file, why=beside + file.why),))


def _of_link(link: Location) -> tuple[str, _Contents]:
    student = link.student.removesuffix(".zip")  # a link can lead to the files of another student
    why = f"{link.shown} is a link; hand in a folder of files, or a zip."
    return student, _Contents(for_all_lessons=location.refused(replace(link, student=student), "", why))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_zip(path: Path) -> bool:
    return path.suffix.casefold() == ".zip" and not path.is_dir()


def _from_folder(folder: Location, names: LessonNames, kit: str) -> _Contents:
    home = Path(os.path.realpath(folder.path))
    try:
        entries = sorted(folder.path.iterdir())
    except Exception as error:  # noqa: BLE001 - any error stops only this folder
        return _Contents(for_all_lessons=location.failed(folder, "", error))
    parts: list[_Contents] = []
    others: list[LeftOut] = []
    for entry in entries:
        name = file_name(entry.name)
        place = replace(folder, path=entry, home=home, shown=f"{folder.shown}/{name}")
        try:
            part = _of_file(place, names, kit)
            if not part and not archives.is_junk(name):
                others.append(names.classify(folder.student, place.shown, entry))
        except Exception as error:  # noqa: BLE001 - the student's other files are still collected
            part = _Contents(for_all_lessons=location.failed(place, "", error))
        parts += [part] if part else []
    return _Contents(
        tuple(submission for part in parts for submission in part.submissions),
        next((part.for_all_lessons for part in parts if part.for_all_lessons), None),
        tuple(note for part in parts for note in part.notes),
        (*(file for part in parts for file in part.left_out), *left_out.listed(others, folder.shown)),
    )


def _of_file(place: Location, names: LessonNames, kit: str) -> _Contents | None:
    path = place.path
    if path.suffix in _READERS and path.stem in names.graded:
        return _Contents((_from_file(place, path.stem),))
    if _is_zip(path):
        return _from_zip(place, names, kit)
    if place.at or path.is_symlink() or not path.is_dir():
        return None
    at = timestamps.of_folder(path.name, place.zone)
    return _from_folder(replace(place, at=at), names, kit) if at else None


def _from_zip(place: Location, names: LessonNames, kit: str) -> _Contents:
    exercises = frozenset(lesson + suffix for lesson in names.graded for suffix in _READERS)
    wanted = exercises | {manifest.NAME}
    student, shown = place.student, place.shown
    data = b""
    try:
        data = location.read(place, archives.MAX_ARCHIVE_BYTES)
        files, skipped = archives.members(data, wanted)
        others = [names.classify(student, f"{shown}/{name}") for name in skipped]
        listed = manifest.Manifest.from_json(files[manifest.NAME]) if manifest.NAME in files else None
    except Exception as error:  # noqa: BLE001 - any error stops only this zip
        return _Contents(for_all_lessons=location.failed(place, "", error, data))
    submissions = tuple(
        _submission_from(replace(place, shown=f"{shown}/{name}"), PurePosixPath(name), content, listed)
        for name, content in sorted(files.items())
        if PurePosixPath(name).name in exercises
    )
    note = ""
    if listed is None:
        note = f"{student}: {shown} has no {manifest.NAME}, so it could not be checked for changes"
    elif listed.kit != kit:
        note = f"{student}: {shown} was made with kit version {listed.kit}; this kit is version {kit}"
    return _Contents(submissions, notes=(note,) if note else (), left_out=tuple(left_out.listed(others, shown)))


def _from_file(place: Location, lesson: str) -> Submission:
    try:
        data = location.read(place, _READERS[place.path.suffix][0])
    except Exception as error:  # noqa: BLE001 - any error stops only this file
        return location.failed(place, lesson, error)
    return _submission_from(place, PurePosixPath(place.path.name).with_stem(lesson), data, None)


def _submission_from(place: Location, file: PurePosixPath, data: bytes, listed: manifest.Manifest | None) -> Submission:
    try:
        if listed:
            listed.check(str(file), digest(data))
        source = _READERS[file.suffix][1](data, file.name)
        return location.accepted(place, file.stem, data, source)
    except Exception as error:  # noqa: BLE001 - any error stops only this file
        return location.failed(place, file.stem, error, data)


def _attempts(given: list[Submission]) -> Iterator[Submission]:
    slots: dict[datetime | None, list[Submission]] = {}
    for one in given:
        slots.setdefault(one.handed_in if one.timed else None, []).append(one)
    seen: set[str] = set()
    for attempt in sorted(map(_only_one, slots.values()), key=lambda one: (one.handed_in is not None, one.handed_in)):
        if attempt.content not in seen:
            seen.add(attempt.content)
            yield attempt


def _only_one(given: list[Submission]) -> Submission:
    if len(given) == 1:
        return given[0]
    paths = " and ".join(sorted(submission.path for submission in given))
    why = f"{given[0].lesson} was handed in more than once, as {paths}; hand in only one of these files."
    together = digest("\n".join(sorted(submission.sha256 for submission in given)).encode())
    return replace(given[0], path=paths, sha256=together, source=None, refusal=why)
