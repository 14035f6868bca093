"""All exercises there are: the packages under `grader/tasks`, one a lesson.

Each is named like its lesson (`01_correct_first`) and has `TASKS`, a tuple of `Task`. The stub a student edits is
`lessons/exercises/<lesson>.py`, the reference `solutions/<lesson>.py`; both are read as files, never imported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from grader.errors import UsageError
from grader.task import Task
from harness import names

GRADER = Path(__file__).parent
KIT = GRADER.parent
EXERCISES = KIT / "lessons" / "exercises"
SOLUTIONS = KIT / "solutions"


@dataclass(frozen=True)
class Catalogue:
    """Lessons with their tasks, in order of number."""

    by_lesson: dict[str, tuple[Task, ...]]

    @property
    def lessons(self) -> tuple[str, ...]:
        """Names of all lessons that have tasks."""
        return tuple(self.by_lesson)

    def tasks(self, lesson: str) -> tuple[Task, ...]:
        """Tasks of one lesson; a UsageError that lists the lessons when there is none of that name."""
        if lesson not in self.by_lesson:
            known = ", ".join(self.lessons)
            raise UsageError(f"There is no exercise {lesson!r}. There are: {known}.")
        return self.by_lesson[lesson]

    def named(self, given: str) -> str:
        """Return the one lesson that is meant by `given`; a `UsageError` with close matches if none is."""
        return names.named(given, self.lessons, "exercise")

    def chosen(self, given: Sequence[str] | None) -> tuple[str, ...]:
        """Return the lessons that are named, each once and in their order; all where none is."""
        wanted = {self.named(each) for each in given or self.lessons}
        return tuple(lesson for lesson in self.lessons if lesson in wanted)

    def target(self, given: str) -> tuple[str, str | None]:
        """Return the lesson, and the task where one of its tasks is meant: "02.time_per_call" or "time_per_call".

        Raises `UsageError`, with close matches, where no or several exercises and tasks are meant.
        """
        lessons: dict[str, tuple[str, ...]] = {lesson: names.lesson_aliases(lesson) for lesson in self.lessons}
        if found := names.matches(given, lessons):
            return names.one_of(given, lessons, found, "exercise"), None
        lesson, _, task = given.partition(".")
        if task and (found := names.matches(lesson, lessons)):
            lesson = names.one_of(lesson, lessons, found, "exercise")
            of_lesson = [each.name for each in self.by_lesson[lesson]]
            return lesson, names.named(task, of_lesson, f"task of {lesson}")
        every = (task for each in self.by_lesson.values() for task in each)
        tasks: dict[str, tuple[str, ...]] = {task.full_name: (task.name,) for task in every}
        meant = names.one_of(given, lessons | tasks, names.matches(given, tasks), "exercise or task", self.lessons)
        return meant.partition(".")[0], meant.partition(".")[2]


@cache
def load() -> Catalogue:
    """Read every exercise of the kit."""
    names = sorted(path.name for path in (GRADER / "tasks").iterdir() if (path / "__init__.py").is_file())
    return Catalogue({name: import_module(f"grader.tasks.{name}").TASKS for name in names})


def all_tasks() -> Iterator[Task]:
    """Yield every task of every lesson."""
    for lesson in load().lessons:
        yield from load().tasks(lesson)


def stub(lesson: str) -> Path:
    """Where the student's exercise file of a lesson lies."""
    return EXERCISES / f"{lesson}.py"


def solution(lesson: str) -> Path:
    """Where the reference solution of a lesson lies (absent from a student's kit)."""
    return SOLUTIONS / f"{lesson}.py"
