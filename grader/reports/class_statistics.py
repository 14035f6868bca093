"""Statistics of a class: points and ratios per task, common mistakes, and how exactly the machine measures."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.roll import Roll
from grader.records import UNGRADED, Control, Speed, Status, Verdict
from grader.reports import charts, grade_texts
from grader.reports.charts import Chart
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN, failing_case
from grader.trials.score import RIGHT, UNBELIEVED
from harness.charts.pictures import Mark
from harness.charts.plots import Axis
from harness.rendering import measured, units


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """The results of all students in one task: the share of right answers, the median points and the median ratio."""

    task: str
    graded: int
    share: float
    points: str
    ratio: str
    ends: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake that `students` students made in a task. `share` is their share of all judged submissions.

    `what` explains the mistake or names the error. `case` is the test case that fails most often with it, or "".
    """

    task: str
    what: str
    case: str
    students: int
    share: str


def by_task(roll: Roll) -> dict[str, list[Verdict]]:
    """Return the results of all students by task. Refused submissions are left out."""
    found: dict[str, list[Verdict]] = {task.task: [] for task in roll.tasks}
    for report in roll.reports:
        if not report.submission.refused:
            for verdict in report.verdicts:
                found.setdefault(verdict.task, []).append(verdict)
    return found


def not_started(roll: Roll) -> dict[str, list[str]]:
    """Return the students, by lesson, who handed in an exercise in which no function is written."""
    found: dict[str, list[str]] = {lesson: [] for lesson in roll.lessons}
    done = {(one.submission.student, one.submission.lesson) for one in roll.reports}
    for one in roll.left_out:
        if one.is_unchanged and one.lesson in found and (one.student, one.lesson) not in done:
            found[one.lesson].append(one.student)
    for group in roll.same_content:
        if group.untouched:
            found[group.lesson] += group.students
    return {lesson: sorted({*students}) for lesson, students in found.items() if students}


def tasks(roll: Roll, infos: Mapping[str, Task]) -> tuple[TaskStatistics, ...]:
    """Return the statistics of each task of the class. `infos` are the tasks whose grade thresholds are known."""
    verdicts = by_task(roll)
    return tuple(_task(one.task, one.points, verdicts[one.task], infos.get(one.task)) for one in roll.tasks)


def totals(points: Sequence[float], possible: float) -> Chart | None:
    """Return a histogram of the students' total points, or None if there are no points."""
    if not points or possible <= 0:
        return None
    axis = Axis(0.0, possible, charts.LEFT, charts.RIGHT)
    label = f"Number of students by total points, out of {grade_texts.points(possible)}"
    middle = Mark(statistics.median(points), f"median {grade_texts.points(statistics.median(points))}")
    return charts.histogram(points, axis, label=label, bins=10, unit=grade_texts.points, marks=[middle])


def weakest(tasks_: Sequence[TaskStatistics], most: int = 10) -> list[TaskStatistics]:
    """Return the `most` graded tasks with the smallest share of right answers, the smallest first."""
    return sorted((one for one in tasks_ if one.graded), key=lambda one: one.share)[:most]


def mistakes(roll: Roll, most: int = 15) -> tuple[Mistake, ...]:
    """Return the `most` mistakes that the most students made. An answer that is not written yet is no mistake."""
    found: list[Mistake] = []
    for task, verdicts in by_task(roll).items():
        judged = [verdict for verdict in verdicts if verdict.status not in UNGRADED]
        alike: dict[tuple[str, str], list[str]] = {}
        for verdict in judged:
            if verdict.status not in RIGHT and verdict.attempt.help != NOT_WRITTEN:
                case, what = failing_case(verdict.attempt), _mistake(verdict)
                alike.setdefault((what, "" if what else case), []).append(case)
        for (what, case), cases in alike.items():
            usual = Counter(filter(None, cases)).most_common(1)
            share = units.percent(len(cases) / len(judged))
            found.append(Mistake(task, what, case or (usual[0][0] if usual else ""), len(cases), share))
    return tuple(sorted(found, key=lambda one: (-one.students, one.task, one.case))[:most])


def _mistake(verdict: Verdict) -> str:
    if verdict.status is Status.WRONG:
        return verdict.attempt.help
    if raised := re.search(r" raised (\w+):", verdict.attempt.rationale):
        return f"raised {raised[1]}"
    return grade_texts.ended(verdict)


def _task(task: str, points: float, verdicts: Sequence[Verdict], info: Task | None) -> TaskStatistics:
    judged = [verdict for verdict in verdicts if verdict.status not in UNGRADED]
    right = sum(verdict.status in RIGHT for verdict in judged)
    believed = (one.attempt.speed for one in judged if one.status not in UNBELIEVED)
    speeds = [speed for speed in believed if speed and math.isfinite(speed.ratio)]
    earned = [verdict.points for verdict in judged]
    ends = Counter(map(grade_texts.ended, verdicts))
    costs_count = bool(info and info.tiers) or {speed.ratio for speed in speeds} != {1.0}
    return TaskStatistics(
        task=task,
        graded=len(judged),
        share=right / len(judged) if judged else 0.0,
        points=f"{grade_texts.points(statistics.median(earned)) if earned else 0} of {grade_texts.points(points)}",
        ratio=measured.ratio(*medians(speeds, "ratio", "low", "high")) if speeds and costs_count else units.UNKNOWN,
        ends=", ".join(f"{units.count(number)} {end}" for end, number in ends.most_common()) or "none graded",
    )


def medians(of: Sequence[Control | Speed], *names: str) -> tuple[float, ...]:
    """Return the median of each attribute of these measurements."""
    return tuple(statistics.median(getattr(one, name) for one in of) for name in names)


def control_line(roll: Roll) -> str:
    """Return a line on how exactly the machine measures, from comparisons of a baseline with itself, or ""."""
    all_ = (verdict.attempt.control for report in roll.gradings() for verdict in report.verdicts)
    if not (controls := [one for one in all_ if one]):
        return ""
    same, slowed, planted = medians(controls, "same", "slowed", "planted")
    first = f"the baseline against itself {units.ratio(same, 4)} (expected 1×)"
    second = f"against a copy slowed on purpose {units.ratio(slowed, 4)} (expected {units.ratio(1 + planted, 4)})"
    voided = sum(control.voided for control in controls)
    again = f" {units.some(voided, 'duel')} repeated because the control failed." if voided else ""
    return f"Timing on this machine: {first}, {second}.{again}"
