"""Read the students of a course from `students.csv`, or from a file that a learning platform exported.

Such files are a gradebook of Canvas or Blackboard, a grading worksheet or the participants of Moodle, a roster of
Gradescope and a class list of Brightspace. `COLUMNS` has the headings by which their columns are found.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final

from grader.course.course_file import Course
from grader.course.people import fold
from grader.course.roster import FILE, NO_ROSTER, Person, Roster
from grader.files import read_plain_file, write_atomically
from grader.reports.csv_file import CsvFile, csv_text
from harness.errors import UsageError
from harness.rendering import units
from harness.storage.user_files import refuse_edited

HEADINGS: Final = ("id", "name", "email", "section", "other_names")

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("sisuserid", "idnumber", "studentid", "studentnumber", "sid", "orgdefinedid", "id", "integrationid"),
    "name": ("name", "fullname", "studentname", "student"),
    "first": ("firstname", "firstnames", "givenname", "givennames"),
    "last": ("lastname", "surname", "familyname"),
    "email": ("email", "emailaddress", "mail"),
    "section": ("section", "sections", "groups", "group"),
    "other": ("othernames", "othername"),
    "login": ("sisloginid", "username", "login", "githubusername"),
    "participant": ("identifier",),
    "role": ("role", "roles"),
}
"""The headings of each kind of column, in letters and digits only, the best first."""

MAX_BYTES: Final = 20_000_000
_PROTECTED = re.compile(r'="(.*)"|\'(?=[=+\-@\d])(.*)', re.DOTALL)
_SHORTENED = re.compile(r"\d[.,]?\d*E\+\d+|\d+\.0+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:mailto:)?([^\s<>;,:]+@[^\s<>;,]+)", re.IGNORECASE)
_UNSEEN = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_NO_STUDENT = re.compile(r"points possible|student, test|test student|student test")
_STAFF = re.compile(r"teacher|instructor|assistant|reader|manager|staff|\bta\b")
_NOTHING: Final = ("", "no groups", "n/a", "#n/a", "-")


@dataclass(frozen=True)
class StudentsFile:
    """A list of students as a CSV file. `people` has each person by a row, and `rows` all rows of the same person.

    `columns` are the columns of each kind, as `COLUMNS` names them.
    """

    file: CsvFile
    columns: Mapping[str, Sequence[int]]
    people: Mapping[int, Person]
    rows: Mapping[int, Sequence[int]]

    @cached_property
    def roster(self) -> Roster:
        """The students on the list."""
        return Roster((*self.people.values(),))


def read(path: Path) -> Roster:
    """Return the students in `students.csv` or an export. A student on two lines is in the sections of both lines.

    Raise `UsageError`, which names the line, for a file without students, for a student without a name, and for two
    students with one id or e-mail address.
    """
    return parse(read_plain_file(path, MAX_BYTES, "The list of students"), str(path)).roster


def parse(data: bytes, name: str) -> StudentsFile:
    """Return the students in the `data` of a file called `name`, as `read` does."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
    file = CsvFile(data, name)
    columns, found = _columns(file), dict[int, Person]()
    rows: dict[str, int] = {}  # the row with an id or e-mail address
    of_person: dict[int, list[int]] = {}
    for row, person in _people(file, columns):
        keys = [fold(key) for key in (person.id, person.email) if key]
        known = {rows[key] for key in keys if key in rows}
        at = min(known, default=row)
        found[at] = _merged(file, (at, row), found[at], person, len(known)) if known else person
        of_person.setdefault(at, []).append(row)
        rows.update(dict.fromkeys(keys, at))
    made, shared = StudentsFile(file, columns, found, of_person), Counter(fold(one.name) for one in found.values())
    unclear = [row for row, one in found.items() if shared[fold(one.name)] > 1 and not (one.id or one.email)]
    if unclear or len(made.roster.students) < len(found):
        row = (unclear or [*found])[-1]
        raise UsageError(
            f"{file.line(row)}: there is another {found[row].name!r}. Give both an id or an e-mail address."
        )
    if not found:
        raise UsageError(f"{name} names no student. Write one student on each line, below the headings.")
    return made


def chosen(students: Path | None, course_file: Path | None, course: Course, before: Roster) -> Roster:
    """Return the roster in the file `students`, else in `students.csv` beside the course file, else `before`.

    Raise `UsageError` if the file is wrong, or if the course file lists students, too.
    """
    beside = course_file.with_name(FILE) if course_file else None
    path = students or (beside if beside and beside.exists() else None)
    if path and course.students:
        raise UsageError(
            f"The students are listed twice: in {path}, and as `students = …` in the course file. Remove one."
        )
    return read(path) if path else NO_ROSTER if course.students else before


def write(source: Path, place: Path, *, force: bool) -> Iterator[str]:
    """Write the students in `source` to `place`, and yield the lines that the command prints.

    Other names and sections that only the list at `place` has are kept. Raise `UsageError`, after lines on what would
    change, if `place` has other students and `force` is not set.
    """
    before: dict[str, Person] = {}
    with suppress(*[UsageError] * force):
        before = {_key(one): one for one in read(place).people} if place.exists() else {}
    now = {_key(one): _with(one, before.get(_key(one), one)) for one in read(source).people}
    for key in [key for key in {**before, **now} if before and before.get(key) != now.get(key)]:
        yield f"{_described(before.get(key))} → {_described(now.get(key))}"
    refuse_edited(place, force=force, is_ours=lambda _path: before == now)
    if before != now:
        write_atomically(place, text_of(Roster((*now.values(),))).encode())
    yield f"{place}: {units.some(len(now), 'student')}{' as before' if before else ''}."


