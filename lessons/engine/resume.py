"""Functions that decide where a run begins: at step 1, after an unfinished run, or at a step that the student names."""

from dataclasses import dataclass

from harness.command_line import names
from lessons.engine.lesson import Lesson
from lessons.engine.progress import LessonProgress
from lessons.engine.record import Unfinished


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a run of a lesson: the number of steps before it, and the unfinished run that it continues."""

    steps_before: int = 0
    earlier: Unfinished | None = None


def unfinished(lesson: Lesson, before: LessonProgress | None) -> Unfinished | None:
    """Return the unfinished run that can be continued, or None.

    If the claims of the finished steps have changed in the lesson's file, the run cannot be continued.
    """
    left = before.left if before else None
    if left is None or not 0 < left.steps < len(lesson.steps):
        return None
    return left if _ids(lesson, left.steps) == set(left.claims) else None


def step_number(lesson: Lesson, given: str) -> int:
    """Return the number of the step that `given` names. `given` is a number, a name, or the beginning of a name.

    If no step or more than one step matches, raise `UsageError` with the names of the steps.
    """
    aliases = {step.name: (step.name, str(number)) for number, step in enumerate(lesson.steps, start=1)}
    found = names.one_of(given, aliases, names.matches(given, aliases), "step")
    return list(aliases).index(found) + 1


def start_at(lesson: Lesson, number: int, left: Unfinished | None) -> Start:
    """Return the start of a run that begins at step `number`.

    If the unfinished run `left` has finished all steps before `number`, the new run continues it.
    """
    before = number - 1
    if left is None or left.steps < before:
        return Start(before)
    claims = {id_: standing for id_, standing in left.claims.items() if id_ in _ids(lesson, before)}
    return Start(before, Unfinished(before, claims) if before else None)


def _ids(lesson: Lesson, steps: int) -> set[str]:
    return {id_ for step in lesson.steps[:steps] for id_ in step.claims}
