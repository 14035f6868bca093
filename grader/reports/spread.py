"""Roll → how points and ratios are spread over the class, task by task, and on which cases answers fail."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.class_run.roll import Roll
from grader.records import CLOCKED, Status, Verdict
from grader.reports import charts, words
from grader.reports.charts import Axis, Chart, Mark
from grader.reports.guide import Guide
from grader.trials import failing
from harness import units

BINS: Final = 20
HARDEST: Final = 15
"""Cases that are listed at most."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task over the class: how many were right, what they earned, how fast they were."""

    task: str
    graded: int
    right: str
    points: str
    ratio: str
    ends: str
    points_chart: Chart | None
    ratio_chart: Chart | None


@dataclass(frozen=True, slots=True)
class HardCase:
    """A case on which answers fail: of how many students it is the smallest one, and how they ended there.

    `share` is of all whose answer to the task was judged; `why` the most frequent explanation, where one is known.
    """

    task: str
    case: str
    students: int
    share: str
    ends: str
    why: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of the spread of points, for the table beside its chart."""

    label: str
    students: int


def by_task(roll: Roll) -> dict[str, list[Verdict]]:
    """Return all verdicts on hand-ins that could be taken, by task."""
    found: dict[str, list[Verdict]] = {task.task: [] for task in roll.tasks}
    for report in roll.reports:
        if not report.submission.refused:
            for verdict in report.verdicts:
                found.setdefault(verdict.task, []).append(verdict)
    return found


def tasks(roll: Roll, guides: Mapping[str, Guide]) -> tuple[TaskView, ...]:
    """Return each task of the class, in order; `guides` may know its tiers."""
    verdicts = by_task(roll)
    return tuple(
        _task(task.task, task.points, verdicts[task.task], guides[task.task].marks() if task.task in guides else ())
        for task in roll.tasks
    )


def totals(points: Sequence[float], possible: float) -> tuple[Chart, tuple[Bar, ...]] | None:
    """Return the spread of all points, in tenths, as a chart and as a table; None where there is nothing to show.

    Full marks belong to the last tenth.
    """
    if not points or possible <= 0:
        return None
    axis = Axis(0.0, possible)
    parts = charts.counted(points, axis, 10)
    edges = [words.points(axis.edge(tenth / 10)) for tenth in range(11)]
    label = f"Students by the points they have of {words.points(possible)}"
    middle = Mark(statistics.median(points), f"median {words.points(statistics.median(points))}")
    chart = charts.histogram(points, axis, label=label, bins=10, unit=words.points, marks=[middle])
    table = (Bar(f"{low} to {high}", n) for low, high, n in zip(edges, edges[1:], parts, strict=False))
    return chart, tuple(table)


def hardest(roll: Roll, most: int = HARDEST) -> tuple[HardCase, ...]:
    """Return the cases that the most students fail on, as each of them was told."""
    found: list[HardCase] = []
    for task, verdicts in by_task(roll).items():
        judged = [verdict for verdict in verdicts if verdict.status is not Status.GRADER_ERROR]
        cases: dict[str, list[Verdict]] = {}
        for verdict in judged:
            if name := failing.case(verdict.attempt):
                cases.setdefault(name, []).append(verdict)
        found += [_hard(task, case, here, len(judged)) for case, here in cases.items()]
    return tuple(sorted(found, key=lambda one: (-one.students, one.task, one.case))[:most])


def _hard(task: str, case: str, verdicts: Sequence[Verdict], judged: int) -> HardCase:
    told = Counter(v.attempt.help for v in verdicts if v.status is Status.WRONG and v.attempt.help)
    return HardCase(
        task=task,
        case=case,
        students=len(verdicts),
        share=units.percent(len(verdicts) / judged),
        ends=_ends(verdicts),
        why=told.most_common(1)[0][0] if told else "",
    )


def _task(task: str, points: float, verdicts: Sequence[Verdict], tiers: Sequence[Mark]) -> TaskView:
    judged = [verdict for verdict in verdicts if verdict.status is not Status.GRADER_ERROR]
    right = sum(verdict.status in {Status.PASSED, Status.UNDECIDED} for verdict in judged)
    ratios = [v.attempt.speed.ratio for v in judged if v.attempt.speed and math.isfinite(v.attempt.speed.ratio)]
    earned = [verdict.points for verdict in judged]
    chart = _ratio_chart(task, ratios, tiers, clocked=any(v.cost in CLOCKED for v in judged))
    return TaskView(
        task=task,
        graded=len(judged),
        right=units.percent(right / len(judged)) if judged else units.UNKNOWN,
        points=f"{words.points(statistics.median(earned)) if earned else 0} of {words.points(points)}",
        ratio=units.ratio(statistics.median(ratios)) if chart else units.UNKNOWN,
        ends=_ends(verdicts) or "none graded",
        points_chart=_points_chart(task, points, earned),
        ratio_chart=chart,
    )


def _points_chart(task: str, points: float, earned: Sequence[float]) -> Chart | None:
    if not earned or points <= 0:
        return None
    return charts.histogram(earned, Axis(0.0, points), label=f"Points on {task}", unit=words.points)


def _ratio_chart(task: str, ratios: Sequence[float], tiers: Sequence[Mark], *, clocked: bool) -> Chart | None:
    """Ratios on a log axis; None where they say nothing, as where no cost counts."""
    if not ratios or (not tiers and set(ratios) == {1.0}):
        return None
    axis = charts.ratio_axis(charts.bulk(ratios), [tier.value for tier in tiers])
    what = "clocked" if clocked else "counted"
    return charts.histogram(
        ratios, axis, label=f"Ratios to the baseline on {task}, {what}", unit=units.ratio, marks=tiers
    )


def _ends(verdicts: Sequence[Verdict]) -> str:
    ends = Counter(words.ended(verdict) for verdict in verdicts)
    return ", ".join(f"{units.count(number)} {end}" for end, number in ends.most_common())
