"""The command `export`: write the points of a graded class in the format of another system, such as Canvas."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.course.roll import Roll
from grader.errors import UsageError
from grader.files import read_plain_file, rights, write_atomically
from grader.reports import canvas, junit, moodle, nbgrader
from grader.reports.csv_file import CsvFile
from harness.command_line import named
from harness.rendering import units
from harness.storage.user_files import refuse_edited

IN_CLASS = "lesson in this class"
MAX_BYTES: Final = 50_000_000
"""The maximum size of an exported file in bytes. Exports of courses are much smaller."""


def form_of(**asked: object) -> str:
    """Return the name of the only format that was requested. Raise `UsageError` unless exactly one was."""
    wanted = [name for name, value in asked.items() if value]
    if len(wanted) != 1:
        raise UsageError("Choose one format: --canvas EXPORT.csv, --moodle WORKSHEET.csv, --nbgrader or --junit.")
    return wanted[0]


def export(
    roll: Roll,
    out: Path,
    form: str,
    source: Path | None = None,
    *,
    to: Path | None = None,
    lessons: Sequence[str] = (),
    columns: Sequence[str] = (),
    scale: bool = False,
    force: bool = False,
) -> tuple[list[str], int]:
    """Write the points of a class in the format `form`, to the file `to` or to a file in the folder `out`.

    Return the lines that the command prints and its exit code: 0 if the file has every grade, 1 if a grade is missing.
    `source` is the file from Canvas or Moodle that is filled in. `lessons` are the lessons to export, by default all.
    `columns` are texts "LESSON=TITLE" for Canvas. With `scale`, points are converted to the maximum of the other
    system. An existing file at `to` with other content is only overwritten with `force`. A file in `out` is always
    overwritten. Raise `UsageError`, and write nothing, for options that contradict each other.
    """
    place = to or out / f"{form}.{'xml' if form == 'junit' else 'csv'}"
    roll = roll.only([named(lesson, roll.lessons, IN_CLASS) for lesson in lessons]) if lessons else roll
    if columns and form != "canvas":
        raise UsageError("--column needs --canvas. For Moodle, choose the lessons of the assignment with --lessons.")
    filled: CsvFile | None = None
    if source and form == "canvas":
        filled = canvas.fill(roll, _read(source, place), str(source), _named(columns, roll.lessons), scale=scale)
    elif source:
        filled = moodle.fill(roll, _read(source, place), str(source), scale=scale)
    text = filled.data if filled else (junit if form == "junit" else nbgrader).render(roll).encode()
    if to:
        refuse_edited(to, force=force, is_ours=lambda path: path.read_bytes() == text)
    existed = place.exists()
    changed = write_atomically(place, text, mode=None if to else rights(out))
    shown = f"{place}, which replaces an older file" if changed and existed else str(place)
    given = sum(len(roll.marks(student)) for student in roll.students)
    see = f"See: {roll.commands.of('grade', '--history')}"
    hidden = [one for one in roll.lessons if roll.course.hides(one)]
    warning = [f"Hidden from students, do not publish these results yet: {', '.join(hidden)}."] if hidden else []
    by_hand = [f"Points given by hand: {units.some(given, 'grade')}. {see}"] if given else []
    if filled:
        return [*filled.lines(shown), *by_hand, *warning], int(bool(filled.missing))
    grades = roll.grades().items()
    ungraded = [f"  {who}, {lesson}" for who, given in grades for lesson, points in given.items() if points is None]
    missing = [f"Not in the file, because there is no grade yet ({len(ungraded)}):", *ungraded] if ungraded else []
    return [f"Wrote {shown}.", *missing, *by_hand, *warning], int(bool(ungraded))


def _named(columns: Sequence[str], lessons: Sequence[str]) -> Mapping[str, str]:
    titles = {}
    for one in columns:
        lesson, sign, title = one.partition("=")
        if not (sign and lesson and title.strip()):
            raise UsageError(f"--column {one!r} does not name a column. Write --column LESSON=TITLE.")
        known = lesson.strip() == canvas.TOTAL
        titles[canvas.TOTAL if known else named(lesson, lessons, IN_CLASS)] = title
    return titles


def _read(path: Path, place: Path) -> bytes:
    if path.resolve() == place.resolve():
        raise UsageError(f"The result would overwrite the export {path}. Name another file with --to.")
    return read_plain_file(path, MAX_BYTES, "The export of the course system")
