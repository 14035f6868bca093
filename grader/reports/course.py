"""Roll → how the grading went: its sittings over time, and how restless the machine was meanwhile."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from grader.class_run.roll import Roll, Span
from grader.records import Control
from grader.reports import charts
from grader.reports.charts import Axis, Chart, Mark
from harness import units

PAUSE: Final = timedelta(minutes=15)
"""Time in which nothing was graded after which a new sitting begins."""
SITTINGS: Final = 6
"""Sittings that are drawn, the last ones."""
STRETCHES: Final = 48
"""Equal parts into which a time line is divided."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """One stretch of grading without a long pause, times in UTC."""

    began: str
    ended: str
    lasted: str
    hand_ins: int
    pace: str
    together: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class Noise:
    """What the controls of all duels say of the machine. `found` is in sentences."""

    found: tuple[str, ...]
    spread: Chart
    over_time: Chart | None


def sittings(spans: Sequence[Span]) -> tuple[tuple[Sitting, ...], int]:
    """Return the last `SITTINGS` of a class, in order of time, and how many there were before them."""
    parts: list[list[Span]] = []
    until: datetime | None = None
    for span in sorted(spans, key=lambda one: (one.started, one.finished)):
        if until is None or span.started - until > PAUSE:
            parts.append([])
            until = span.finished
        parts[-1].append(span)
        until = max(until, span.finished)
    return tuple(_sitting(part) for part in parts[-SITTINGS:]), max(len(parts) - SITTINGS, 0)


def noise(roll: Roll) -> Noise | None:
    """Return what the controls say; None where no duel was fought."""
    played = [
        (span.finished if span else None, verdict.attempt.control)
        for report, span in roll.gradings()
        for verdict in report.verdicts
        if verdict.attempt.control
    ]
    if not played:
        return None
    controls = [control for _, control in played]
    same = [control.same for control in controls]
    timed = [(at, control.same) for at, control in played if at is not None]
    planted = statistics.median(control.planted for control in controls)
    axis = _axis([*same, 1 + planted])
    marks = [Mark(1.0, units.ratio(1.0)), Mark(1 + planted, f"planted {units.ratio(1 + planted)}", "tier")]
    label = "What a second baseline cost over the first"
    spread = charts.histogram(same, axis, label=label, bins=32, unit=_fine, marks=marks)
    return Noise(tuple(_found(controls)), spread, _over_time(timed, axis) if len(timed) > 1 else None)


def _sitting(spans: Sequence[Span]) -> Sitting:
    began, ended = min(span.started for span in spans), max(span.finished for span in spans)
    wall_s = max((ended - began).total_seconds(), 1e-3)
    done = charts.counted([(span.finished - began).total_seconds() for span in spans], Axis(0.0, wall_s), STRETCHES)
    lasted, pace = units.seconds(round(wall_s)) if wall_s >= 1 else "under 1 s", units.number(len(spans) / wall_s * 60)
    label = (
        f"Hand-ins graded over time, {_clock(began)} to {_clock(ended)} UTC: {units.count(len(spans))} in {lasted}, "
        f"at most {units.count(max(done))} in {units.seconds(wall_s / STRETCHES)}."
    )
    return Sitting(
        began=f"{began:%Y-%m-%d} {_clock(began)}",
        ended=_clock(ended) if began.date() == ended.date() else f"{ended:%Y-%m-%d} {_clock(ended)}",
        lasted=lasted,
        hand_ins=len(spans),
        pace=pace,
        together=units.number(sum(span.duration_s for span in spans) / wall_s, 2),
        chart=charts.columns(done, label=label, begin=_clock(began), end=_clock(ended)),
    )


def _found(controls: Sequence[Control]) -> list[str]:
    """The controls in sentences."""
    n, voided = len(controls), sum(control.voided for control in controls)
    same = [control.same for control in controls]
    slowed = statistics.median(control.slowed for control in controls)
    planted = units.ratio(1 + statistics.median(control.planted for control in controls))
    off = sorted(abs(value - 1) for value in same)
    most, worst = units.percent(off[-1 - n // 20]), units.percent(off[-1])
    medians = f"1× was measured as {_fine(statistics.median(same))}, {planted} as {_fine(slowed)}"
    said = [f"Controls of {_duels(n)}: {medians} (medians)."]
    if n >= 20:
        said.append(f"Nineteen of twenty measured 1× within {most}; the worst was off by {worst}.")
    else:
        said.append(f"The worst measured 1× with an error of {worst}.")
    if voided:
        share = units.percent(voided / (n + voided))
        again = f"{_duels(voided)} {'was' if voided == 1 else 'were'} void and fought again"
        said.append(f"{again}, {share} of all: their controls did not hold.")
    else:
        said.append("No duel was void: every control held at the first try.")
    return said


def _duels(number: int) -> str:
    return f"{units.count(number)} duel{'' if number == 1 else 's'}"


def _over_time(timed: Sequence[tuple[datetime, float]], axis: Axis) -> Chart:
    """The control of 1× over the hand-ins in order of time: a pause takes no room."""
    ordered = [value for _, value in sorted(timed)]
    parts = min(STRETCHES, len(ordered))
    edges = [round(number * len(ordered) / parts) for number in range(parts + 1)]
    spans = [(min(part), statistics.median(part), max(part)) for part in (ordered[a:b] for a, b in pairwise(edges))]
    first, last = min(timed)[0], max(timed)[0]
    label = (
        f"What 1× was measured as over the run, from the first duel to the last: medians of stretches lie between "
        f"{_fine(min(middle for _, middle, _ in spans))} and {_fine(max(middle for _, middle, _ in spans))}."
    )
    return charts.course(
        spans, axis, label=label, begin=f"first duel, {_clock(first)}", end=f"last, {_clock(last)}", unit=_fine
    )


def _axis(values: Sequence[float]) -> Axis:
    """A log axis around 1, as far to either side."""
    reach = max(*(max(value, 1 / value) for value in values), 1.01) ** 1.1
    return Axis(1 / reach, reach, log=True)


def _fine(value: float) -> str:
    return units.ratio(value, 4)


def _clock(when: datetime) -> str:
    return f"{when:%H:%M}"
