"""The leaderboard: lists of measured ratios that the students of the class can read.

A ratio is the baseline's cost divided by the submission's cost. Each task has one list for each machine on which it was
measured. Only right answers are listed, without points. If the confidence intervals of two students overlap, it is
unknown which student's answer is faster. Each of the two students then gets a range of places, such as 3 to 6.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grader.course.roll import Roll
from grader.records import Report, Speed, Status, Verdict
from grader.reports import charts, templates
from grader.reports.pseudonyms import NameOf
from harness.charts.axis import Axis
from harness.rendering.measured import interval

MOST: Final = 100
"""The maximum number of entries in a list of the leaderboard. Further entries are only counted."""
COUNTED: Final = "The cost is not measured with a clock, so other programs on the machine do not change the cost."


@dataclass(frozen=True, slots=True)
class Board:
    """One list of the leaderboard. Its entries are a place, a name and a measured ratio each, the best first.

    `measured` is a sentence on the machine that measured the ratios. `axis` is that of the drawn intervals.
    """

    task: str
    measured: str
    warnings: tuple[str, ...]
    entries: tuple[tuple[str, str, Speed], ...]
    axis: Axis


def render(roll: Roll, name_of: NameOf) -> str:
    """Return the leaderboard of a class as an HTML page."""
    found = boards(roll, name_of)
    tasks: dict[str, list[Board]] = {}
    for board in found:
        tasks.setdefault(board.task, []).append(board)
    return templates.render("leaderboard.html", roll=roll, tasks=tasks, MOST=MOST, interval_text=interval_text)


def boards(roll: Roll, name_of: NameOf) -> tuple[Board, ...]:
    """Return all lists of the leaderboard, in the order of the tasks. The longest list of each task is first."""
    lists: dict[str, dict[tuple[str, tuple[str, ...]], list[tuple[str, Speed]]]] = {}
    for report in roll.reports:
        name = name_of(report.submission.student)
        for verdict in report.verdicts:
            speed = verdict.attempt.speed
            if name and speed and verdict.status in {Status.PASSED, Status.UNDECIDED} and _is_a_number(speed):
                lists.setdefault(verdict.task, {}).setdefault(_comparable(report, verdict), []).append((name, speed))
    return tuple(
        _board(task.task, measured, warnings, entries)
        for task in roll.tasks
        for (measured, warnings), entries in sorted(lists.get(task.task, {}).items(), key=lambda one: -len(one[1]))
        if any(speed.ratio != 1 for _, speed in entries)
    )


def places(speeds: Sequence[Speed]) -> list[tuple[int, int]]:
    """Return the best and the worst possible place of each measured ratio. Place 1 is the best.

    A ratio is certainly better than another if its whole confidence interval lies above the other interval. Equal
    measurements, such as those of identical files, share a place.
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
    """Return a sentence on how a ratio was measured, and the warnings on its measurement.

    Ratios with the same sentence and the same warnings are in one list, because they can be compared.
    """
    if not (verdict.cost and verdict.cost.clocked):
        return COUNTED, ()
    environment = report.environment
    warnings = (*report.notes, *(() if report.sandboxed else ("Graded without a sandbox.",)))
    return f"Measured on {environment.describe()} (fingerprint {environment.fingerprint()}).", warnings


def _board(task: str, measured: str, warnings: tuple[str, ...], found: Sequence[tuple[str, Speed]]) -> Board:
    ranks = places([speed for _, speed in found])
    ordered = sorted(zip(ranks, found, strict=True), key=lambda one: (-one[1][1].ratio, one[1][0]))
    entries = (
        (str(best) if best == last else f"{best}–{last}", name, speed) for (best, last), (name, speed) in ordered
    )
    axis = charts.ratio_axis([end for _, speed in found for end in (speed.low, speed.high)])
    return Board(task, measured, warnings, tuple(entries), axis)


def interval_text(board: Board, speed: Speed) -> str:
    """Return the interval of a ratio on a list of the leaderboard as text."""
    if board.measured == COUNTED:
        return "exact count"
    return " to ".join(interval(speed.ratio, speed.low, speed.high))


def _is_a_number(speed: Speed) -> bool:
    return all(0 < value < math.inf for value in (speed.ratio, speed.low, speed.high))
