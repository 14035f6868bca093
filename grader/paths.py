"""The paths of exercises, solutions and other parts of the project. Exercises and solutions are never imported."""

from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError

GRADER = Path(__file__).parent
KIT = GRADER.parent
TASKS = GRADER / "tasks"
EXERCISES = KIT / "lessons" / "exercises"
SOLUTIONS = KIT / "solutions"


def stub(lesson: str) -> Path:
    """Return the path of a lesson's exercise file, which the student edits."""
    return EXERCISES / f"{lesson}.py"


def solution(lesson: str) -> Path:
    """Return the path of a lesson's reference solution. Students do not get this file."""
    return SOLUTIONS / f"{lesson}.py"


def lesson_of(package: str) -> str:
    """Return the lesson that a Python package of tasks belongs to: "01_correct_first" for "lesson_01_correct_first"."""
    return package.removeprefix("lesson_")


def require_solutions(command: str, lessons: Iterable[str]) -> None:
    """Raise `UsageError` if a solution of these lessons is missing. The message names `command`, which needs it."""
    if missing := [path for path in map(solution, lessons) if not path.is_file()]:
        raise UsageError(f"There is no {missing[0]}. A student kit has no solutions. Run `{command}` in the full kit.")
