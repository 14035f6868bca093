"""A gradebook exported from Canvas, filled in: one column an assignment, "<Title> (<number>)".

Only cells of students' rows in assignments' columns are written to. A cell that says EX (excused) or N/A (not assigned)
stays, columns that Canvas computes are never touched, and rows are never added.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.class_run.roll import Roll
from grader.reports import words
from grader.reports.filled import Filled
from grader.reports.gradebook import heading as heading_of
from grader.reports.gradebook import title
from grader.reports.roster import Line, places
from grader.reports.sheet import Sheet, folded, number
from harness.errors import UsageError

IDS = ("id", "sis user id", "sis login id", "integration id")
POSSIBLE = "points possible"
READ_ONLY = "(read only)"
KEPT = frozenset({"EX", "N/A"})
TOTAL = "total"
"""What the sum over all lessons is called where a column is named for it."""

_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s+\((?P<number>\d+)\)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column to fill: where it is, the lessons whose points are added up in it, and what a point is worth there."""

    at: int
    lessons: tuple[str, ...]
    factor: float


def fill(roll: Roll, data: bytes, name: str, columns: Mapping[str, str], *, scale: bool = False) -> Filled:
    """Fill the points of a class into the export `data`, a file that people know as `name`.

    `columns` names the column of a lesson (or of `total`) by its heading, title or number, where it is not called like
    the lesson. Raises `UsageError` when the file is no export of Canvas, a column is not there, or it is worth other
    points than the lesson and `scale` was not asked for.
    """
    sheet = Sheet.read(data, name)
    rows = sheet.rows
    head = [folded(cell) for cell in rows[0]]
    if not ({"student", "lastname"} & set(head[:1]) and "id" in head and "section" in head):
        raise UsageError(f"{name} is no gradebook of Canvas (its first line begins {rows[0][0]!r}); export it there.")
    possible = next((row for row in rows[1:4] if row and folded(row[0]) == POSSIBLE), None)
    if possible is None:
        raise UsageError(f"{name} has no row of `Points Possible`; export the gradebook again and leave its rows.")
    done = Filled()
    found = _columns(roll, rows[0], possible, columns, name, done, scale=scale)
    people = _people(rows, head)
    placed = places([student for student, given in roll.grades().items() if given], people)
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
                done.lost.append(f"{what}: has no grade yet")
            elif student in placed.why:
                done.lost.append(f"{what}: {words.points(earned)} points, but {student!r} {placed.why[student]}")
            else:
                _write(sheet, rows, placed.rows[student], column.at, words.points(earned), what, done, comma=comma)
    done.told += [f"Found by name: {student} is {_person(rows[placed.rows[student]])}." for student in placed.by_name]
    empty = [_person(rows[line.row]) for line in people if line.row not in set(placed.rows.values())]
    done.told += [f"Left as they were, for nothing was handed in: {'; '.join(empty)}."] if empty else []
    done.data = sheet.to_bytes()
    return done


def _write(
    sheet: Sheet, rows: Sequence[list[str]], row: int, at: int, points: str, what: str, done: Filled, *, comma: bool
) -> None:
    before = rows[row][at].strip() if at < len(rows[row]) else ""
    if before.upper() in KEPT:
        done.lost.append(f"{what}: {points} points, but Canvas has {before} there")
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
        raise UsageError(f"This class has no {min(unknown)}; it has {', '.join(roll.lessons)}, and {TOTAL}.")
    there = [cell for cell in head if _ASSIGNMENT.fullmatch(cell)]
    found: list[_Column] = []
    without: list[str] = []
    for one in (*roll.lessons, *([TOTAL] if TOTAL in named else [])):
        lessons = roll.lessons if one == TOTAL else (one,)
        wanted = {folded(named[one])} if one in named else {folded(one), folded(title(one)), folded(heading_of(one))}
        at = [place for place, cell in enumerate(head) if wanted & _names(cell)]
        if not at and one not in named:
            without.append(one)
            continue
        if len(at) != 1:
            which = f"{len(at)} columns" if at else "no column"
            listed = ", ".join(repr(cell) for cell in there) or "none"
            raise UsageError(f"{name} has {which} {named.get(one, one)!r}; assignments in it are: {listed}.")
        factor = _factor(roll, lessons, possible[at[0]], head[at[0]], name, scale=scale)
        found.append(_Column(at[0], lessons, factor))
    if not found:
        listed = ", ".join(repr(cell) for cell in there) or "none"
        raise UsageError(f"{name} has no column of a lesson; it has {listed}. Name one: --column LESSON=TITLE.")
    done.told += _left_out(without)
    return found


def _left_out(lessons: Sequence[str]) -> Iterator[str]:
    """One sentence on all lessons that have no column, however many there are."""
    if lessons:
        have, which = ("has", lessons[0]) if len(lessons) == 1 else ("have", "LESSON")
        yield f"Left out: {', '.join(lessons)} {have} no column; name one with --column {which}=TITLE."


def _factor(roll: Roll, lessons: Sequence[str], cell: str, heading: str, name: str, *, scale: bool) -> float:
    """What a point of ours is worth in a column; 1 unless `scale` was asked for."""
    ours, theirs = sum(roll.possible(lesson) for lesson in lessons), number(cell)
    if READ_ONLY in cell:
        raise UsageError(f"{name}: {heading!r} is computed by Canvas; name an assignment's column.")
    if theirs is None or theirs == ours:
        return 1.0
    if scale:
        return theirs / ours
    raise UsageError(
        f"{name}: {heading!r} is worth {words.points(theirs)} points and {', '.join(lessons)} "
        f"{words.points(ours)}; make it the same in Canvas and export again, or give --scale."
    )


def _names(heading: str) -> set[str]:
    """What a column may be called by: all of its heading, and of an assignment's its title and its number."""
    match = _ASSIGNMENT.fullmatch(heading)
    return {folded(heading), *((folded(match["title"]), match["number"]) if match else ())}


def _people(rows: Sequence[list[str]], head: Sequence[str]) -> list[Line]:
    """The rows below the headings that are somebody's: they have a number or a login."""
    at = [place for place, cell in enumerate(head) if cell in IDS]
    names = 2 if head[0] == "lastname" else 1
    return [
        Line(number_, tuple(row[place] for place in at if place < len(row)), " ".join(row[:names]))
        for number_, row in enumerate(rows)
        if number_ and any(place < len(row) and row[place].strip() for place in at)
    ]


def _person(row: Sequence[str]) -> str:
    return repr(row[0].strip())
