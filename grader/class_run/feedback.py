"""The command `return`: write each student's page in the form that a course system takes as feedback files.

Canvas reads the student's number and the number of the handed-in file from the name of a file: `name_9_12345_….html`
(in Canvas's own code, `infer_comment_context_from_filename`). Moodle reads the participant's number from the first part
of a path that begins with `Name_70123_assignsubmission_file` (`is_valid_filename_for_import`). Both then ignore the
name of the student, so only the names in the download tell to whom a page belongs.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader import reports
from grader.class_run.journal import Journal
from grader.class_run.summary import leaderboard_names
from grader.course.people import Identity, People, fold
from grader.course.roll import Roll, folder_name
from grader.files import explained, rights, write_atomically, zip_of
from grader.reports.grade_texts import PAGE
from harness.command_line import named
from harness.rendering import units
from harness.storage.user_files import EditedFileError, refuse_edited

_CANVAS = re.compile(r"(?:(?P<name>[^/]+?)_)??(?:LATE_)?(?P<user>anon_[^_/]+|\d+)_(?P<file>\d+)_")
_MOODLE = re.compile(r"(?P<name>[^_/]*)_(?P<user>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_?/|_)")
"""The beginning of a hand-in's path by which the platform finds the student: the page's name gets the same."""


class Form(StrEnum):
    """A course system, or a folder with one page for each student."""

    CANVAS = "canvas"
    MOODLE = "moodle"
    FOLDER = "folder"


_UPLOAD = {
    Form.CANVAS: "Upload it in Canvas: gradebook, menu of the assignment, Re-Upload Submissions. Canvas shows each "
    "page under the name of the file that the student handed in.",
    Form.MOODLE: "Upload it in Moodle: the assignment's submissions, Upload multiple feedback files in a zip. The "
    "assignment needs the feedback type `Feedback files`.",
    Form.FOLDER: "Each student's page is named as the hand-in was.",
}
EXPECTED = {
    Form.CANVAS: "name_number_number_file, as Canvas names the files in a download",
    Form.MOODLE: "Name_number_assignsubmission_file, as Moodle names the folders in a download",
}


_WHOSE = (
    "The whole group would get this page. If it is a name of the student, write it below other_names in students.csv"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """The name of a student's page in the written file, and the `owner` to whom the course system gives the page."""

    name: str
    owner: str


def slot(form: Form, student: str, paths: Sequence[str]) -> Slot | None:
    """Return the name of the page of a student who handed in the files `paths`, or None if their names do not tell it.

    For Canvas, this is the name of the newest file, because Canvas takes only files of the newest attempt.
    """
    if form is Form.FOLDER and not paths:
        return Slot(f"{folder_name(student)}/{PAGE}", student)
    if form is Form.FOLDER:
        top, inside, _ = min(paths).partition("/")
        stem = re.sub(r"\.(zip|py|ipynb)$", "", top, flags=re.IGNORECASE)
        stem = stem if stem.strip(".") else folder_name(student)
        return Slot(f"{stem}/{PAGE}" if inside else f"{stem}.html", stem.casefold())
    pattern = _CANVAS if form is Form.CANVAS else _MOODLE
    found = [match for path in paths if (match := pattern.match(path))]
    if not found:
        return None
    if form is Form.CANVAS:
        newest = max(found, key=lambda match: int(match["file"]))
        return Slot(newest[0] + PAGE, newest["user"])
    first = min(found, key=lambda match: (match["kind"] != "file", match[0]))
    return Slot(first[0] + PAGE, first["user"])


