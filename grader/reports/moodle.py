"""Fill points into a grading worksheet of a Moodle assignment, in its columns "Grade" and "Feedback comments".

Rows with a locked grade and comments that a person wrote are not changed. Moodle reads comments as HTML.
"""

import html
from collections.abc import Collection, Mapping

from grader.course.people import fold
from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Row, csv_cell, match_rows, number
from grader.reports.grade_texts import PERCENT
from harness.errors import UsageError

IDENTIFIER, NAME, EMAIL, ID = "identifier", "full name", "email address", "id number"
GRADE, MOST, OPEN, FEEDBACK = "grade", "maximum grade", "grade can be changed", "feedback comments"
MODIFIED, SCALE = "last modified (grade)", "scale"
COLUMNS = (IDENTIFIER, NAME, EMAIL, ID, GRADE, MOST, OPEN, FEEDBACK, MODIFIED, SCALE)
NEEDED = (IDENTIFIER, GRADE, MODIFIED)
"""Columns that Moodle needs to import a grading worksheet."""

_ONE_MAXIMUM = "Set the grade type to `Point` in Moodle, with one maximum, and export again."
OURS = "Graded by fairclock: "
"""The beginning of each comment that the grader writes. Comments with this beginning are replaced later."""


def fill(roll: Roll, data: bytes, name: str, *, scale: bool = False) -> CsvFile:
    """Return `data`, the content of the worksheet `name`, with the sum of the points of all lessons filled in.

    With `scale`, the points are converted to the maximum grade of the worksheet. If the course weights its lessons, the
    total is converted instead. Raise `UsageError` if the file is not a worksheet, or if the maximum grade differs from
    the lessons' points and `scale` is not set.
    """
    done, totals = CsvFile(data, name), grade_texts.totals(roll)
    at = {column: place for column in COLUMNS if (place := done.column(column)) is not None}
    if missing := [column for column in NEEDED if column not in at]:
        raise UsageError(
            f"{done.line(done.head)}: the column {missing[0]!r} of Moodle's grading worksheet is missing. "
            "Set the language of Moodle to English, download the grading worksheet, and use it without other changes."
        )
    rows = {row: {one: done.cell(row, place) for one, place in at.items()} for row in done.below}
    rows = {row: cells for row, cells in rows.items() if cells[IDENTIFIER].strip()}
    comma = done.has_decimal_comma(cells.get(one, "") for cells in rows.values() for one in (MOST, GRADE))
    most = {cells.get(MOST, "").strip(): row for row, cells in reversed(rows.items())}
    possible = PERCENT if totals else sum(map(roll.possible, roll.lessons))
    scale = scale or bool(totals)
    factors = {
        text: done.factor(row, "the assignment", text, possible, comma=comma, scale=scale)
        for text, row in most.items()
        if text
    }
    if SCALE in at or len(set(factors.values())) > 1:
        what = "a scale of words" if SCALE in at else f"{len(factors)} maximum grades"
        raise UsageError(f"{name} uses {what}. {_ONE_MAXIMUM}")
    factor = next(iter(factors.values()), 1.0)
    people = [
        Row(row, tuple(cells.get(one, "") for one in (IDENTIFIER, EMAIL, ID)), cells.get(NAME, ""), cells[IDENTIFIER])
        for row, cells in rows.items()
    ]
    placed, unplaced = match_rows(done, roll, people, "Participant {}")
    handed_in = roll.grades()
    for student, given in roll.gradebook().items():
        text = _points_text(given, handed_in[student])
        if student in unplaced:
            done.missing.append(f"{student}: {text}, but {student!r} {unplaced[student]}")
        elif None in given.values():
            done.missing.append(f"{student}: not all of these lessons are graded yet: {', '.join(given)}")
        elif given:
            points = sum(filter(None, given.values()))
            if student in totals:
                points, text = totals[student].percent or 0.0, "; ".join(totals[student].arithmetic)
            row = placed[student]
            if refused := _write(done, row, rows[row], at, points * factor, text, comma=comma):
                done.missing.append(
                    f"{rows[row][IDENTIFIER]}: {grade_texts.points(points * factor)} points, but {refused}"
                )
    return done


def _write(
    done: CsvFile,
    row: int,
    cells: Mapping[str, str],
    at: Mapping[str, int],
    points: float,
    comment: str,
    *,
    comma: bool,
) -> str:
    if fold(cells.get(OPEN, "")) == "no":
        return "the grade is locked in Moodle"
    limit, column = number(cells.get(MOST, ""), comma=comma), at.get(FEEDBACK)
    if limit is not None and round(points - limit, 2) > 0:
        return f"Moodle accepts at most {grade_texts.points(limit)}"
    done.write(row, at[GRADE], points, comma=comma)
    if column is not None and (not (before := done.cell(row, column)).strip() or before.startswith(OURS)):
        done.fill(row, column, csv_cell(OURS + html.escape(comment)))
    return ""


def _points_text(given: Mapping[str, float | None], handed_in: Collection[str]) -> str:
    return ", ".join(
        f"{lesson} {'?' if points is None else grade_texts.points(points)}"
        f"{'' if lesson in handed_in else f' ({grade_texts.NO_ATTEMPT})'}"
        for lesson, points in given.items()
    )
