"""Fill points into a grading worksheet of a Moodle assignment, in its columns "Grade" and "Feedback comments".

Rows with a locked grade and comments that a person wrote are not changed. Moodle reads comments as HTML.
"""

import html
from collections.abc import Mapping, Sequence

from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Row, defuse_formula, fold, match_rows, number
from harness.errors import UsageError

IDENTIFIER, NAME, EMAIL, ID = "identifier", "full name", "email address", "id number"
GRADE, MOST, OPEN, FEEDBACK = "grade", "maximum grade", "grade can be changed", "feedback comments"
NEEDED = (IDENTIFIER, GRADE, "last modified (grade)")
"""Columns that Moodle needs to import a grading worksheet."""

OURS = "Graded by fairclock: "
"""The beginning of each comment that the grader writes. Comments with this beginning are replaced later."""


def fill(roll: Roll, data: bytes, name: str, lessons: Sequence[str], *, scale: bool = False) -> CsvFile:
    """Return `data`, the content of the worksheet `name`, with the sum of the points of `lessons` filled in.

    With `scale`, the points are converted to the maximum grade of the worksheet. Raise `UsageError` if the file is not
    a worksheet, or if the maximum grade differs from the lessons' points and `scale` is not set.
    """
    done = CsvFile(data, name)
    at = {fold(cell): place for place, cell in enumerate(done.rows[0])}
    if missing := [column for column in NEEDED if column not in at]:
        raise UsageError(f"{name} is not a grading worksheet of Moodle: the column {missing[0]!r} is missing.")
    table = [{column: row[place] for column, place in at.items() if place < len(row)} for row in done.rows]
    grades = {student: {one: given[one] for one in lessons if one in given} for student, given in roll.grades().items()}
    handed_in = {student: given for student, given in grades.items() if given}
    placed = match_rows(handed_in, [_row(number, cells) for number, cells in enumerate(table) if number and cells])
    possible = sum(map(roll.possible, lessons))
    for student, given in handed_in.items():
        earned = [points for points in given.values() if points is not None]
        if student in placed.why:
            done.missing.append(f"{student}: {_points_text(given)}, but {student!r} {placed.why[student]}")
        elif len(earned) < len(given):
            done.missing.append(f"{student}: not all of these lessons are graded yet: {', '.join(given)}")
        else:
            cells = table[placed.rows[student]]
            points = sum(earned) * _factor(cells, possible, name, scale=scale)
            _write(done, placed.rows[student], cells, at, points, _points_text(given))
    empty = len(table) - 1 - len(placed.rows)
    nothing = f"Rows that were not changed, because nothing was handed in: {empty}."
    done.notes += [*placed.notes, *([nothing] if empty else [])]
    return done


def _write(
    done: CsvFile, row: int, cells: Mapping[str, str], at: Mapping[str, int], points: float, comment: str
) -> None:
    """Write the grade and the comment into a row, unless the grade is locked or a person wrote the comment."""
    if fold(cells.get(OPEN, "yes")) == "no":
        shown = grade_texts.points(points)
        done.missing.append(f"{cells[IDENTIFIER]}: {shown} points, but the grade is locked in Moodle")
        return
    done.write(row, at[GRADE], points, comma="," in cells.get(MOST, ""))
    before = cells.get(FEEDBACK)
    if before is not None and (not before.strip() or before.startswith(OURS)):
        done.fill(row, at[FEEDBACK], defuse_formula(OURS + html.escape(comment)))


def _factor(cells: Mapping[str, str], possible: float, name: str, *, scale: bool) -> float:
    """Return the maximum grade of a row, divided by the `possible` points of its lessons, or 1 without a maximum."""
    most = number(cells.get(MOST, ""))
    if (most is None and cells.get(MOST, "").strip()) or "scale" in cells:
        raise UsageError(f"{name} uses a scale of words. Set the grade type to `Point` in Moodle and export again.")
    if most is None:
        return 1.0
    if most != possible and not scale:
        raise UsageError(
            f"{name}: the maximum grade is {grade_texts.points(most)}, but the lessons have "
            f"{grade_texts.points(possible)} points. Set the same number in Moodle and export again, choose other "
            "lessons with --lessons, or use --scale."
        )
    return most / possible


def _points_text(given: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{lesson} {'?' if points is None else grade_texts.points(points)}" for lesson, points in given.items()
    )


def _row(number_: int, cells: Mapping[str, str]) -> Row:
    ids = tuple(cells[column] for column in (IDENTIFIER, EMAIL, ID) if column in cells)
    return Row(number_, ids, cells.get(NAME, ""), cells.get(IDENTIFIER, ""))
