"""The points of a class for the course system Canvas: a new file for its import, or an exported gradebook filled in.

In the new file, the column "SIS Login ID" holds a student's e-mail address in the roster, or the name of the student's
folder. The headings have no Canvas assignment number, so Canvas asks for the assignment. An empty cell changes nothing
in Canvas. In an exported gradebook, cells with EX (excused) or N/A (not assigned), computed columns and all other rows
are kept.
"""

import re
from collections.abc import Mapping, Sequence

from grader.course.people import fold
from grader.course.roll import Roll
from grader.course.roster import Person
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Row, csv_text, match_rows
from grader.reports.grade_texts import PERCENT
from harness.errors import UsageError

HEADER = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
IDS = ("id", "sis user id", "sis login id", "integration id")
POSSIBLE = "Points Possible"
READ_ONLY = "(read only)"
KEPT = frozenset({"EX", "N/A"})
_AGAIN = "Export the gradebook in Canvas, and use the exported file without other changes."
TOTAL = "total"
"""The name for the total of all lessons in the option `--column total=TITLE`."""

_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s+\((?P<number>\d+)\)\s*", re.DOTALL)


def render(roll: Roll) -> str:
    """Return the points of a class as CSV text that Canvas imports: a row per student, and a column per lesson."""
    totals = grade_texts.totals(roll)
    rows = [[*HEADER, *map(_heading, roll.lessons), *([f"Course total ({TOTAL})"] if totals else [])]]
    possible = [*map(roll.possible, roll.lessons), *([PERCENT] if totals else [])]
    rows.append([POSSIBLE, "", "", "", "", *map(grade_texts.points, possible)])
    for student, grades in roll.gradebook().items():
        earned = [grades.get(lesson) for lesson in roll.lessons]
        if totals:
            earned.append(totals[student].percent if grades and totals[student].is_final else None)
        cells = ["" if points is None else grade_texts.points(points) for points in earned]
        person = roll.roster.students.get(student, Person(student))
        own = [person.id, person.email or student, " and ".join(person.sections)]
        rows.append([student, "", *own, *cells])
    return csv_text(rows, "\r\n")


def fill(roll: Roll, data: bytes, name: str, columns: Mapping[str, str], *, scale: bool = False) -> CsvFile:
    """Return `data`, the content of the Canvas export `name`, with the points of a class filled in.

    `columns` maps a lesson, or `total`, to the heading, title or number of a column. The default is the column with the
    lesson's own name. A total that the course weights is converted to the maximum of its column, and with `scale` all
    other points, too. Raise `UsageError` if the file is not a Canvas export, a column is missing, or maximum points
    differ and `scale` is not set.
    """
    done, totals = CsvFile(data, name), grade_texts.totals(roll)
    row_of_maxima = _check(done)
    found = _columns(roll, done.rows[done.head], columns, name, done.notes)
    comma = done.has_decimal_comma(done.cell(row, at) for row in done.below for at in found)
    possible = {lesson: roll.possible(lesson) for lesson in roll.lessons}
    possible[TOTAL] = PERCENT if totals else sum(possible.values())
    factors = {}
    for at, what in found.items():
        scales = scale or (what == TOTAL and bool(totals))
        factors[at] = _factor(what, possible[what], done, (row_of_maxima, at), comma=comma, scale=scales)
    rows, unplaced = match_rows(done, roll, _people(done))
    for student, given in roll.gradebook().items():
        for at, what in found.items():
            points = {lesson: given[lesson] for lesson in roll.lessons if lesson in given and what in {lesson, TOTAL}}
            earned = sum(one for one in points.values() if one is not None)
            if what == TOTAL and totals:
                earned = totals[student].percent or 0.0
            earned *= factors[at]
            shown = f"{grade_texts.points(earned)} points, but"
            before = done.cell(row, at).strip() if (row := rows.get(student, 0)) else ""
            if None in points.values():
                why = "no grade yet"
            elif student in unplaced:
                why = f"{shown} {student!r} {unplaced[student]}"
            else:
                why = f"{shown} the cell in Canvas contains {before}" if before.upper() in KEPT else ""
            if points and why:
                done.missing.append(f"{student}, {' + '.join(points)}: {why}")
            elif points:
                done.write(row, at, earned, comma=comma)
    return done


def _check(done: CsvFile) -> int:
    head, where = done.rows[done.head], done.line(done.head)
    if lacks := [one for one in ("ID", "Section") if done.column(fold(one)) is None]:
        raise UsageError(f"{where}: the column {lacks[0]!r} of a Canvas gradebook is missing. {_AGAIN}")
    if fold(head[0]) not in {"student", "lastname"}:
        raise UsageError(f"{where}: the first column is {head[0]!r} and not 'Student'. {_AGAIN}")
    most = [row for row, cells in enumerate(done.rows) if fold(cells[0]) == fold(POSSIBLE)]
    if len(most) != 1:
        where = done.line(most[1]) if most else done.name
        raise UsageError(f"{where} has {'a second' if most else 'no'} row `{POSSIBLE}`. {_AGAIN}")
    return most[0]


def _columns(roll: Roll, head: Sequence[str], named: Mapping[str, str], name: str, notes: list[str]) -> dict[int, str]:
    if unknown := set(named) - {*roll.lessons, TOTAL}:
        raise UsageError(
            f"This class has no lesson {min(unknown)}. --column accepts: {', '.join(roll.lessons)}, {TOTAL}."
        )
    listed = ", ".join(repr(cell) for cell in head if _ASSIGNMENT.fullmatch(cell)) or "none"
    found: dict[int, str] = {}
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
            both = f"the points of {found[at[0]]} and of {one}"
            raise UsageError(f"{name}: {head[at[0]]!r} would get {both}. Give each lesson a column with --column.")
        else:
            found[at[0]] = one
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


def _factor(what: str, here: float, done: CsvFile, at: tuple[int, int], *, comma: bool, scale: bool) -> float:
    row, column = at
    cell, heading = done.cell(row, column), done.cell(done.head, column)
    if READ_ONLY in fold(cell):
        raise UsageError(f"{done.line(row)}: {heading!r} is computed by Canvas. Name the column of an assignment.")
    named = f"{heading!r} (for {what})"
    return done.factor(row, named, cell, here, comma=comma, scale=scale) if cell.strip() else 1.0


def _names(heading: str) -> set[str]:
    match = _ASSIGNMENT.fullmatch(heading)
    return {fold(heading), *((fold(match["title"]), match["number"]) if match else ())}


def _people(done: CsvFile) -> list[Row]:
    head = done.rows[done.head]
    at = [place for place, cell in enumerate(head) if fold(cell) in IDS]
    names = 2 if fold(head[0]) == "lastname" else 1
    return [
        Row(number_, tuple(done.cell(number_, place) for place in at), " ".join(row[:names]), repr(row[0].strip()))
        for number_ in done.below
        if (row := done.rows[number_]) and any(done.cell(number_, place).strip() for place in at)
    ]
