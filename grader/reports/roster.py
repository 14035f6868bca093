"""Whose row is whose: students of a class, named as their folders were, in a file that a course's system exported.

A student is looked for by what is unique (login, number, e-mail address), and only where that finds nobody by what is
not quite (the part of an address before the @, the name). Nobody is guessed: whoever fits two rows, or shares one with
somebody else, gets none, and is named with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.reports.sheet import folded

_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?")
"""A folder of Moodle's "Download all submissions": the name, and the number of "Participant 1001"."""


_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<number>\d+)")
"""A student of Canvas's download, as collecting names one: the name without spaces, and Canvas's number."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the file that is a person's: its number, what it says uniquely, and the person's name."""

    row: int
    ids: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where the students stand: `rows` by student; `by_name` lists who was found by less than an id; `why` who not."""

    rows: dict[str, int]
    by_name: tuple[str, ...]
    why: dict[str, str]


def places(students: Iterable[str], lines: Sequence[Line]) -> Places:
    """Find each student's row."""
    rows: dict[str, int] = {}
    why: dict[str, str] = {}
    by_name: list[str] = []
    for sure, keys_of_line, keys_of_student in ((True, _ids, _student_ids), (False, _hints, _student_hints)):
        index = _index(lines, keys_of_line)
        claims = {
            student: {row for key in keys_of_student(student) for row in index.get(key, ())}
            for student in students
            if student not in rows and student not in why
        }
        taken = set(rows.values())
        wanted = [row for found in claims.values() if len(found) == 1 for row in found]
        for student, found in claims.items():
            if len(found) > 1:
                why[student] = f"fits {len(found)} rows ({', '.join(str(row + 1) for row in sorted(found))})"
            elif found:
                (row,) = found
                if row in taken or wanted.count(row) > 1:
                    why[student] = f"shares row {row + 1} with another"
                else:
                    rows[student] = row
                    by_name += [] if sure else [student]
    why |= {student: "is in no row" for student in students if student not in rows and student not in why}
    return Places(rows, tuple(by_name), why)


def _index(lines: Sequence[Line], keys: Callable[[Line], set[str]]) -> dict[str, set[int]]:
    index: dict[str, set[int]] = {}
    for line in lines:
        for key in keys(line) - {""}:
            index.setdefault(key, set()).add(line.row)
    return index


def _ids(line: Line) -> set[str]:
    return {folded(one) for one in line.ids}


def _hints(line: Line) -> set[str]:
    """What may be somebody else's too; a name is its words in any order, so that "Doe, Jane" is Jane Doe."""
    return {*(folded(one.partition("@")[0]) for one in line.ids if "@" in one), _words(line.name)}


def _student_ids(student: str) -> set[str]:
    moodle = _MOODLE.fullmatch(student)
    canvas = _CANVAS.fullmatch(student)
    numbers = [f"participant {moodle['number']}"] if moodle else [canvas["number"]] if canvas else []
    return {folded(student), *numbers}


def _student_hints(student: str) -> set[str]:
    moodle = _MOODLE.fullmatch(student)
    name = moodle["name"] if moodle else student
    return {folded(name.partition("@")[0]), _words(name)}


def _words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[^\W_]+", folded(name))))
