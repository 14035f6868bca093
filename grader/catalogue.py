"""All exercises. The list of lessons (`lessons/lessons.toml`) names the tasks of each exercise.

The task `agrees` of lesson `01_correct_first` is `grader.tasks.lesson_01_correct_first.agrees.AGREES`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from grader import paths
from grader.errors import UsageError
from grader.task import Task
from harness.command_line import lesson_aliases, matches, named, one_of
from harness.machine.environment import Environment


@dataclass(frozen=True)
class Catalogue:
    """All lessons with their tasks (functions to write), in the order of the lesson numbers."""

    by_lesson: dict[str, tuple[Task, ...]]

    @property
    def lessons(self) -> tuple[str, ...]:
        """The names of all lessons that have tasks."""
        return tuple(self.by_lesson)

    @property
    def functions(self) -> dict[str, tuple[str, ...]]:
        """The names of the functions that students write, by lesson."""
        return {lesson: tuple(task.name for task in tasks) for lesson, tasks in self.by_lesson.items()}

    def tasks(self, lesson: str) -> tuple[Task, ...]:
        """Return the tasks of a lesson. Raise `UsageError`, which lists all lessons, if no lesson has this name."""
        if lesson not in self.by_lesson:
            known = ", ".join(self.lessons)
            raise UsageError(f"There is no exercise {lesson!r}. There are: {known}.")
        return self.by_lesson[lesson]

    def named(self, given: str) -> str:
        """Return the full name of the lesson that a person typed in part. Raise `UsageError` if none matches."""
        return named(given, self.lessons, "exercise")

    def chosen(self, given: Sequence[str] | None) -> tuple[str, ...]:
        """Return the full names of the lessons that a person typed, or all for None or [], in lesson order."""
        wanted = {self.named(each) for each in given or self.lessons}
        return tuple(lesson for lesson in self.lessons if lesson in wanted)

    def target(self, given: str) -> tuple[str, str | None]:
        """Return the names of the lesson and the task that a person typed. The task is None for a whole lesson.

        A task is typed as "02.time_per_call" or "time_per_call". Raise `UsageError` unless exactly one name matches.
        """
        lessons: dict[str, tuple[str, ...]] = {lesson: lesson_aliases(lesson) for lesson in self.lessons}
        every = (task for each in self.by_lesson.values() for task in each)
        tasks: dict[str, tuple[str, ...]] = {task.full_name: (task.name,) for task in every}
        if found := matches(given, lessons):
            return one_of(given, lessons, found, "exercise"), None
        lesson, _, task = given.partition(".")
        if task and (found := matches(lesson, lessons)):
            lesson = one_of(lesson, lessons, found, "exercise")
            own: dict[str, tuple[str, ...]] = {each.name: (each.name,) for each in self.by_lesson[lesson]}
            return lesson, one_of(task, own | tasks, matches(task, own), f"task of {lesson}", own)
        meant = one_of(given, lessons | tasks, matches(given, tasks), "exercise or task", self.lessons)
        return meant.partition(".")[0], meant.partition(".")[2]


@cache
def load() -> Catalogue:
    """Return all lessons with their tasks."""
    listed = paths.tasks_of_lessons()
    return Catalogue({lesson: tuple(_task(lesson, name) for name in tasks) for lesson, tasks in listed.items()})


def _task(lesson: str, name: str) -> Task:
    package = paths.package_of(lesson)
    found = getattr(import_module(f"grader.tasks.{package}.{name}"), name.upper())
    assert isinstance(found, Task)
    return replace(found, lesson=lesson, name=name, folder=paths.TASKS / package)


def all_tasks() -> Iterator[Task]:
    """Yield every task of every lesson."""
    for lesson in load().lessons:
        yield from load().tasks(lesson)


def kit_version() -> str:
    """Return the version of the exercises and the grader. Raise `UsageError` if they are not installed."""
    kit = Environment.capture().kit
    if kit == "absent":
        raise UsageError("The kit is not installed. Run pip install -e . in its folder first.")
    return kit
