"""Names for a list that the whole class reads: by default such as nobody but their bearer can place.

A pseudonym comes from the student's name and a random key that stays in the journal: who has the list of the class
cannot find out who is who, and a student keeps the name from one report to the next, in this class and in no other.
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
"""Gives the name under which a student stands on the leaderboard; an empty one leaves the student out."""

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
    """Return a pseudonym such as "amber heron 27" for each student, no two alike."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        name, tried = "", 0
        while not name or name in taken:
            name, tried = _name(key, student, tried), tried + 1
        given[student] = name
        taken.add(name)
    return given


def chosen(how: str, key: str, students: Sequence[str]) -> NameOf:
    """Return what the instructor asked for: "pseudonyms" (or nothing), "students", or the path of a CSV file.

    The file has two columns, a student and the name to show, and no heading. A student with an empty name is left out;
    one who is not in it gets a pseudonym. Raises `UsageError` for a file that cannot be read, that names nobody of the
    class, or that gives two students one name.
    """
    if how == STUDENTS:
        return lambda student: student
    table = pseudonyms(key, students)
    if how not in {PSEUDONYMS, ""}:
        table |= _read(Path(how), students)
    names = [name for name in table.values() if name]
    if double := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{how} gives two students the name {double[0]!r}; give each a name of their own.")
    return lambda student: table.get(student, "")


def asked(leaderboard: bool | None, names: str | None, before: str) -> str:
    """Return the names for the leaderboard that a command asks for, else those `before`; empty where there is none.

    A CSV file is named by its whole path, because it is read again by later commands from other folders.
    """
    if leaderboard is False:
        if names:
            raise UsageError("--leaderboard-names goes with a leaderboard; leave it or --no-leaderboard out.")
        return ""
    if names is None:
        return before or (PSEUDONYMS if leaderboard else "")
    return names if names in {PSEUDONYMS, STUDENTS} else str(Path(names).resolve())


def _read(path: Path, students: Sequence[str]) -> dict[str, str]:
    """Return the names that a CSV file gives to students of the class."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, ValueError, csv.Error) as fault:
        raise UsageError(
            f"The names for the leaderboard cannot be read from {path} ({fault}); give {PSEUDONYMS!r}, {STUDENTS!r}, "
            "or a CSV file of two columns, a student and the name to show."
        ) from None
    known = set(students)
    names = {row[0].strip(): row[1].strip() for row in rows if len(row) > 1 and row[0].strip() in known}
    if not names:
        raise UsageError(f"{path} names nobody of this class in its first column; write students as in the gradebook.")
    return names


def _name(key: str, student: str, tried: int) -> str:
    digest = hmac.new(key.encode(), storable(f"{student}\0{tried}").encode(), hashlib.sha256).digest()
    number = int.from_bytes(digest[:8], "big")
    firsts, seconds = _FIRST.split(), _SECOND.split()
    number, first = divmod(number, len(firsts))
    number, second = divmod(number, len(seconds))
    return f"{firsts[first]} {seconds[second]} {10 + number % 90}"
