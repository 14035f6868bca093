"""Choose the lessons that are graded in a class: those that the instructor names, or those of the last run."""

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.catalogue import Catalogue
from grader.class_run.journal import Journal
from grader.course.course_file import Course
from grader.course.named_students import for_class
from grader.course.results import TaskPoints
from grader.course.roll import Roll
from grader.course.roster import Roster
from grader.errors import UsageError
from grader.hand_ins.collect import Collection, collect
from harness.command_line import named

ALL: Final = "all"  # the argument of `--lessons` that means all lessons


def meant(given: Sequence[str] | None, there_are: Sequence[str]) -> list[str]:
    """Return the full names of the lessons that the user named. The word `all` is kept."""
    return [one if one == ALL else named(one, there_are, "exercise") for one in given or ()]


@dataclass(frozen=True, slots=True)
class HandIns:
    """Finds the hand-ins of a course and its roster. `known` are all lessons, each with its functions, if known."""

    course: Course
    roster: Roster
    known: Mapping[str, Names[str]] | Sequence[str]
    kit: str

    def of(self, folder: Path, lessons: Sequence[str], *, require: bool = True) -> Collection:
        """Return the hand-ins for these lessons. With `require`, raise `UsageError` if there is none."""
        return collect(
            folder,
            lessons,
            kit=self.kit,
            zone=self.course.zone,
            known=self.known,
            student_of=self.roster.student_of,
            lesson_of=for_class(self.course, self.roster.students, self.roster).lesson_of,
            require=require,
        )


def by_default(known: Catalogue, hand_ins: HandIns, folder: Path) -> list[str]:
    """Return the lessons that the course file names or for which a submission exists, in lesson order."""
    course, found = hand_ins.course, hand_ins.of(folder, known.lessons)
    handed_in = {one.lesson for one in found.submissions} or {lesson for _, lesson in found.unchanged}
    dated = {*course.lessons, *(lesson for _, dates in course.sections.values() for lesson in dates)}
    return [lesson for lesson in known.lessons if lesson in handed_in | dated]


def not_graded(roll: Roll, folder: Path, out: Path) -> Iterator[str]:
    """Yield a message that names lessons for which submissions exist but which are not graded in this class."""
    others = {file.lesson for file in roll.left_out if Path(file.path).stem == file.lesson} - set(roll.lessons)
    if others:
        options = " ".join(f"--lessons {lesson}" for lesson in sorted({*roll.lessons, *others}))
        yield (
            f"Lessons that were handed in, but not graded: {', '.join(sorted(others))}. "
            f"To grade all: python -m grader run {folder} --out {out} {options}"
        )


def tasks(known: Catalogue, asked: Sequence[str], kept: Sequence[TaskPoints], out: Path) -> tuple[TaskPoints, ...]:
    """Return the tasks to grade: those of the lessons in `asked`, else the tasks in `kept`, else all tasks.

    `kept` are the tasks of which the folder `out` has grades. `known` are all exercises. Raise `UsageError` if a lesson
    does not exist any more, or if its tasks have changed since it was graded.
    """
    lessons = list(dict.fromkeys(asked or (task.lesson for task in kept)))
    if gone := [lesson for lesson in lessons if lesson not in known.lessons and not asked]:
        raise UsageError(
            f"{out} has grades of {gone[0]}, a lesson that this kit lacks. Use the kit of the first run, or name other "
            "lessons with --lessons."
        )
    if not lessons or ALL in lessons:
        lessons = list(known.lessons)
    found = (task for lesson in lessons for task in known.tasks(lesson))
    chosen = tuple(TaskPoints(task.lesson, task.full_name, task.points) for task in found)
    for lesson in {task.lesson for task in kept} & set(lessons):
        before, now = _listed(kept, lesson), _listed(chosen, lesson)
        if before != now:
            raise UsageError(
                f"In {out}, {lesson} has the tasks {before}. This kit has {now}. Use the kit of the first run, or use "
                "a new folder."
            )
    return chosen


def restrict(book: Journal, asked: Sequence[str]) -> Iterator[str]:
    """Let only the lessons in `asked` count. Yield sentences on the change. Refuse a lesson that was never graded."""
    before = book.tasks()
    there = tuple(dict.fromkeys(task.lesson for task in book.tasks(counting=False)))
    if unknown := [lesson for lesson in asked if lesson not in {*there, ALL}]:
        raise UsageError(
            f"{book.out} has no grades of {unknown[0]}. It has grades of {', '.join(there)}. To grade it, name all "
            f"lessons that should count: python -m grader run {book.folder} --out {book.out} --lessons {unknown[0]} …"
        )
    book.restrict(there if ALL in asked else asked)
    yield from changes(before, book.tasks(), book.out)


def changes(before: Sequence[TaskPoints], after: Sequence[TaskPoints], out: Path) -> Iterator[str]:
    """Yield a sentence that names the added lessons, and a sentence that names the removed lessons."""
    old, new = ({task.lesson for task in tasks} for tasks in (before, after))
    if before and (added := sorted(new - old)):
        yield f"These lessons now count, too: {', '.join(added)}."
    if removed := sorted(old - new):
        yield (
            f"These lessons no longer count: {', '.join(removed)}. The grades of these lessons are kept in {out}. To "
            f"count these lessons again, run: python -m grader report {out} --lessons all"
        )


def _listed(tasks_: Sequence[TaskPoints], lesson: str) -> str:
    return ", ".join(sorted({f"{one.task} ({one.points:g} points)" for one in tasks_ if one.lesson == lesson}))
