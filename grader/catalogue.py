"""All exercises there are: the packages under `grader/tasks`, one a lesson.

Each is named like its lesson (`01_correct_first`) and has `TASKS`, a tuple of `Task`. The stub a student edits is
`lessons/exercises/<lesson>.py`, the reference `solutions/<lesson>.py`; both are read as files, never imported.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from grader.errors import UsageError
from grader.task import Task

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

    def named(self, beginning: str) -> str:
        """The one lesson whose name begins so; a UsageError that lists the lessons when there is none or several."""
        begins = [lesson for lesson in self.lessons if lesson.startswith(beginning)]
        if len(begins) != 1:
            raise UsageError(f"There is no exercise {beginning!r}. There are: {', '.join(self.lessons)}.")
        return begins[0]


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
