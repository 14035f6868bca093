"""A grading worksheet of one Moodle assignment, filled in: "Grade" and "Feedback comments", and nothing else.

Rows are Moodle's: none is added and none is left out. A row whose grade cannot be changed stays as it is, and so does a
comment that a person wrote. Moodle reads comments as HTML.
"""

import html
from collections.abc import Sequence

from grader.class_run.roll import Roll
from grader.reports import words
from grader.reports.filled import Filled
from grader.reports.roster import Line, places
from grader.reports.sheet import Sheet, folded, harmless, number
from harness.errors import UsageError

IDENTIFIER, NAME, EMAIL, ID = "identifier", "full name", "email address", "id number"
GRADE, MOST, OPEN, FEEDBACK = "grade", "maximum grade", "grade can be changed", "feedback comments"
NEEDED = (IDENTIFIER, GRADE, "last modified (grade)")
"""Columns without which Moodle itself does not take a worksheet back."""

OURS = "Graded by fairclock: "
"""How a comment of ours begins: such a one gives way to the next."""


def fill(roll: Roll, data: bytes, name: str, lessons: Sequence[str], *, scale: bool = False) -> Filled:
    """Fill the points of `lessons`, added up, into the worksheet `data`, a file that people know as `name`.

    Raises `UsageError` when the file is no worksheet, or its maximum is not that of the lessons and `scale` was not
    asked for.
    """
    sheet = Sheet.read(data, name)
    rows = sheet.rows
    at = {folded(cell): place for place, cell in enumerate(rows[0])}
    if missing := [column for column in NEEDED if column not in at]:
        raise UsageError(f"{name} is no grading worksheet of Moodle: it lacks the column {missing[0]!r}.")
    done, grades = Filled(), roll.grades()
    handed_in = [student for student in roll.students if set(lessons) & set(grades[student])]
    placed = places(handed_in, _people(rows, at))
    for student in handed_in:
        given = [(lesson, grades[student][lesson]) for lesson in lessons if lesson in grades[student]]
        if student in placed.why:
            done.lost.append(f"{student}: {_told(given)}, but {student!r} {placed.why[student]}")
        elif any(points is None for _, points in given):
            done.lost.append(f"{student}: has no grade yet for all of {', '.join(lesson for lesson, _ in given)}")
        else:
            row = placed.rows[student]
            cells = {column: rows[row][place] for column, place in at.items() if place < len(rows[row])}
            _write(sheet, row, cells, at, given, sum(map(roll.possible, lessons)), name, done, scale=scale)
    for student in placed.by_name:
        done.told.append(f"Found by name: {student} is {rows[placed.rows[student]][at[IDENTIFIER]]}.")
    empty = len(rows) - 1 - len(placed.rows)
    done.told += [f"Left as they were, for nothing was handed in: {empty} rows."] if empty else []
    done.data = sheet.to_bytes()
    return done


def _write(
    sheet: Sheet,
    row: int,
    cells: dict[str, str],
    at: dict[str, int],
    given: Sequence[tuple[str, float | None]],
    possible: float,
    name: str,
    done: Filled,
    *,
    scale: bool,
) -> None:
    who, most = cells[IDENTIFIER], number(cells.get(MOST, ""))
    if (most is None and cells.get(MOST, "").strip()) or "scale" in at:
        raise UsageError(f"{name} is graded on a scale of words; make its grade `Point` in Moodle and export again.")
    if most is not None and most != possible and not scale:
        raise UsageError(
            f"{name}: the maximum grade is {words.points(most)} and the lessons are worth {words.points(possible)} "
            "points; make it the same in Moodle and export again, name other --lessons, or give --scale."
        )
    factor = most / possible if most is not None else 1.0
    grade = words.points(sum(points or 0.0 for _, points in given) * factor)
    if folded(cells.get(OPEN, "yes")) == "no":
        done.lost.append(f"{who}: {grade} points, but Moodle says that the grade cannot be changed")
        return
    done.written += 1
    if number(cells[GRADE]) != number(grade):
        done.changed += sheet.fill(row, at[GRADE], grade.replace(".", ",") if "," in cells.get(MOST, "") else grade)
    comment = cells.get(FEEDBACK)
    if comment is not None and (not comment.strip() or comment.startswith(OURS)):
        sheet.fill(row, at[FEEDBACK], harmless(OURS + html.escape(_told(given))))


def _told(given: Sequence[tuple[str, float | None]]) -> str:
    return ", ".join(f"{lesson} {'?' if points is None else words.points(points)}" for lesson, points in given)


def _people(rows: Sequence[list[str]], at: dict[str, int]) -> list[Line]:
    ids = [at[column] for column in (IDENTIFIER, EMAIL, ID) if column in at]
    return [
        Line(row, tuple(cells[place] for place in ids if place < len(cells)), cells[at[NAME]] if NAME in at else "")
        for row, cells in enumerate(rows)
        if row and cells[at[IDENTIFIER] :]
    ]
