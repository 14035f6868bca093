"""Read a folder of hand-ins: the files that the students of a class handed in for each lesson.

    DIR/<student>/<lesson>.py | <lesson>.ipynb | <anything>.zip      also in folders below, or in a zip in the zip
    DIR/<student>/<time>/<the same>                                  one of several attempts, handed in at this time
    DIR/<student>.zip                                                as `submit` writes it
    DIR                                                              what a learning platform exports, see `layouts`

DIR may be a zip of these. The time of a hand-in is the platform's. Without a platform, it is the time in the folder's
name, such as 2026-11-20T23-59-00 (in the course's time zone) or 20261120T225900Z, or else the modification time of the
file or zip in DIR. Times inside a zip are ignored, because they come from the student's own clock.

A file that cannot be used becomes a `Submission` with a `refusal`, and a file that the grader fails to read one with a
`fault`. All other hand-ins are still collected.
"""

import os
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from operator import attrgetter
from pathlib import Path

from grader.hand_ins import archives, parents
from grader.hand_ins.archives import Item
from grader.hand_ins.attempts import READERS, Location, submissions_in
from grader.hand_ins.entries import below, is_junk, on_disk
from grader.hand_ins.layouts import LayoutClaim, counts_by_layout, recognised
from grader.hand_ins.left_out import LessonNames, LessonOf
from grader.hand_ins.metadata import sender
from grader.hand_ins.reader import Collection, HandInReader, StudentOf
from grader.records import Submission
from harness.errors import UsageError

__all__ = ["Collection", "StudentOf", "collect", "collect_one", "submission_of"]

_OF_MACOS = "__MACOSX"


def collect(
    folder: Path,
    lessons: Sequence[str],
    *,
    kit: str,
    zone: tzinfo = UTC,
    known: Mapping[str, Some[str]] | Sequence[str] = (),
    student_of: StudentOf = attrgetter("label"),
    lesson_of: LessonOf | None = None,
    require: bool = True,
) -> Collection:
    """Return the hand-ins for `lessons` in a class's folder or in a zip of it.

    `kit` is the grader's version, which is compared with the version in each zip. `zone` is the time zone of folder
    names without an offset. `known` are further lessons of the course, with the functions that students write for
    each. `student_of` gives the student of each sender: senders with the same student are one student. `lesson_of`
    gives the lesson of a student's misnamed file. Raise `UsageError` for a folder of several classes, and with
    `require` also if there is no hand-in.
    """
    names = LessonNames.of(lessons, known, lesson_of) if lesson_of else LessonNames.of(lessons, known)
    name = Path(os.path.realpath(folder)).name
    zipped = name if folder.is_file() else ""
    with archives.of_class(folder) as whole:
        inside = whole
        while True:
            items = {one: item for one, item in inside.items() if not is_junk(one)}
            reader, claims = HandInReader(names, kit, zone, student_of), recognised(items, zone, name)
            classes = parents.classes(claims, reader.read(claims, items), names.known, zipped)
            if not classes:
                break
            name, inside = classes[0], items[classes[0]].items()  # programs put the zipped folder into the zip
            if not zipped or len(items) > 1 or not inside:
                raise UsageError(parents.message(folder, classes))
    hidden = ", ".join(one for one, item in inside.items() if one not in items and item.is_folder and one != _OF_MACOS)
    reader.notes += [f"{hidden}: ignored, because systems and tools make folders of such names"] * bool(hidden)
    senders = {items[entry].entry.shown: claim.senders for entry, claim in claims.items()}
    found = replace(reader.collection(counts_by_layout(claims)), senders=senders)
    if require and not (found.submissions or found.unchanged):
        expected = f"{folder}/<student>/{lessons[0]}.py or {folder}/<student>.zip"
        left = "".join(f" {one.path} was left out: {one.why}" for one in found.left_out if one.misnamed)
        raise UsageError(f"{folder} contains no hand-in; expected names such as {expected}.{left}")
    return found


def collect_one(
    folder: Path,
    student: str,
    lessons: Sequence[str],
    *,
    kit: str,
    known: Mapping[str, Some[str]] | Sequence[str] = (),
) -> Collection:
    """Return the submissions in the folder or zip of one student, possibly none. Raise `UsageError` if none exists."""
    if not folder.exists():
        raise UsageError(f"There is no folder {folder}; give the folder with the student's files.")
    reader = HandInReader(LessonNames.of(lessons, known), kit)
    shown = student if folder.is_dir() else folder.name
    entry = on_disk(folder, Path(os.path.realpath(folder)).parent, (folder.name,), shown)
    item = Item(entry, lambda ignored: below(folder, shown, ignored))
    reader.read_item(LayoutClaim("", (sender(student),), "" if item.is_folder else folder.name, student), item)
    return reader.collection("")


def submission_of(path: Path, *, student: str, lesson: str) -> Submission:
    """Return the submission in one exercise file, or in a zip with it. Raise `UsageError` if `path` is neither."""
    if not path.exists():
        such = f"such as lessons/exercises/{lesson}.py"
        raise UsageError(f"There is no file {path}; give the path of the exercise file, {such}.")
    if archives.is_zip(path.name):
        found = collect_one(path, student, [lesson], kit="").submissions
        if not found:
            raise UsageError(f"{path} does not contain {lesson}.py or {lesson}.ipynb.")
        return replace(found[-1], student=student)
    suffix = path.suffix.casefold()
    if suffix not in READERS:
        raise UsageError(f"{path} is not an exercise; give a .py or .ipynb file.")
    entry = on_disk(path, Path(os.path.realpath(path)).parent, (path.name,), str(path))
    place = Location((student,), str(path), "", {}).inside(entry, UTC)
    return submissions_in(place, entry, lesson, suffix)[0]
