"""Find the row of each student in a file that a course system exported.

The grader only knows the name of a student's folder or zip. First, this name is compared with the unique values of each
row: login, number and e-mail address. If no row has such a value, the name is compared with the student names and with
the parts of the addresses before the @. A student gets no row if two rows match, or if two students match the same row.
The reason is then reported.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.reports.csv_file import fold

_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?")
"""The name of a student's folder in Moodle's "Download all submissions", with the student's name and a number."""


_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<number>\d+)")
"""A student in a download from Canvas: the name without spaces, `_`, and the student's number in Canvas."""


@dataclass(frozen=True, slots=True)
class Row:
    """One student's row in an exported file: its index, its unique values, and the student's name."""

    row: int
    ids: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The row of each student in an exported file.

    `by_name` lists the students who were matched by name only, without a unique value. `why` has the reason for each
    student without a row.
    """

    rows: dict[str, int]
    by_name: tuple[str, ...]
    why: dict[str, str]


def match_rows(students: Iterable[str], lines: Sequence[Row]) -> Matches:
    """Return each student's row in an exported file, or the reason why the student has no row."""
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
                why[student] = f"matches {len(found)} rows ({', '.join(str(row + 1) for row in sorted(found))})"
            elif found:
                (row,) = found
                if row in taken or wanted.count(row) > 1:
                    why[student] = f"matches row {row + 1}, which also matches another student"
                else:
                    rows[student] = row
                    by_name += [] if sure else [student]
    why |= {student: "matches no row" for student in students if student not in rows and student not in why}
    return Matches(rows, tuple(by_name), why)


def _index(lines: Sequence[Row], keys: Callable[[Row], set[str]]) -> dict[str, set[int]]:
    index: dict[str, set[int]] = {}
    for line in lines:
        for key in keys(line) - {""}:
            index.setdefault(key, set()).add(line.row)
    return index


def _ids(line: Row) -> set[str]:
    return {fold(one) for one in line.ids}


def _hints(line: Row) -> set[str]:
    """Return the values of a row that two students may share: the name, and each address before the @.

    The words of a name are sorted, so "Doe, Jane" matches "Jane Doe".
    """
    return {*(fold(one.partition("@")[0]) for one in line.ids if "@" in one), _words(line.name)}


def _student_ids(student: str) -> set[str]:
    moodle = _MOODLE.fullmatch(student)
    canvas = _CANVAS.fullmatch(student)
    numbers = [f"participant {moodle['number']}"] if moodle else [canvas["number"]] if canvas else []
    return {fold(student), *numbers}


def _student_hints(student: str) -> set[str]:
    moodle = _MOODLE.fullmatch(student)
    name = moodle["name"] if moodle else student
    return {fold(name.partition("@")[0]), _words(name)}


def _words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[^\W_]+", fold(name))))