def _key(one: Person) -> str:
    return fold(one.id or one.email or one.name)


def _with(one: Person, before: Person) -> Person:
    others = (*dict.fromkeys((*one.other_names, *before.other_names)),)
    return replace(one, sections=one.sections or before.sections, other_names=others)


def _described(one: Person | None) -> str:
    return ", ".join(filter(None, (one.name, one.id, one.email, *one.sections, *one.other_names))) if one else "nobody"


def text_of(roster: Roster) -> str:
    """Return the text of `students.csv`."""
    rows = ([one.id, one.name, one.email, ";".join(one.sections), ";".join(one.other_names)] for one in roster.people)
    text = csv_text([HEADINGS, *rows], "\n")
    return text if text.isascii() else f"\ufeff{text}"  # Excel needs the byte order mark


def _merged(file: CsvFile, lines: tuple[int, int], one: Person, again: Person, known: int) -> Person:
    ids = {fold(each) for each in (one.id, again.id) if each}
    names = {" ".join(sorted(fold(each.name).replace(",", " ").split())) for each in (one, again)}
    if known > 1 or len(ids) > 1 or len(names) > 1 or set(one.sections) == set(again.sections):
        first, second = (file.line(row).rpartition(" ") for row in lines)
        what = (
            f"the id {one.id!r}" if one.id and fold(one.id) == fold(again.id) else f"the e-mail address {again.email!r}"
        )
        raise UsageError(
            f"{first[0]}s {first[2]} and {second[2]} both have {what}. Correct one of the lines. A student in two "
            "sections has the same name and another section on each line."
        )
    mails = {fold(text): text for text in (again.email, one.email) if text}
    others = dict.fromkeys((*one.other_names, *again.other_names, *mails.values()))
    others.pop(email := one.email or again.email, None)
    sections = (*dict.fromkeys((*one.sections, *again.sections)),)
    return Person(one.name, one.id or again.id, email, sections, (*others,))


def _columns(file: CsvFile) -> dict[str, list[int]]:
    keys = [re.sub("[^a-z0-9]", "", fold(cell)) for cell in file.rows[file.head]]
    if twice := [key for key in chain(*COLUMNS.values()) if keys.count(key) > 1]:
        raise UsageError(f"{file.line(file.head)}: two columns are named {twice[0]!r}. Remove one of them.")
    found = {kind: [keys.index(key) for key in names if key in keys] for kind, names in COLUMNS.items()}
    if not found["name"] and not found["last"]:
        raise UsageError(
            f"{file.line(file.head)}: no column has the students' names. Write the headings {','.join(HEADINGS)}, or "
            "make the file from an export of your learning platform: fairclock roster EXPORT.csv"
        )
    if "name" in keys and {"id", "othernames"} & {*keys}:  # then further columns are the instructor's own
        found |= {kind: [] for kind in ("first", "last", "login", "participant", "role")}
    return found


def _people(file: CsvFile, columns: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, Person]]:
    sections = {_plain(file.cell(row, at)) for row in file.below for at in columns["section"]}
    canvas = any(fold(row[0]) in {"student", "points possible"} for row in file.rows)
    for row in file.below:
        cells = {
            kind: [text for at in places if (text := _plain(file.cell(row, at)))] for kind, places in columns.items()
        }
        parts = (text for text in (*cells["first"][:1], *cells["last"][:1]) if text != "_")
        name = "".join(cells["name"][:1]) or " ".join(parts)
        test = canvas and _NO_STUDENT.match(fold(name))
        if test or not any(cells.values()) or _STAFF.search(fold(" ".join(cells["role"]))):
            continue
        if "".join(file.rows[row][len(file.rows[file.head]) :]).strip():
            raise UsageError(
                f"{file.line(row)}: more cells than headings. A name with a separator needs double quotes."
            )
        if not name:
            raise UsageError(f"{file.line(row)}: the student has no name. Write the name, or remove the line.")
        logins = [one.removeprefix("#") for one in cells["login"]]
        mails = [one for cell in cells["email"] for one in _ADDRESS.findall(cell) or [cell]]
        email = "".join((*mails, *(one for one in logins if "@" in one))[:1])
        ids = [one.removeprefix("#") for one in cells["id"]] or logins or ([] if email else cells["participant"])
        if wrong := next(filter(_SHORTENED.fullmatch, ids), ""):
            raise UsageError(
                f"{file.line(row)}: a spreadsheet program has changed the id to {wrong!r}. Format this column as text, "
                "or make the file again without opening it there."
            )
        others = [*ids[1:], *mails[1:], *logins, *(text.strip() for cell in cells["other"] for text in cell.split(";"))]
        last, comma, first = name.partition(",")
        if canvas and comma:
            name, others = f"{first} {last}".strip(), [name, *others]
        others = [one for one in dict.fromkeys(others) if one not in {"", email, *ids[:1]}]
        groups = tuple(_sections("".join(cells["section"][:1]), sections))
        yield row, Person(name, "".join(ids[:1]), email, groups, tuple(others))


def _sections(cell: str, known: set[str]) -> Iterator[str]:
    """Yield the sections in a cell. Canvas and Moodle write several as a list in words: `A, B, and C`."""
    for text in filter(None, map(str.strip, cell.split(";"))):
        parts = re.split(", and | and |, ", text)
        yield from parts if known.issuperset(parts) else [text]


def _plain(cell: str) -> str:
    text = " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", cell)).split())
    found = _PROTECTED.fullmatch(text)
    text = found[1] or found[2] or "" if found else text
    return "" if fold(text) in _NOTHING else text
