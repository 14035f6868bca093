"""Fill points into a gradebook that the course system Canvas exported.

Each assignment has a column with the heading "<Title> (<number>)". Only the cells in a student's row and an
assignment's column are changed. A cell with EX (excused) or N/A (not assigned) is kept. Columns that Canvas computes
are not changed. No row is added.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Filled, fold, number
from grader.reports.grade_texts import title
from grader.reports.gradebook import heading as heading_of
from grader.reports.row_matching import Row, match_rows
from harness.errors import UsageError

IDS = ("id", "sis user id", "sis login id", "integration id")
POSSIBLE = "points possible"
READ_ONLY = "(read only)"
KEPT = frozenset({"EX", "N/A"})
TOTAL = "total"
"""The name for the sum of all lessons in the option `--column total=TITLE`."""

_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s+\((?P<number>\d+)\)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column to fill: its index, the lessons whose points it sums, and the factor by which the sum is multiplied."""

    at: int
    lessons: tuple[str, ...]
    factor: float


def fill(roll: Roll, data: bytes, name: str, columns: Mapping[str, str], *, scale: bool = False) -> Filled:
    """Return `data`, the content of the Canvas export `name`, with the points of a class filled in.

    `columns` maps a lesson, or `total`, to the heading, title or number of a column. For a lesson that is not in
    `columns`, the column with the lesson's own name is used. With `scale`, points are converted to the maximum of the
    column.

    Raise `UsageError` if the file is not a Canvas export or a column is missing. Also raise it if a column and its
    lesson have different maximum points and `scale` is not set.
    """
    sheet = CsvFile.read(data, name)
    rows = sheet.rows
    head = [fold(cell) for cell in rows[0]]
    if not ({"student", "lastname"} & set(head[:1]) and "id" in head and "section" in head):
        raise UsageError(
            f"{name} is not a Canvas gradebook: its first line begins with {rows[0][0]!r}. "
            "Export the gradebook in Canvas and use the exported file."
        )
    possible = next((row for row in rows[1:4] if row and fold(row[0]) == POSSIBLE), None)
    if possible is None:
        raise UsageError(f"{name} has no row `Points Possible`. Export the gradebook again and delete no row.")
    done = Filled()
    found = _columns(roll, rows[0], possible, columns, name, done, scale=scale)
    people = _people(rows, head)
    placed = match_rows([student for student, given in roll.grades().items() if given], people)
    comma = sheet.separator == ";" or any("," in cell and number(cell) is not None for cell in possible)
    for student, given in roll.grades().items():
        for column in found:
            wanted = [lesson for lesson in column.lessons if lesson in given]
            if not wanted:
                continue
            what = f"{student}, {' + '.join(wanted)}"
            points = [given[lesson] for lesson in wanted]
            earned = sum(one for one in points if one is not None) * column.factor
            if None in points:
                done.missing.append(f"{what}: no grade yet")
            elif student in placed.why:
                done.missing.append(
                    f"{what}: {grade_texts.points(earned)} points, but {student!r} {placed.why[student]}"
                )
            else:
                _write(
                    sheet, rows, placed.rows[student], column.at, grade_texts.points(earned), what, done, comma=comma
                )
    done.notes += [
        f"{student} was matched only by name, with {_person(rows[placed.rows[student]])}." for student in placed.by_name
    ]
    empty = [_person(rows[line.row]) for line in people if line.row not in set(placed.rows.values())]
    done.notes += [f"Cells that were not changed, because nothing was handed in: {'; '.join(empty)}."] if empty else []
    done.data = sheet.to_bytes()
    return done


def _write(
    sheet: CsvFile, rows: Sequence[list[str]], row: int, at: int, points: str, what: str, done: Filled, *, comma: bool
) -> None:
    before = rows[row][at].strip() if at < len(rows[row]) else ""
    if before.upper() in KEPT:
        done.missing.append(f"{what}: {points} points, but the cell in Canvas contains {before}")
        return
    done.written += 1
    if number(before) != number(points):
        done.changed += sheet.fill(row, at, points.replace(".", ",") if comma else points)


