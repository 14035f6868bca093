"""What a class is graded on: the lessons asked for, or else those that its output folder remembers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grader.catalogue import Catalogue
from grader.class_run.journal import Journal
from grader.class_run.roll import TaskPoints
from grader.errors import UsageError

ALL: Final = "all"
"""Asks for every lesson: of the kit where a class is graded, of the journal where it is reported."""


def tasks(known: Catalogue, asked: Sequence[str], kept: Sequence[TaskPoints], out: Path) -> tuple[TaskPoints, ...]:
    """Return the tasks to grade a class on: those of the lessons `asked` for, else those `kept` in `out`, else all.

    Raises `UsageError` for a lesson that the kit lacks, and where its tasks are not those that `out` was graded on.
    """
    lessons = list(dict.fromkeys(asked or (task.lesson for task in kept)))
    if gone := [lesson for lesson in lessons if lesson not in known.lessons and not asked]:
        raise UsageError(
            f"{out} is graded on {gone[0]}, which this kit lacks; use the kit it was begun with, or name other lessons "
            "with --lessons."
        )
    if not lessons or ALL in lessons:
        lessons = list(known.lessons)
    chosen = tuple(
        TaskPoints(task.lesson, task.full_name, task.points) for lesson in lessons for task in known.tasks(lesson)
    )
    for lesson in {task.lesson for task in kept} & set(lessons):
        if _worth(kept, lesson) != _worth(chosen, lesson):
            raise UsageError(
                f"{out} is graded on {lesson} with {_said(kept, lesson)}, and this kit has {_said(chosen, lesson)}; "
                "use the kit it was begun with, or name a new folder."
            )
    return chosen


def restrict(book: Journal, asked: Sequence[str]) -> tuple[str, ...]:
    """Let a class be graded on the lessons `asked` for, of those that it was ever graded on; return what changed.

    Raises `UsageError` for another lesson.
    """
    before, ever = book.tasks(), book.tasks(counting=False)
    there = tuple(dict.fromkeys(task.lesson for task in ever))
    lessons = there if ALL in asked else tuple(asked)
    if unknown := [lesson for lesson in lessons if lesson not in there]:
        raise UsageError(
            f"{book.out} was never graded on {unknown[0]}; there are: {', '.join(there)}. To grade it, name all "
            f"lessons that are to count: python -m grader run {book.folder} --out {book.out} --lessons {unknown[0]} …"
        )
    book.restrict(lessons)
    return tuple(changes(before, book.tasks(), book.out))


def changes(before: Sequence[TaskPoints], after: Sequence[TaskPoints], out: Path) -> Iterator[str]:
    """Say which lessons the class is graded on now and was not before, and the reverse."""
    old, new = ({task.lesson for task in tasks} for tasks in (before, after))
    if before and (added := sorted(new - old)):
        yield f"Added to what the class is graded on: {', '.join(added)}."
    if removed := sorted(old - new):
        yield (
            f"Removed from what the class is graded on: {', '.join(removed)}. These grades are kept in {out}; "
            f"`python -m grader report {out} --lessons all` counts them again."
        )


def _worth(tasks_: Sequence[TaskPoints], lesson: str) -> dict[str, float]:
    return {task.task: task.points for task in tasks_ if task.lesson == lesson}


def _said(tasks_: Sequence[TaskPoints], lesson: str) -> str:
    return ", ".join(f"{task} ({points:g} points)" for task, points in _worth(tasks_, lesson).items())
