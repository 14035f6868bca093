"""Who is how fast, for the class to read: lists of ratios, one for each task and for each machine that clocked it.

Only right answers stand here, and no points. A place is as sure as the measurement: where intervals overlap, nobody
can say who is before whom, and each of them has all the places that may be his or hers, such as 3 to 6.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grader.class_run.roll import Roll
from grader.records import CLOCKED, Report, Speed, Status, Verdict
from grader.reports import charts, templates
from grader.reports.pseudonyms import NameOf
from harness import units

MOST: Final = 100
"""Entries that a list shows; the others are counted."""
COUNTED: Final = "Counted, not clocked: the same on every machine."


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: a place (3–6 where four cannot be told apart), a name, the ratio, its interval on a line 100 long."""

    place: str
    name: str
    ratio: str
    interval: str
    left: float
    width: float
    middle: float


@dataclass(frozen=True, slots=True)
class Board:
    """One list. `measured` says where its ratios come from; `more` were left out at its end."""

    task: str
    measured: str
    warnings: tuple[str, ...]
    entries: tuple[Entry, ...]
    more: int


def render(roll: Roll, name_of: NameOf) -> str:
    """Return the page."""
    found = boards(roll, name_of)
    tasks: dict[str, list[Board]] = {}
    for board in found:
        tasks.setdefault(board.task, []).append(board)
    return templates.render("leaderboard.html", roll=roll, tasks=tasks)


def boards(roll: Roll, name_of: NameOf) -> tuple[Board, ...]:
    """Return all lists, by task in the order of the class; of one task, those of the most entries first."""
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
    """Return the best and the last place that each may have, from 1.

    Before it are surely those whose whole interval lies above its own, and after it those whose lies below. Equal
    measurements, as those of equal content, share a place.
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
    """What two ratios must share to stand in one list: where they were clocked, and how."""
    if verdict.cost not in CLOCKED:
        return COUNTED, ()
    environment = report.environment
    warnings = (*report.notes, *(() if report.sandboxed else ("Graded with no sandbox.",)))
    return f"Clocked on {environment.describe()} ({environment.fingerprint()}).", warnings


def _board(task: str, measured: str, warnings: tuple[str, ...], found: Sequence[tuple[str, Speed]]) -> Board:
    ranks = places([speed for _, speed in found])
    ordered = sorted(zip(ranks, found, strict=True), key=lambda one: (-one[1][1].ratio, one[1][0]))
    axis = charts.ratio_axis([end for _, speed in found for end in (speed.low, speed.high)])
    entries = []
    for (best, last), (name, speed) in ordered[:MOST]:
        left, right = (round(100 * axis.share(end), 1) for end in (speed.low, speed.high))
        entries.append(
            Entry(
                place=str(best) if best == last else f"{best}–{last}",
                name=name,
                ratio=units.ratio(speed.ratio),
                interval=_interval(speed),
                left=left,
                width=max(round(right - left, 1), 0.8),
                middle=round(100 * axis.share(speed.ratio), 1),
            )
        )
    return Board(task, measured, warnings, tuple(entries), max(len(found) - MOST, 0))


def _interval(speed: Speed) -> str:
    return f"{units.ratio(speed.low)} to {units.ratio(speed.high)}" if speed.low < speed.high else "exactly"


def _is_a_number(speed: Speed) -> bool:
    return all(0 < value < math.inf for value in (speed.ratio, speed.low, speed.high))
