"""Choose the names of students on the leaderboard, by default pseudonyms.

All students of the class can read the leaderboard. A pseudonym is computed from the student's name and a random key in
the database of grades. Without the key, a list of the students does not reveal their pseudonyms. A student has the same
pseudonym in all reports of a class, and a different pseudonym in each class.
"""

import csv
import hashlib
import hmac
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from grader.errors import UsageError
from grader.text import storable

NameOf = Callable[[str], str]
"""A function that returns a student's name on the leaderboard, or "" if the student is left out."""

PSEUDONYMS: Final = "pseudonyms"
STUDENTS: Final = "students"

_FIRST: Final = """
amber ashen azure bold brave brisk bronze calm cedar clear clever coral copper crimson curious dapper deep
eager early fair fleet fond fresh gentle gilded golden grand green happy hardy hazel humble indigo ivory jade
jolly keen kind lively lucky lunar merry mellow mild misty noble olive opal patient pearl plum polite proud
quick quiet ruby rustic scarlet silver smart snowy steady sunny swift tawny teal tidy topaz umber velvet vivid
warm wise witty
"""
_SECOND: Final = """
acorn alder anchor badger beacon birch bison brook canyon cello cliff cloud comet compass condor crane cricket
delta dune eagle elm ember falcon fern finch fjord flute fox garnet glacier grove harbor hare hawk heron ibis
iris island jay juniper kestrel kite lagoon lantern lark lemur lily linden lynx maple marten meadow meteor
moss newt oak orchid osprey otter owl panda pebble pine plover poppy puffin quail raven reef river robin
sequoia sparrow spruce stork swallow swan tern thistle thrush tulip walnut willow wren
"""


def pseudonyms(key: str, students: Sequence[str]) -> dict[str, str]:
    """Return a pseudonym, such as "amber heron 27", for each student. No two students get the same one."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        name, tried = "", 0
        while not name or name in taken:
            name, tried = _name(key, student, tried), tried + 1
        given[student] = name
        taken.add(name)
    return given


def names_for(how: str, key: str, students: Sequence[str]) -> NameOf:
    """Return a function that gives a student's name on the leaderboard.

    `how` is "pseudonyms", "" (the same), "students", or the path of a CSV file. The file has two columns, the student
    and the name to show, and no heading. A student with an empty name is left out of the leaderboard. A student who is
    not in the file gets a pseudonym, which is computed with `key`.

    Raise `UsageError` if the file cannot be read or names no student of the class. Also raise it if two students have
    the same name.
    """
    if how == STUDENTS:
        return lambda student: student
    table = pseudonyms(key, students)
    if how not in {PSEUDONYMS, ""}:
        table |= _read(Path(how), students)
    names = [name for name in table.values() if name]
    if double := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{how} gives two students the name {double[0]!r}. Give each student a different name.")
    return lambda student: table.get(student, "")


def from_options(leaderboard: bool | None, names: str | None, before: str) -> str:
    """Return "pseudonyms", "students" or the path of a CSV file for a leaderboard, or "" for no leaderboard.

    `leaderboard` and `names` are options of a command. Without `names`, the result is the choice `before` of an earlier
    run, or else "pseudonyms" if `leaderboard` is True. A path is made absolute, because later commands read the file
    from other folders. Raise `UsageError` if the options contradict each other.
    """
    if leaderboard is False:
        if names:
            raise UsageError("--leaderboard-names needs a leaderboard. Remove one of the two options.")
        return ""
    if names is None:
        return before or (PSEUDONYMS if leaderboard else "")
    return names if names in {PSEUDONYMS, STUDENTS} else str(Path(names).resolve())


def _read(path: Path, students: Sequence[str]) -> dict[str, str]:
    """Return students' names on the leaderboard by student, from a CSV file.

    Raise `UsageError` if the file cannot be read or has no student of the class.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, ValueError, csv.Error) as fault:
        raise UsageError(
            f"The names for the leaderboard cannot be read from {path} ({fault}). Give {PSEUDONYMS!r}, {STUDENTS!r}, "
            "or a CSV file with two columns: the student and the name to show."
        ) from None
    known = set(students)
    names = {row[0].strip(): row[1].strip() for row in rows if len(row) > 1 and row[0].strip() in known}
    if not names:
        raise UsageError(
            f"The first column of {path} has no student of this class. Write the students as in gradebook.csv."
        )
    return names


def _name(key: str, student: str, tried: int) -> str:
    digest = hmac.new(key.encode(), storable(f"{student}\0{tried}").encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest[:8], "big")
    firsts, seconds = _FIRST.split(), _SECOND.split()
    number, first = divmod(number, len(firsts))
    number, second = divmod(number, len(seconds))
    return f"{firsts[first]} {seconds[second]} {10 + number % 90}"
