"""The paths of exercises, solutions and other parts of the project. Exercises and solutions are never imported."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError

GRADER = Path(__file__).parent
KIT = GRADER.parent
TASKS = GRADER / "tasks"
EXERCISES = KIT / "lessons" / "exercises"
LESSONS = KIT / "lessons" / "lessons.toml"
SOLUTIONS = KIT / "solutions"


def stub(lesson: str) -> Path:
    """Return the path of a lesson's exercise file, which the student edits."""
    return EXERCISES / f"{lesson}.py"


def solution(lesson: str) -> Path:
    """Return the path of a lesson's reference solution. Students do not get this file."""
    return SOLUTIONS / f"{lesson}.py"


def tasks_of_lessons() -> dict[str, dict[str, list[str]]]:
    """Return, by lesson and task, what a submission needs, such as "torch". It is read from the list of lessons."""
    listed = tomllib.loads(LESSONS.read_text(encoding="utf-8"))["lessons"]
    return {name: listed[name]["tasks"] for name in sorted(listed) if (TASKS / package_of(name)).is_dir()}


def package_of(lesson: str) -> str:
    """Return the Python package with the tasks of a lesson: "lesson_01_correct_first" for "01_correct_first"."""
    return f"lesson_{lesson}"


def require_solutions(command: str, lessons: Iterable[str]) -> None:
    """Raise `UsageError` if a solution of these lessons is missing. The message names `command`, which needs it."""
    if missing := [path for path in map(solution, lessons) if not path.is_file()]:
        raise UsageError(f"There is no {missing[0]}. A student kit has no solutions. Run `{command}` in the full kit.")
