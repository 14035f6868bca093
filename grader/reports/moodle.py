"""Fill points into a grading worksheet of a Moodle assignment, in its columns "Grade" and "Feedback comments".

No row is added or removed. A row with a locked grade is not changed. A comment that a person wrote is not changed
either. Moodle reads comments as HTML.
"""

import html
from collections.abc import Sequence

from grader.course.roll import Roll
from grader.reports import grade_texts
from grader.reports.csv_file import CsvFile, Filled, defuse_formula, fold, number
from grader.reports.row_matching import Row, match_rows
from harness.errors import UsageError

IDENTIFIER, NAME, EMAIL, ID = "identifier", "full name", "email address", "id number"
GRADE, MOST, OPEN, FEEDBACK = "grade", "maximum grade", "grade can be changed", "feedback comments"
NEEDED = (IDENTIFIER, GRADE, "last modified (grade)")
"""Columns that Moodle needs to import a grading worksheet."""

OURS = "Graded by fairclock: "
"""The beginning of each comment that the grader writes. Comments with this beginning are replaced later."""


def fill(roll: Roll, data: bytes, name: str, lessons: Sequence[str], *, scale: bool = False) -> Filled:
    """Return `data`, the content of the worksheet `name`, with the sum of the points of `lessons` filled in.

    With `scale`, the points are converted to the maximum grade of the worksheet. Raise `UsageError` if the file is not
    a worksheet. Also raise it if the maximum grade differs from the lessons' points and `scale` is not set.
    """
    sheet = CsvFile.read(data, name)
    rows = sheet.rows
    at = {fold(cell): place for place, cell in enumerate(rows[0])}
    if missing := [column for column in NEEDED if column not in at]:
        raise UsageError(f"{name} is not a grading worksheet of Moodle: the column {missing[0]!r} is missing.")
    done, grades = Filled(), roll.grades()
    handed_in = [student for student in roll.students if set(lessons) & set(grades[student])]
    placed = match_rows(handed_in, _people(rows, at))
    for student in handed_in:
        given = [(lesson, grades[student][lesson]) for lesson in lessons if lesson in grades[student]]
        earned = [points for _, points in given if points is not None]
        if student in placed.why:
            done.missing.append(f"{student}: {_points_text(given)}, but {student!r} {placed.why[student]}")
            continue
        if len(earned) < len(given):
            named = ", ".join(lesson for lesson, _ in given)
            done.missing.append(f"{student}: not all of these lessons are graded yet: {named}")
            continue
        row = placed.rows[student]
        cells = {column: rows[row][place] for column, place in at.items() if place < len(rows[row])}
        grade = grade_texts.points(sum(earned) * _factor(cells, sum(map(roll.possible, lessons)), name, scale=scale))
        if fold(cells.get(OPEN, "yes")) == "no":
            done.missing.append(f"{cells[IDENTIFIER]}: {grade} points, but the grade is locked in Moodle")
            continue
        done.written += 1
        if number(cells[GRADE]) != number(grade):
            done.changed += sheet.fill(row, at[GRADE], grade.replace(".", ",") if "," in cells.get(MOST, "") else grade)
        comment = cells.get(FEEDBACK)
        if comment is not None and (not comment.strip() or comment.startswith(OURS)):
            sheet.fill(row, at[FEEDBACK], defuse_formula(OURS + html.escape(_points_text(given))))
    for student in placed.by_name:
        done.notes.append(f"{student} was matched only by name, with {rows[placed.rows[student]][at[IDENTIFIER]]}.")
    empty = len(rows) - 1 - len(placed.rows)
    done.notes += [f"Rows that were not changed, because nothing was handed in: {empty}."] if empty else []
    done.data = sheet.to_bytes()
    return done


def _factor(cells: dict[str, str], possible: float, name: str, *, scale: bool) -> float:
    """Return the maximum grade of a row of the worksheet `name`, divided by the `possible` points of its lessons.

    Raise `UsageError` if the worksheet has no such number, or if the two numbers differ and `scale` is not set.
    """
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


def _points_text(given: Sequence[tuple[str, float | None]]) -> str:
    return ", ".join(f"{lesson} {'?' if points is None else grade_texts.points(points)}" for lesson, points in given)


def _people(rows: Sequence[list[str]], at: dict[str, int]) -> list[Row]:
    ids = [at[column] for column in (IDENTIFIER, EMAIL, ID) if column in at]
    return [
        Row(row, tuple(cells[place] for place in ids if place < len(cells)), cells[at[NAME]] if NAME in at else "")
        for row, cells in enumerate(rows)
        if row and cells[at[IDENTIFIER] :]
    ]
