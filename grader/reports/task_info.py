"""The texts of a task for the reports: grade thresholds, hints, references and the idea of the solution.

Reports are made from stored grades and measurements, which do not include the exercises. Another version of fairclock
may have other exercises. Reports therefore show these texts only if the installed version also graded the class.
"""

from dataclasses import dataclass

from grader import catalogue
from grader.course.roll import Roll
from grader.records import Speed
from grader.reports import grade_texts
from grader.task import Task
from grader.ways import TaskWays, ways_of
from harness.charts.pictures import Mark
from harness.machine.environment import Environment
from harness.rendering import measured, units


@dataclass(frozen=True, slots=True)
class Step:
    """A grade threshold: the ratio that a submission must reach, and the points for reaching it."""

    ratio: float
    points: float


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """The summary, grade thresholds and help texts of one task."""

    summary: str
    steps: tuple[Step, ...]
    hints: tuple[str, ...]
    read: str
    idea: str
    references: str
    ways: TaskWays = TaskWays()  # noqa: RUF009 - a frozen object

    @classmethod
    def of(cls, task: Task) -> "TaskInfo":
        """Return the texts and grade thresholds of a task."""
        steps = tuple(Step(tier.ratio, task.points * tier.share) for tier in task.tiers)
        return cls(task.summary, steps, task.hints, task.read, task.idea, task.references, ways_of(task))

    def marks(self) -> tuple[Mark, ...]:
        """Return the grade thresholds as marked values for the axis of a chart."""
        return tuple(Mark(step.ratio, f"tier {units.ratio(step.ratio)}", "tier") for step in self.steps)

    def next_tier(self, speed: Speed) -> str:
        """Return a sentence on the next grade threshold and its points, or "" for a task without thresholds."""
        if not self.steps:
            return ""
        if speed.tier >= len(self.steps):
            return "There is no next tier: you reached the top tier."
        step = self.steps[speed.tier]
        worth = f"{units.ratio(step.ratio)} gives {grade_texts.points(step.points)} points."
        if not 0 < speed.low <= speed.ratio < step.ratio:
            return worth
        left = measured.number(*(step.ratio / ratio for ratio in (speed.ratio, speed.high, speed.low)))
        return f"{worth} That is {left} times the measured ratio."


def task_infos(roll: Roll) -> dict[str, TaskInfo]:
    """Return the texts and grade thresholds of each task of the class, by the task's full name.

    If another version of fairclock graded the class, return {}.
    """
    if roll.kit != Environment.capture(ask_cuda=False).kit:
        return {}
    asked = {task.task for task in roll.tasks}
    known = catalogue.load()
    tasks = (task for lesson in known.lessons for task in known.tasks(lesson))
    return {task.full_name: TaskInfo.of(task) for task in tasks if task.full_name in asked}
