"""The leaderboard: lists of measured ratios that the students of the class can read.

Each task has one list for each machine on which it was measured. Only right answers are listed, without points.
Students share a place if the best of them is not clearly better. The names are pseudonyms by default, computed from the
student's name and a random key in the database of grades.
"""

import hashlib
import hmac
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from grader.course.roll import Roll
from grader.errors import UsageError
from grader.files import storable
from grader.records import Cost, Report, Speed, Status, Verdict
from grader.reports import charts, templates
from grader.reports.grade_texts import speed_is_finite
from harness.charts.plots import Axis
from harness.rendering.measured import interval, ratio
from harness.rendering.units import TIMES

NameOf = Callable[[str], str]
"""A function that returns a student's name on the leaderboard."""

PSEUDONYMS: Final = "pseudonyms"

_FIRST: Final = """
amber azure bold brave brisk bronze calm cedar clever copper curious eager early fair fleet gentle golden green happy
hardy ivory jolly keen kind lively lucky merry noble polite proud quick quiet silver snowy steady sunny swift witty
"""
_SECOND: Final = """
acorn alder badger birch bison brook canyon cello cliff cloud comet compass condor crane delta dune eagle elm falcon
fern fox glacier hare heron island juniper kite lagoon lemur lily lynx maple marten meadow newt orchid otter owl
"""

MOST: Final = 100
"""The maximum number of entries in a list of the leaderboard. Further entries are only counted."""
COUNTED: Final = "The cost is not measured with a clock, so other programs on the machine do not change the cost."
"""The sentence on a list whose ratios do not depend on the machine."""


@dataclass(frozen=True, slots=True)
class Board:
    """One list of the leaderboard. Its entries are a place, a name and a measured ratio each, the best first.

    `measured` is a sentence on the machine that measured the ratios. `cost` was compared with the baseline's. `axis` is
    that of the drawn intervals.
    """

    measured: str
    warnings: tuple[str, ...]
    cost: Cost | None
    entries: tuple[tuple[int, str, Speed], ...]
    axis: Axis


def render(roll: Roll, name_of: NameOf) -> str:
    """Return the leaderboard of a class as an HTML page."""
    tasks = boards(roll, name_of)
    first: dict[str, str] = {}
    for task in tasks:
        first.setdefault(task.partition(".")[0], task)
    return templates.render("leaderboard.html", roll=roll, tasks=tasks, first=first, MOST=MOST)


def boards(roll: Roll, name_of: NameOf) -> dict[str, list[Board]]:
    """Return the lists of each task that has any, in the order of the tasks. The longest list of a task is first."""
    lists: dict[str, dict[tuple[str, tuple[str, ...], Cost | None], list[tuple[str, Speed]]]] = {}
    for report in roll.reports:
        name = name_of(report.submission.student)
        for verdict in report.verdicts:
            speed = verdict.attempt.speed
            if speed and verdict.status in {Status.PASSED, Status.UNDECIDED} and speed_is_finite(speed):
                lists.setdefault(verdict.task, {}).setdefault(_comparable(report, verdict), []).append((name, speed))
    tasks: dict[str, list[Board]] = {}
    for task in roll.tasks:
        for how, entries in sorted(lists.get(task.task, {}).items(), key=lambda one: -len(one[1])):
            if any(speed.ratio != 1 for _, speed in entries):
                tasks.setdefault(task.task, []).append(_board(*how, entries))
    return tasks


def places(speeds: Sequence[Speed], cost: Cost | None) -> list[int]:
    """Return the place of each measured ratio. The ratios are sorted, the best first.

    A ratio shares the place of the one before it if both are equal as shown, or if the best ratio of that place is not
    clearly better: the two intervals overlap. Otherwise its place is its position: after two students in 1 comes 3.
    """
    spread = 1 + (cost.spread if cost else 0.0)
    found: list[int] = []
    least = before = math.inf
    for position, speed in enumerate(speeds, start=1):
        shown = _number(ratio(speed.ratio, speed.low, speed.high))
        low, high = map(_number, interval(speed.ratio, speed.low, speed.high))
        shares = found and (high * spread >= least or shown == before)
        if not shares:
            least = low / spread
        found.append(found[-1] if shares else position)
        before = shown
    return found


def _number(text: str) -> float:
    """Return the number that a reader sees, so that places agree with the numbers on the page."""
    return float(text.removesuffix(TIMES).replace(" ", ""))


def _comparable(report: Report, verdict: Verdict) -> tuple[str, tuple[str, ...], Cost | None]:
    if not (verdict.cost and verdict.cost.clock):
        return COUNTED, (), verdict.cost
    environment = report.environment
    warnings = (*report.notes, *(() if report.sandboxed else ("Graded without a sandbox.",)))
    return f"Measured on {environment.describe()} (fingerprint {environment.fingerprint()}).", warnings, verdict.cost


def _board(measured: str, warnings: tuple[str, ...], cost: Cost | None, found: Sequence[tuple[str, Speed]]) -> Board:
    ordered = sorted(found, key=lambda one: -one[1].ratio)
    ranks = places([speed for _, speed in ordered], cost)
    entries = tuple((place, name, speed) for place, (name, speed) in zip(ranks, ordered, strict=True))
    axis = charts.ratio_axis([end for _, speed in found for end in (speed.low, speed.high)])
    return Board(measured, warnings, cost, entries, axis)


def pseudonyms(key: str, students: Sequence[str]) -> dict[str, str]:
    """Return a pseudonym, such as "amber heron 27", for each student. No two students get the same one."""
    given: dict[str, str] = {}  # by pseudonym
    for student in sorted(students):
        given[next(name for tried in count() if (name := _name(key, student, tried)) not in given)] = student
    return {student: name for name, student in given.items()}


def board_names(leaderboard: bool | None, names: str | None, before: str) -> str:
    """Return "pseudonyms" or "students", or "" for no leaderboard.

    `leaderboard` and `names` are options of a command, and `before` is the choice of an earlier run. Raise `UsageError`
    if the options contradict each other.
    """
    if leaderboard is False:
        if names:
            raise UsageError("--leaderboard-names needs a leaderboard. Remove one of the two options.")
        return ""
    return names or before or (PSEUDONYMS if leaderboard else "")


def _name(key: str, student: str, tried: int) -> str:
    digest = hmac.new(key.encode(), storable(f"{student}\0{tried}").encode(), hashlib.sha256).digest()
    firsts, seconds = _FIRST.split(), _SECOND.split()
    number, first = divmod(int.from_bytes(digest[:8], "big"), len(firsts))
    number, second = divmod(number, len(seconds))
    return f"{firsts[first]} {seconds[second]} {10 + number % 90}"