def return_pages(
    book: Journal, form: Form, *, to: Path | None = None, lessons: Sequence[str] = (), force: bool = False
) -> tuple[list[str], int]:
    """Write the pages of all students for the upload of feedback files in `form`, to `to` or into the output folder.

    Return the lines that the command prints and its exit code: 0 if each student who handed in something gets the page,
    else 1. `lessons` are the lessons on the pages, by default all. The result is a zip, or a folder for `Form.FOLDER`
    if `to` does not end in `.zip`. Existing files at `to` with other content are only overwritten with `force`.
    """
    roll = book.roll()
    roll = roll.only([named(one, roll.lessons, "lesson in this class") for one in lessons]) if lessons else roll
    graded = (*(one.submission.student for one in roll.reports), *(one.student for one in roll.waiting))
    found = {student: list[str]() for student in graded} | book.paths(roll.lessons)
    paths = {student: of for student, of in found.items() if student in roll.students}
    pages, missing = _pages(book, roll, form, paths)
    place = to or book.out / ("_feedback" if form is Form.FOLDER else f"{form}-feedback.zip")
    mode = None if to else rights(book.out)
    if pages and form is Form.FOLDER and place.suffix != ".zip":
        _write_folder(place, pages, mode, force=force or not to, only=not to)
    elif pages:
        data = zip_of(pages)
        if to:
            refuse_edited(to, force=force, is_ours=lambda path: path.read_bytes() == data)
        write_atomically(place, data, mode=mode)
    lines = [
        f"Wrote {place}: {units.some(len(pages), 'page')}. {_UPLOAD[form]}" if pages else "There is no page to write."
    ]
    if nothing := [student for student in roll.students if student not in paths]:
        lines.append(f"No page, because nothing was handed in ({len(nothing)}): {', '.join(nothing)}.")
    lines += [f"Not returned ({len(missing)}):", *(f"  {one}" for one in missing)] if missing else []
    return lines, int(bool(missing))


def _pages(
    book: Journal, roll: Roll, form: Form, paths: Mapping[str, Sequence[str]]
) -> tuple[dict[str, bytes], list[str]]:
    slots = {student: slot(form, student, of) for student, of in paths.items()}
    shared = Counter(one.owner for one in slots.values() if one)
    pages: dict[str, bytes] = {}
    missing: list[str] = []
    names = leaderboard_names(book, roll)
    for alone, make in reports.student_pages(roll, reports.known_tasks(roll), book.reports, names):
        (student,) = alone.students
        where, page = slots.get(student), None
        if student not in paths:
            continue
        if where and form is Form.FOLDER and shared[where.owner] > 1:
            where = Slot(f"{folder_name(student)}/{PAGE}", student)
        if where and form is not Form.FOLDER and (other := _another_name(roll, student, where.name)):
            why, where = f"{where.name} is named after {other!r}: perhaps a group. {_WHOSE}", None
        elif where is None and not paths[student]:
            why = f"a team mate handed in, so {form} has no file of this student"
        elif where is None:
            why = f"{paths[student][0]} has no name such as {EXPECTED[form]}"
        elif shared[where.owner] > 1:
            why = f"{where.name} belongs to several students, and {form} would give each of them this page"
        elif not alone.is_final:
            why = "a hand-in has no final grade yet"
        else:
            page = reports.made(make)
            why = f"the page could not be made, because of an internal error ({getattr(page, 'kind', '')})"
        if where and isinstance(page, bytes):
            pages[where.name] = page
        else:
            missing.append(f"{student}: {why}")
    return pages, missing


def _another_name(roll: Roll, student: str, path: str) -> str:
    match, person = _CANVAS.match(path) or _MOODLE.match(path), roll.roster.students.get(student)
    name, words = (match and match["name"]) or "", fold(person.name).split() if person else []
    if not (person and name) or (len(words) > 1 and all(word in fold(name) for word in words)):
        return ""  # a platform may add middle names
    return "" if People([person.identity(student)]).find(Identity((name,), (name,))) else name


def _write_folder(place: Path, pages: Mapping[str, bytes], mode: int | None, *, force: bool, only: bool) -> None:
    """Write the pages into the folder `place`. With `only`, remove all other files there.

    Raise `EditedFileError`, and write nothing, if the folder has other files and `force` is not set.
    """
    files = {place / name: data for name, data in pages.items()}
    there = [path for path in sorted(place.rglob("*")) if path.is_file()] if place.is_dir() else []
    for path in there:
        with explained(path):
            differs = path not in files or path.read_bytes() != files[path]
        if differs and not force:
            raise EditedFileError(
                f"{place} holds other files, such as {path}, so nothing was written. "
                "Name another folder, or overwrite the files with --force."
            )
    for path, data in files.items():
        write_atomically(path, data, mode=mode, durable=False)
    for path in there if only else ():
        if path not in files:
            with explained(path):
                path.unlink()
