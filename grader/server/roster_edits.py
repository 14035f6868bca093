"""Changes of the roster that staff make on pages: people who are added, changed or removed, beside `students.csv`.

The path of a change is `students.csv`, a kind of key (`KEYS`) and the key: the id of a person, or else the address or
the name. The path `ADDED` adds a person. The value has the new fields of the person. A change also holds for another
`students.csv`. If this list does not have the person, the change has no effect, unless it added the person.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from grader.class_run import senders, students_csv
from grader.class_run.students_csv import StudentsFile
from grader.course.people import fold
from grader.course.roster import FILE, NO_ROSTER, Person, Roster
from grader.errors import UsageError
from grader.files import read_plain_file
from grader.reports.csv_file import csv_cell
from grader.server.edits import Edit, value_of

ADDED: Final = (FILE, "new")
KEYS: Final = ("id", "email", "name")
_KINDS: Final = {"name": "name", "id": "id", "email": "email", "sections": "section", "other_names": "other"}
"""The kind of column in `students.csv` that has a field of a person."""

People = list[Person | None]
"""The people of a list in its order, with None in place of a removed person, and then the people who were added."""


def is_of_roster(edit: Edit) -> bool:
    """Return whether a change is one of the roster, and not of the course file."""
    return edit.path[0] == FILE


def key_of(person: Person) -> tuple[str, str]:
    """Return the key that means a person in changes."""
    return next((kind, key) for kind in KEYS if (key := getattr(person, kind)))


def is_same(one: Person, other: Person) -> bool:
    """Return whether two people share an id or an address, or have one name and cannot be distinguished."""
    ids = [{fold(text) for text in (each.id, each.email) if text} for each in (one, other)]
    return bool(ids[0] & ids[1]) or (fold(one.name) == fold(other.name) and not all(ids))


def new_fields(
    before: Person | None, after: Person, everyone: Sequence[Person] = ()
) -> Mapping[str, str | Sequence[str]]:
    """Return the fields that a change stores: those that differ, or for a person who is added, those with a text.

    A changed person keeps the old name, id and address as other names, by which hand-ins are found, unless they mean
    another person of `everyone`.
    """
    old = before or Person("")
    known = {fold(text) for one in everyone if one != before for text in (one.name, one.id, one.email)}
    known |= {fold(text) for text in (after.name, after.id, after.email, *after.other_names)}
    past = (text for text in (old.name, old.id, old.email) if text and fold(text) not in known)
    others = (one for one in dict.fromkeys((*after.other_names, *past)) if one not in {after.id, after.email})
    fields = asdict(replace(after, other_names=tuple(others)))
    return {name: value for name, value in fields.items() if value != getattr(old, name)}


def applied(people: Sequence[Person], edits: Sequence[Edit]) -> People:
    """Return people with changes."""
    found: People = [*people]
    for edit in edits:
        given = value_of(edit.value) if edit.value else {}
        new = _with(Person(""), given) if edit.path == ADDED else None
        same = [at for at, one in enumerate(found) if one and (is_same(one, new) if new else _has(one, edit.path[1:]))]
        if len(same) == 1 and (person := found[same[0]]):
            found[same[0]] = None if edit.value is None else _with(person, given)
        elif new:
            found.append(new)
    return found


def _has(person: Person, key: Sequence[str]) -> bool:
    kind, text = key
    return kind in KEYS and fold(getattr(person, kind)) == fold(text)


def _with(person: Person, given: Mapping[str, Any]) -> Person:
    values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items()}
    return replace(person, **values)


def read(path: Path, edits: Sequence[Edit]) -> Roster:
    """Return the students in the file at `path`, if there is one, with changes. Raise `UsageError` if one is wrong."""
    people = students_csv.read(path).people if path.is_file() else ()
    return _checked(applied(people, edits), path) if edits else Roster(people)


def _checked(people: People, path: Path) -> Roster:
    """Return the roster. Raise `UsageError` if it would be read differently after it was written into a file."""
    roster = Roster(tuple(one for one in people if one))
    if not roster.people:
        return NO_ROSTER
    again = students_csv.parse(students_csv.text_of(roster).encode(), f"{path} with the changes of staff").roster
    for one, read_again in zip_longest(roster.people, again.people):
        if one != read_again:
            raise UsageError(f"{path} cannot hold `{_shown(one)}`, which would be read as `{_shown(read_again)}`.")
    return roster


def _shown(one: Person | None) -> str:
    return ", ".join(filter(None, (one.name, one.id, one.email, *one.sections, *one.other_names))) if one else "none"


def written(path: Path, edits: Sequence[Edit]) -> bytes:
    """Return the content of the file at `path` with changes. Its other columns and its order stay as they are.

    Raise `UsageError` if the columns of the file cannot hold a change.
    """
    wanted = read(path, edits)
    if not path.is_file():
        return students_csv.text_of(wanted).encode()
    made = students_csv.parse(read_plain_file(path, students_csv.MAX_BYTES, "The list of students"), str(path))
    places, before = [*made.people], [*made.people.values()]
    after = applied(before, edits)
    gone: list[int] = []
    for row, old, new in zip(places, before, after, strict=False):
        if new is None:
            gone += made.rows[row]
        elif new != old:
            joined = old.sections != new.sections
            gone += made.rows[row][1:] if joined else []
            for at in made.rows[row][:1] if joined else made.rows[row]:
                _fill(made, at, old, new)
    for added in filter(None, after[len(before) :]):
        _fill(made, made.file.append(), Person(""), added)
    for row in sorted(gone, reverse=True):
        made.file.remove(row)
    data = made.file.data
    with suppress(UsageError):
        if wanted.people and students_csv.parse(data, str(path)).roster == wanted:
            return data
    raise UsageError(
        f"The columns of {path} cannot hold the changes of the roster, which hold all the same. For a file with them, "
        f"make one with the headings {','.join(students_csv.HEADINGS)} first: fairclock roster {path}"
    )


def _fill(made: StudentsFile, row: int, old: Person, new: Person) -> None:
    """Put the fields of a person that differ into a row. A column that the file lacks is added."""
    file = made.file
    for (name, kind), heading in zip(_KINDS.items(), ("name", "id", "email", "section", "other_names"), strict=True):
        value = getattr(new, name)
        if value == getattr(old, name):
            continue
        column = next(iter(made.columns[kind]), file.column(heading))
        if column is None:
            column = len(file.rows[file.head])
            file.fill(file.head, column, heading)
        file.fill(row, column, csv_cell(value if isinstance(value, str) else ";".join(value)))


def rename(db: sqlite3.Connection, before: Roster, now: Roster) -> None:
    """Give the students in the tables of the server their names by another roster, as the journal does in its own."""
    new = {
        old: min(names) for old, names in senders.names(senders.everyone(db), before, now).items() if len(names) == 1
    }
    db.create_function("new_name", 1, lambda name: new.get(name, name))
    db.execute("UPDATE receipts SET student = new_name(student)")
    db.execute("UPDATE requests SET student = new_name(student)")
    db.execute("UPDATE staff_actions SET student = new_name(student)")
    db.execute("UPDATE tokens SET person = new_name(person) WHERE NOT is_staff")
