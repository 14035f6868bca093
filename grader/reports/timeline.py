"""The times and the speed of grading a class, and the noise of the machine that graded it."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from grader.course.roll import Roll, Span
from grader.records import Control
from grader.reports import charts
from grader.reports.charts import Chart
from harness.charts.pictures import Mark
from harness.charts.plots import Axis
from harness.rendering import units

PAUSE: Final = timedelta(minutes=15)
"""A pause without grading that is longer than this ends a session."""
SESSIONS: Final = 6
"""The maximum number of grading sessions on the class page. Only the last sessions are shown."""
INTERVALS: Final = 48
"""The number of equal intervals on the time axis of a chart."""


@dataclass(frozen=True, slots=True)
class GradingSession:
    """A period of grading without a pause longer than `PAUSE`. Times are in UTC."""

    began: str
    ended: str
    lasted: str
    hand_ins: int
    pace: str
    together: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class ControlNoise:
    """The noise of the machine, measured by comparing a baseline with itself. `found` has sentences on the results."""

    found: tuple[str, ...]
    spread: Chart
    over_time: Chart | None


def sessions(spans: Sequence[Span]) -> tuple[tuple[GradingSession, ...], int]:
    """Return the last `SESSIONS` grading sessions of a class in order of time, and the number of earlier sessions."""
    parts: list[list[Span]] = []
    until: datetime | None = None
    for span in sorted(spans, key=lambda one: (one.started, one.finished)):
        if until is None or span.started - until > PAUSE:
            parts.append([])
            until = span.finished
        parts[-1].append(span)
        until = max(until, span.finished)
    return tuple(_session(part) for part in parts[-SESSIONS:]), max(len(parts) - SESSIONS, 0)


def noise(roll: Roll) -> ControlNoise | None:
    """Return the noise of the machine that graded the class, or None if nothing was timed."""
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
    reach = max(*(max(value, 1 / value) for value in (*same, 1 + planted)), 1.01) ** 1.1
    axis = Axis(1 / reach, reach, charts.LEFT, charts.RIGHT, log=True)  # 1 is in its middle
    marks = [Mark(1.0, units.ratio(1.0)), Mark(1 + planted, f"slowed: {units.ratio(1 + planted)}", "tier")]
    label = "Measured ratio of the baseline to itself"
    spread = charts.histogram(same, axis, label=label, bins=32, unit=_fine, marks=marks)
    return ControlNoise(tuple(_found(controls)), spread, _over_time(timed, axis) if len(timed) > 1 else None)


def _session(spans: Sequence[Span]) -> GradingSession:
    began, ended = min(span.started for span in spans), max(span.finished for span in spans)
    wall_s = max((ended - began).total_seconds(), 1e-3)
    done = Axis(0.0, wall_s).counts([(span.finished - began).total_seconds() for span in spans], INTERVALS)
    lasted, pace = units.seconds(round(wall_s)) if wall_s >= 1 else "under 1 s", units.number(len(spans) / wall_s * 60)
    label = (
        f"Files graded over time, {_clock(began)} to {_clock(ended)} UTC: {units.count(len(spans))} in {lasted}, "
        f"at most {units.count(max(done))} in {units.seconds(wall_s / INTERVALS)}."
    )
    return GradingSession(
        began=f"{began:%Y-%m-%d} {_clock(began)}",
        ended=_clock(ended) if began.date() == ended.date() else f"{ended:%Y-%m-%d} {_clock(ended)}",
        lasted=lasted,
        hand_ins=len(spans),
        pace=pace,
        together=units.number(sum(span.duration_s for span in spans) / wall_s, 2),
        chart=charts.columns(done, label=label, begin=_clock(began), end=_clock(ended)),
    )


def _found(controls: Sequence[Control]) -> list[str]:
    """Return sentences on the noise of the machine, from comparisons of a baseline with itself."""
    n, voided = len(controls), sum(control.voided for control in controls)
    same = [control.same for control in controls]
    slowed = statistics.median(control.slowed for control in controls)
    planted = units.ratio(1 + statistics.median(control.planted for control in controls))
    off = sorted(abs(value - 1) for value in same)
    most, worst = units.percent(off[-1 - n // 20]), units.percent(off[-1])
    medians = (
        f"In the controls of {_duels(n)}, the baseline was compared with itself: the median ratio is "
        f"{_fine(statistics.median(same))} (expected 1×). The baseline was also compared with a slowed copy of itself: "
        "the median ratio is "
        f"{_fine(slowed)} (expected {planted})."
    )
    sentences = [medians]
    if n >= 20:
        sentences.append(
            f"In 95 % of the controls, the ratio of the baseline to itself differs from 1× by at most {most}."
        )
    sentences.append(f"The largest difference of such a ratio from 1× is {worst}.")
    if voided:
        share = units.percent(voided / (n + voided))
        again = f"{_duels(voided)} ({share} of all) {'was' if voided == 1 else 'were'} repeated"
        sentences.append(f"{again} because the control failed.")
    else:
        sentences.append("No duel was repeated: every control passed the first time.")
    return sentences


def _duels(number: int) -> str:
    return f"{units.count(number)} duel{'' if number == 1 else 's'}"


def _over_time(timed: Sequence[tuple[datetime, float]], axis: Axis) -> Chart:
    """Return a chart of measurements in order of time. All have the same width, so pauses are not visible."""
    ordered = [value for _, value in sorted(timed)]
    parts = min(INTERVALS, len(ordered))
    edges = [round(number * len(ordered) / parts) for number in range(parts + 1)]
    spans = [(min(part), statistics.median(part), max(part)) for part in (ordered[a:b] for a, b in pairwise(edges))]
    first, last = min(timed)[0], max(timed)[0]
    label = (
        f"Measured ratio of the baseline to itself, from the first duel to the last. The medians lie between "
        f"{_fine(min(middle for _, middle, _ in spans))} and {_fine(max(middle for _, middle, _ in spans))}."
    )
    return charts.time_line(
        spans, axis, label=label, begin=f"first duel, {_clock(first)}", end=f"last duel, {_clock(last)}", unit=_fine
    )


def _fine(value: float) -> str:
    return units.ratio(value, 4)


def _clock(when: datetime) -> str:
    return f"{when:%H:%M}"
