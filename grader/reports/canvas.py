"""The points of a class for the course system Canvas: a new file for its import, or an exported gradebook filled in.

In the new file, the column "SIS Login ID" holds the name of the student's folder or zip. The headings have no Canvas
assignment number, so Canvas asks for the assignment. An empty cell changes nothing in Canvas. In an exported gradebook,
cells with EX (excused) or N/A (not assigned), computed columns and all other rows are kept.
"""

import re
from collections.abc import Mapping, Sequence

from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Row, csv_text, fold, match_rows, number
from harness.errors import UsageError

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
IDS = ("id", "sis user id", "sis login id", "integration id")
POSSIBLE = "Points Possible"
READ_ONLY = "(read only)"
KEPT = frozenset({"EX", "N/A"})
TOTAL = "total"
"""The name for the sum of all lessons in the option `--column total=TITLE`."""

_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s+\((?P<number>\d+)\)\s*", re.DOTALL)


def render(roll: Roll) -> str:
    """Return the points of a class as CSV text that Canvas imports: a row per student, and a column per lesson."""
    rows = [[*HEADER, *map(_heading, roll.lessons)]]
    rows.append([POSSIBLE, "", "", "", "", *(grade_texts.points(roll.possible(each)) for each in roll.lessons)])
    for student, grades in roll.grades().items():
        earned = (grades.get(lesson) for lesson in roll.lessons)
        cells = ["" if points is None else grade_texts.points(points) for points in earned]
        rows.append([student, "", "", student, "", *cells])
    return csv_text(rows, "\r\n")


def fill(roll: Roll, data: bytes, name: str, columns: Mapping[str, str], *, scale: bool = False) -> CsvFile:
    """Return `data`, the content of the Canvas export `name`, with the points of a class filled in.

    `columns` maps a lesson, or `total`, to the heading, title or number of a column. The default is the column with the
    lesson's own name. With `scale`, points are converted to the maximum of the column. Raise `UsageError` if the file
    is not a Canvas export, a column is missing, or maximum points differ and `scale` is not set.
    """
    done = CsvFile(data, name)
    rows = done.rows
    head = [fold(cell) for cell in rows[0]]
    if not ({"student", "lastname"} & set(head[:1]) and "id" in head and "section" in head):
        raise UsageError(
            f"{name} is not a Canvas gradebook: its first line begins with {rows[0][0]!r}. "
            "Export the gradebook in Canvas and use the exported file."
        )
    most = next((row for row in rows[1:4] if row and fold(row[0]) == fold(POSSIBLE)), None)
    if most is None:
        raise UsageError(f"{name} has no row `{POSSIBLE}`. Export the gradebook again and delete no row.")
    found = _columns(roll, rows[0], columns, name, done.notes)
    factors = {at: _factor(roll, lessons, most[at], rows[0][at], name, scale=scale) for at, lessons in found.items()}
    people = _people(rows, head)
    placed = match_rows([student for student, given in roll.grades().items() if given], people)
    comma = done.separator == ";" or any("," in cell and number(cell) is not None for cell in most)
    for student, given in roll.grades().items():
        for at, lessons in found.items():
            points = {lesson: given[lesson] for lesson in lessons if lesson in given}
            earned = sum(one for one in points.values() if one is not None) * factors[at]
            shown = f"{grade_texts.points(earned)} points, but"
            before = rows[row][at].strip() if (row := placed.rows.get(student, 0)) and at < len(rows[row]) else ""
            if None in points.values():
                why = "no grade yet"
            elif student in placed.why:
                why = f"{shown} {student!r} {placed.why[student]}"
            else:
                why = f"{shown} the cell in Canvas contains {before}" if before.upper() in KEPT else ""
            if points and why:
                done.missing.append(f"{student}, {' + '.join(points)}: {why}")
            elif points:
                done.write(row, at, earned, comma=comma)
    empty = "; ".join(line.label for line in people if line.row not in placed.rows.values())
    done.notes += placed.notes
    done.notes += [f"Cells that were not changed, because nothing was handed in: {empty}."] if empty else []
    return done


def _columns(
    roll: Roll, head: Sequence[str], named: Mapping[str, str], name: str, notes: list[str]
) -> dict[int, tuple[str, ...]]:
    """Return the lessons whose points belong in a column, by the index of the column. Add a note on other lessons."""
    if unknown := set(named) - {*roll.lessons, TOTAL}:
        raise UsageError(
            f"This class has no lesson {min(unknown)}. --column accepts: {', '.join(roll.lessons)}, {TOTAL}."
        )
    listed = ", ".join(repr(cell) for cell in head if _ASSIGNMENT.fullmatch(cell)) or "none"
    found: dict[int, tuple[str, ...]] = {}
    without: list[str] = []
    for one in (*roll.lessons, *([TOTAL] if TOTAL in named else [])):
        own = (one, grade_texts.title(one), _heading(one))  # after the import of the grader's gradebook.csv
        wanted = {fold(named[one])} if one in named else set(map(fold, own))
        at = [place for place, cell in enumerate(head) if wanted & _names(cell)]
        if not at and one not in named:
            without.append(one)
        elif len(at) != 1:
            which = f"{len(at)} columns" if at else "no column"
            raise UsageError(f"{name} has {which} {named.get(one, one)!r}. Its assignments are: {listed}.")
        elif at[0] in found and one != TOTAL:
            both = f"the points of {found[at[0]][0]} and of {one}"
            raise UsageError(f"{name}: {head[at[0]]!r} would get {both}. Give each lesson a column with --column.")
        else:
            found[at[0]] = roll.lessons if one == TOTAL else (one,)
    if not found:
        raise UsageError(
            f"{name} has no column with the name of a lesson. Its assignments are: {listed}. "
            "Name the column with --column LESSON=TITLE."
        )
    if without:
        have, which = ("has", without[0]) if len(without) == 1 else ("have", "LESSON")
        what = f"Not exported: {', '.join(without)} {have} no column"
        notes.append(f"{what}. Name the column with --column {which}=TITLE.")
    return found


def _heading(lesson: str) -> str:
    return f"{grade_texts.title(lesson)} ({lesson})"


def _factor(roll: Roll, lessons: Sequence[str], cell: str, heading: str, name: str, *, scale: bool) -> float:
    """Return the maximum points of a column divided by those of its lessons, or 1 if it has no maximum in `cell`."""
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
    match = _ASSIGNMENT.fullmatch(heading)
    return {fold(heading), *((fold(match["title"]), match["number"]) if match else ())}


def _people(rows: Sequence[list[str]], head: Sequence[str]) -> list[Row]:
    """Return the rows of students. `head` are the column headings. Each row of a student has a number or a login."""
    at = [place for place, cell in enumerate(head) if cell in IDS]
    names = 2 if head[0] == "lastname" else 1
    return [
        Row(number_, tuple(row[place] for place in at if place < len(row)), " ".join(row[:names]), repr(row[0].strip()))
        for number_, row in enumerate(rows)
        if number_ and any(place < len(row) and row[place].strip() for place in at)
    ]
