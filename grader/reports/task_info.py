"""The tasks of a class for the reports, with their grade thresholds, hints, references and ideas.

Reports are made from stored grades and measurements, which do not include the exercises. Another version of fairclock
may have other exercises. Reports therefore show these texts only if the installed version also graded the class.
"""

from grader import catalogue
from grader.course.roll import Roll
from grader.records import Speed
from grader.reports import grade_texts
from grader.task import Task
from harness.charts.pictures import Mark
from harness.machine.environment import Environment
from harness.rendering import measured, units


def marks(task: Task | None) -> tuple[Mark, ...]:
    """Return a task's grade thresholds as marked values for the axis of a chart."""
    return tuple(Mark(tier.ratio, f"tier {units.ratio(tier.ratio)}", "tier") for tier in task.tiers) if task else ()


def next_tier(task: Task, speed: Speed) -> str:
    """Return a sentence on the next grade threshold and its points, or "" for a task without thresholds."""
    if not task.tiers:
        return ""
    if speed.tier >= len(task.tiers):
        return "There is no next tier: you reached the top tier."
    tier = task.tiers[speed.tier]
    worth = f"{units.ratio(tier.ratio)} gives {grade_texts.points(task.points * tier.share)} points."
    if not 0 < speed.low <= speed.ratio < tier.ratio:
        return worth
    left = measured.number(*(tier.ratio / ratio for ratio in (speed.ratio, speed.high, speed.low)))
    return f"{worth} That is {left} times the measured ratio."


def known_tasks(roll: Roll) -> dict[str, Task]:
    """Return each task of the class, by its full name.

    If another version of fairclock graded the class, return {}.
    """
    if roll.kit != Environment.capture(ask_cuda=False).kit:
        return {}
    asked = {task.task for task in roll.tasks}
    return {task.full_name: task for task in catalogue.all_tasks() if task.full_name in asked}
