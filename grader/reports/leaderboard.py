"""The leaderboard: lists of measured ratios that the students of the class can read.

Each task has one list for each machine on which it was measured. Only right answers are listed, without points. If the
confidence intervals of two students overlap, each of them gets a range of places, such as 3 to 6. The names are
pseudonyms by default, computed from the student's name and a random key in the database of grades.
"""

import csv
import hashlib
import hmac
import io
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from grader.course.roll import Roll
from grader.errors import UsageError
from grader.files import read_text_file, storable
from grader.records import Report, Speed, Status, Verdict
from grader.reports import charts, templates
from grader.reports.csv_file import csv_cell
from grader.reports.grade_texts import speed_is_finite
from harness.charts.plots import Axis
from harness.rendering.measured import interval

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

MOST: Final = 100
"""The maximum number of entries in a list of the leaderboard. Further entries are only counted."""
COUNTED: Final = "The cost is not measured with a clock, so other programs on the machine do not change the cost."
MAX_BYTES: Final = 5_000_000  # of the file with names


@dataclass(frozen=True, slots=True)
class Board:
    """One list of the leaderboard. Its entries are a place, a name and a measured ratio each, the best first.

    `measured` is a sentence on the machine that measured the ratios. `axis` is that of the drawn intervals.
    """

    measured: str
    warnings: tuple[str, ...]
    entries: tuple[tuple[str, str, Speed], ...]
    axis: Axis


def render(roll: Roll, name_of: NameOf) -> str:
    """Return the leaderboard of a class as an HTML page."""
    tasks = boards(roll, name_of)
    return templates.render("leaderboard.html", roll=roll, tasks=tasks, MOST=MOST, interval_text=interval_text)


def boards(roll: Roll, name_of: NameOf) -> dict[str, list[Board]]:
    """Return the lists of each task that has any, in the order of the tasks. The longest list of a task is first."""
    lists: dict[str, dict[tuple[str, tuple[str, ...]], list[tuple[str, Speed]]]] = {}
    for report in roll.reports:
        name = name_of(report.submission.student)
        for verdict in report.verdicts:
            speed = verdict.attempt.speed
            if name and speed and verdict.status in {Status.PASSED, Status.UNDECIDED} and speed_is_finite(speed):
                lists.setdefault(verdict.task, {}).setdefault(_comparable(report, verdict), []).append((name, speed))
    tasks: dict[str, list[Board]] = {}
    for task in roll.tasks:
        for how, entries in sorted(lists.get(task.task, {}).items(), key=lambda one: -len(one[1])):
            if any(speed.ratio != 1 for _, speed in entries):
                tasks.setdefault(task.task, []).append(_board(*how, entries))
    return tasks


def places(speeds: Sequence[Speed]) -> list[tuple[int, int]]:
    """Return the best and the worst possible place of each measured ratio. Place 1 is the best.

    A ratio is better than another if its whole interval lies above the other. Equal measurements share a place.
    """
    lows, highs = sorted(speed.low for speed in speeds), sorted(speed.high for speed in speeds)
    equals = Counter((speed.low, speed.ratio, speed.high) for speed in speeds)
    n = len(speeds)
    return [
        (
            1 + n - bisect_right(lows, speed.high),
            1 + n - bisect_left(highs, speed.low) - equals[speed.low, speed.ratio, speed.high],
        )
        for speed in speeds
    ]


def _comparable(report: Report, verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """Return a sentence on how a ratio was measured, and warnings. Ratios with equal ones are in one list."""
    if not (verdict.cost and verdict.cost.clock):
        return COUNTED, ()
    environment = report.environment
    warnings = (*report.notes, *(() if report.sandboxed else ("Graded without a sandbox.",)))
    return f"Measured on {environment.describe()} (fingerprint {environment.fingerprint()}).", warnings


def _board(measured: str, warnings: tuple[str, ...], found: Sequence[tuple[str, Speed]]) -> Board:
    ranks = places([speed for _, speed in found])
    ordered = sorted(zip(ranks, found, strict=True), key=lambda one: (-one[1][1].ratio, one[1][0]))
    entries = (
        (str(best) if best == last else f"{best}–{last}", name, speed) for (best, last), (name, speed) in ordered
    )
    axis = charts.ratio_axis([end for _, speed in found for end in (speed.low, speed.high)])
    return Board(measured, warnings, tuple(entries), axis)


def interval_text(board: Board, speed: Speed) -> str:
    """Return the interval of a ratio on a list of the leaderboard as text."""
    if board.measured == COUNTED:
        return "exact count"
    return " to ".join(interval(speed.ratio, speed.low, speed.high))


def pseudonyms(key: str, students: Sequence[str]) -> dict[str, str]:
    """Return a pseudonym, such as "amber heron 27", for each student. No two students get the same one."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        given[student] = next(name for tried in count() if (name := _name(key, student, tried)) not in taken)
        taken.add(given[student])
    return given


def names_for(how: str, key: str, students: Sequence[str]) -> NameOf:
    """Return a function that gives a student's name on the leaderboard.

    `how` is "pseudonyms", "" (the same), "students", or the path of a CSV file with two columns: the student and the
    name to show. An empty name leaves a student out. A student who is not in the file gets a pseudonym, computed with
    `key`. Raise `UsageError` if the file cannot be read or names no student of the class, or if a name is not unique.
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


def board_names(leaderboard: bool | None, names: str | None, before: str) -> str:
    """Return "pseudonyms", "students" or the path of a CSV file for a leaderboard, or "" for no leaderboard.

    `leaderboard` and `names` are options of a command, and `before` is the choice of an earlier run. A path is made
    absolute, because later commands read the file from other folders. Raise `UsageError` if the options contradict each
    other.
    """
    if leaderboard is False:
        if names:
            raise UsageError("--leaderboard-names needs a leaderboard. Remove one of the two options.")
        return ""
    if names is None:
        return before or (PSEUDONYMS if leaderboard else "")
    return names if names in {PSEUDONYMS, STUDENTS} else str(Path(names).resolve())


def _read(path: Path, students: Sequence[str]) -> dict[str, str]:
    text = read_text_file(path, MAX_BYTES, "The file with the names for the leaderboard")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as fault:
        raise UsageError(f"{path} is not a CSV file ({fault}). Write two columns: the student and the name.") from None
    known = {csv_cell(student).strip(): student for student in students} | {student: student for student in students}
    names = {known[row[0].strip()]: row[1].strip() for row in rows if len(row) > 1 and row[0].strip() in known}
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
