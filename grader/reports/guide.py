"""What the exercises say to a student beyond a verdict: tiers, hints and, after full marks, the idea.

Reports come from the journal, which keeps what was measured and not what was asked. A guide is therefore given only
where the journal was written by this very kit: another one may ask otherwise.
"""

from dataclasses import dataclass

from grader import catalogue
from grader.class_run.roll import Roll
from grader.records import Speed
from grader.reports import words
from grader.reports.charts import Mark
from grader.task import Task
from harness import units
from harness.environment import Environment


@dataclass(frozen=True, slots=True)
class Step:
    """One tier: the ratio that reaches it, and the points it is worth."""

    ratio: float
    points: float


@dataclass(frozen=True, slots=True)
class Guide:
    """What one task asks for, and what helps with it."""

    summary: str
    steps: tuple[Step, ...]
    hints: tuple[str, ...]
    read: str
    idea: str
    read_on: str

    @classmethod
    def of(cls, task: Task) -> "Guide":
        """Return the guide of a task."""
        steps = tuple(Step(tier.ratio, task.points * tier.share) for tier in task.tiers)
        return cls(task.summary, steps, task.hints, task.read, task.idea, task.read_on)

    def marks(self) -> tuple[Mark, ...]:
        """Return the tiers as marks on an axis of ratios."""
        return tuple(Mark(step.ratio, f"tier {units.ratio(step.ratio)}", "tier") for step in self.steps)

    def next_tier(self, speed: Speed) -> str:
        """Say what comes after the tiers reached; nothing where a cost does not count."""
        if not self.steps:
            return ""
        if speed.tier >= len(self.steps):
            return "None: this is the top tier."
        step = self.steps[speed.tier]
        left = f"{units.number(step.ratio / speed.ratio)} times faster than now" if speed.ratio > 0 else ""
        nearer = f", {left}" if left and step.ratio > speed.ratio else ""
        return f"At {units.ratio(step.ratio)} the baseline{nearer}: {words.points(step.points)} points."


def guides(roll: Roll) -> dict[str, Guide]:
    """Return the guides of a class's tasks by full name; none when another kit graded it."""
    if roll.kit != Environment.capture(ask_cuda=False).kit:
        return {}
    asked = {task.task for task in roll.tasks}
    known = catalogue.load()
    tasks = (task for lesson in known.lessons for task in known.tasks(lesson))
    return {task.full_name: Guide.of(task) for task in tasks if task.full_name in asked}