def _columns(
    roll: Roll,
    head: Sequence[str],
    possible: Sequence[str],
    named: Mapping[str, str],
    name: str,
    done: Filled,
    *,
    scale: bool,
) -> list[_Column]:
    if unknown := set(named) - {*roll.lessons, TOTAL}:
        raise UsageError(
            f"This class has no lesson {min(unknown)}. --column accepts: {', '.join(roll.lessons)}, {TOTAL}."
        )
    listed = ", ".join(repr(cell) for cell in head if _ASSIGNMENT.fullmatch(cell)) or "none"
    found: list[_Column] = []
    without: list[str] = []
    for one in (*roll.lessons, *([TOTAL] if TOTAL in named else [])):
        lessons = roll.lessons if one == TOTAL else (one,)
        wanted = {fold(named[one])} if one in named else _own_names(one)
        at = [place for place, cell in enumerate(head) if wanted & _names(cell)]
        if not at and one not in named:
            without.append(one)
            continue
        if len(at) != 1:
            which = f"{len(at)} columns" if at else "no column"
            raise UsageError(f"{name} has {which} {named.get(one, one)!r}. Its assignments are: {listed}.")
        factor = _factor(roll, lessons, possible[at[0]], head[at[0]], name, scale=scale)
        found.append(_Column(at[0], lessons, factor))
    if not found:
        raise UsageError(
            f"{name} has no column with the name of a lesson. Its assignments are: {listed}. "
            "Name the column with --column LESSON=TITLE."
        )
    if without:
        have, which = ("has", without[0]) if len(without) == 1 else ("have", "LESSON")
        what = f"Not exported: {', '.join(without)} {have} no column"
        done.notes.append(f"{what}. Name the column with --column {which}=TITLE.")
    return found


def _own_names(lesson: str) -> set[str]:
    """Return the headings that a lesson's column may have in Canvas after the import of the grader's gradebook.csv."""
    return {fold(one) for one in (lesson, title(lesson), heading_of(lesson))}


def _factor(roll: Roll, lessons: Sequence[str], cell: str, heading: str, name: str, *, scale: bool) -> float:
    """Return the maximum points of a column divided by the maximum points of its lessons.

    `cell` has the column's maximum. Raise `UsageError` if the two numbers differ and `scale` is not set, or if Canvas
    computes the column.
    """
    points_here, points_there = sum(roll.possible(lesson) for lesson in lessons), number(cell)
    if READ_ONLY in cell:
        raise UsageError(f"{name}: {heading!r} is computed by Canvas. Name the column of an assignment.")
    if points_there is None or points_there == points_here:
        return 1.0
    if scale:
        return points_there / points_here
    raise UsageError(
        f"{name}: {heading!r} has {grade_texts.points(points_there)} points in Canvas, but {', '.join(lessons)} has "
        f"{grade_texts.points(points_here)}. Set the same number in Canvas and export again, or use --scale."
    )


def _names(heading: str) -> set[str]:
    """Return the names that the user may give to a column: its heading, and the title and number of an assignment."""
    match = _ASSIGNMENT.fullmatch(heading)
    return {fold(heading), *((fold(match["title"]), match["number"]) if match else ())}


def _people(rows: Sequence[list[str]], head: Sequence[str]) -> list[Row]:
    """Return the rows of students. `head` are the column headings. Each row of a student has a number or a login."""
    at = [place for place, cell in enumerate(head) if cell in IDS]
    names = 2 if head[0] == "lastname" else 1
    return [
        Row(number_, tuple(row[place] for place in at if place < len(row)), " ".join(row[:names]))
        for number_, row in enumerate(rows)
        if number_ and any(place < len(row) and row[place].strip() for place in at)
    ]


def _person(row: Sequence[str]) -> str:
    return repr(row[0].strip())
