"""Statistics of a class: points and ratios per task, and the test cases on which the most answers fail."""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.course.roll import Roll
from grader.records import UNGRADED, Speed, Status, Verdict
from grader.reports import charts, grade_texts
from grader.reports.charts import Chart
from grader.task import Task
from grader.trials.faults import failing_case
from grader.trials.score import RIGHT, UNBELIEVED
from harness.charts.pictures import Mark
from harness.rendering import measured, units

BINS: Final = 20
HARDEST: Final = 15
"""The maximum number of test cases in the list of the hardest ones."""


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """The results of all students in one task: the share of right answers, the median points and the median ratio."""

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
    """A test case that many submissions answer wrongly. `students` is the number of these submissions.

    `share` is that number divided by the number of all submissions judged in the task. `why` is the most frequent
    explanation, or "".
    """

    task: str
    case: str
    students: int
    share: str
    ends: str
    why: str


def by_task(roll: Roll) -> dict[str, list[Verdict]]:
    """Return the results of all students by task. Refused submissions are left out."""
    found: dict[str, list[Verdict]] = {task.task: [] for task in roll.tasks}
    for report in roll.reports:
        if not report.submission.refused:
            for verdict in report.verdicts:
                found.setdefault(verdict.task, []).append(verdict)
    return found


def tasks(roll: Roll, infos: Mapping[str, Task]) -> tuple[TaskStatistics, ...]:
    """Return the statistics of each task of the class.

    `infos` are the tasks whose grade thresholds are known.
    """
    verdicts = by_task(roll)
    return tuple(
        _task(task.task, task.points, verdicts[task.task], charts.tier_marks(infos.get(task.task)))
        for task in roll.tasks
    )


def totals(points: Sequence[float], possible: float) -> tuple[Chart, list[tuple[str, int]]] | None:
    """Return a histogram of the students' total points in ten bins, as a chart and as a table.

    Return None if there are no points. Students with full points are in the last bin.
    """
    if not points or possible <= 0:
        return None
    axis = charts.linear_axis(0.0, possible)
    parts = axis.counts(points, 10)
    edges = [grade_texts.points(axis.value(tenth / 10)) for tenth in range(11)]
    label = f"Number of students by total points, out of {grade_texts.points(possible)}"
    middle = Mark(statistics.median(points), f"median {grade_texts.points(statistics.median(points))}")
    chart = charts.histogram(points, axis, label=label, bins=10, unit=grade_texts.points, marks=[middle])
    return chart, [(f"{low} to {high}", n) for low, high, n in zip(edges, edges[1:], parts, strict=False)]


def hardest(roll: Roll, most: int = HARDEST) -> tuple[HardCase, ...]:
    """Return the `most` test cases that the most submissions answer wrongly."""
    found: list[HardCase] = []
    for task, verdicts in by_task(roll).items():
        judged = [verdict for verdict in verdicts if verdict.status not in UNGRADED]
        cases: dict[str, list[Verdict]] = {}
        for verdict in judged:
            if name := failing_case(verdict.attempt):
                cases.setdefault(name, []).append(verdict)
        found += [_hard(task, case, here, len(judged)) for case, here in cases.items()]
    return tuple(sorted(found, key=lambda one: (-one.students, one.task, one.case))[:most])


def _hard(task: str, case: str, verdicts: Sequence[Verdict], judged: int) -> HardCase:
    explanations = Counter(v.attempt.help for v in verdicts if v.status is Status.WRONG and v.attempt.help)
    return HardCase(
        task=task,
        case=case,
        students=len(verdicts),
        share=units.percent(len(verdicts) / judged),
        ends=_ends(verdicts),
        why=explanations.most_common(1)[0][0] if explanations else "",
    )


def _task(task: str, points: float, verdicts: Sequence[Verdict], tiers: Sequence[Mark]) -> TaskStatistics:
    judged = [verdict for verdict in verdicts if verdict.status not in UNGRADED]
    right = sum(verdict.status in RIGHT for verdict in judged)
    possible = (v.attempt.speed for v in judged if v.status not in UNBELIEVED)
    speeds = [speed for speed in possible if speed and math.isfinite(speed.ratio)]
    ratios = [speed.ratio for speed in speeds]
    earned = [verdict.points for verdict in judged]
    ways = {"measured with a clock" if verdict.cost.clock else "counted" for verdict in judged if verdict.cost}
    chart = _ratio_chart(task, ratios, tiers, " or ".join(sorted(ways)))
    return TaskStatistics(
        task=task,
        graded=len(judged),
        right=units.percent(right / len(judged)) if judged else units.UNKNOWN,
        points=f"{grade_texts.points(statistics.median(earned)) if earned else 0} of {grade_texts.points(points)}",
        ratio=_median_ratio(speeds) if chart else units.UNKNOWN,
        ends=_ends(verdicts) or "none graded",
        points_chart=_points_chart(task, points, earned),
        ratio_chart=chart,
    )


def _median_ratio(speeds: Sequence[Speed]) -> str:
    """Return the median ratio as text, with as many digits as the confidence intervals justify."""
    return measured.ratio(
        *(statistics.median(getattr(one, name) for one in speeds) for name in ("ratio", "low", "high"))
    )


def _points_chart(task: str, points: float, earned: Sequence[float]) -> Chart | None:
    if not earned or points <= 0:
        return None
    return charts.histogram(
        earned,
        charts.linear_axis(0.0, points),
        label=f"Number of students by points on {task}",
        unit=grade_texts.points,
    )


def _ratio_chart(task: str, ratios: Sequence[float], tiers: Sequence[Mark], how: str) -> Chart | None:
    """Return a histogram of the ratios on a logarithmic axis, or None for a task in which the cost earns no points."""
    if not ratios or (not tiers and set(ratios) == {1.0}):
        return None
    axis = charts.ratio_axis(charts.central_range(ratios), [tier.value for tier in tiers])
    return charts.histogram(
        ratios,
        axis,
        label=f"Cost of the baseline divided by the cost of the submission on {task}, {how}",
        unit=units.ratio,
        marks=tiers,
    )


def _ends(verdicts: Sequence[Verdict]) -> str:
    ends = Counter(grade_texts.ended(verdict) for verdict in verdicts)
    return ", ".join(f"{units.count(number)} {end}" for end, number in ends.most_common())
