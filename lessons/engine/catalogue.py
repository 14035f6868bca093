"""The list of all lessons, read from their files without an import, because importing torch takes a second."""

import ast
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lessons.engine.minutes import ExerciseSize, Size, rounded, step_sizes

FOLDER: Final = Path(__file__).resolve().parent.parent
SIZES: Final = FOLDER / "exercises" / "sizes.json"
"""The sizes of the exercises. `python -m grader stubs` writes this file, because students edit the exercises."""

LONGEST_S: Final = (20, 5)
"""The longest times in seconds of a usual and of a short run of a lesson whose file does not set `longest_s`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A lesson: its name, its title, the lessons that prepare for it, and the time that a student needs.

    `steps_min` are the minutes of each step. `minutes` is the time of the lesson, and `exercise_minutes` the time of
    its exercise, or None if the lesson has no exercise. These two are rounded up.
    """

    name: str
    title: str
    minutes: int
    exercise_minutes: int | None = None
    prerequisites: tuple[str, ...] = ()
    steps_min: tuple[float, ...] = ()

    @property
    def number(self) -> str:
        """The number at the beginning of the lesson's name, such as "04"."""
        return self.name.partition("_")[0]

    @property
    def advice(self) -> str:
        """The sentence with the lessons that prepare for this one. It is empty if there are none."""
        if not self.prerequisites:
            return ""
        return f"You can take this lesson on its own. It is easier after {', '.join(self.prerequisites)}."

    def steps_within(self, minutes: float) -> int:
        """Return the number of steps that a student can finish in the first `minutes` of the lesson."""
        return sum(sum(self.steps_min[:count]) <= minutes for count in range(1, len(self.steps_min) + 1))


def lesson_names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the names of the lessons whose files are in `folder`, ordered by number."""
    return tuple(path.stem for path in sorted(folder.glob("[0-9][0-9]_*.py")))


def entries(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """Return the lessons whose files are in `folder`, ordered by number."""
    return tuple(entry_of(folder / f"{name}.py") for name in lesson_names(folder))


@cache  # reading a file of 1,000 lines takes 20 ms
def entry_of(path: Path) -> Entry:
    """Return the entry of a lesson's file. Its title and its prerequisites are literals in the call of `Lesson`."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Lesson":
            written = {each.arg: each.value for each in node.keywords}
            needed = ast.literal_eval(written["prerequisites"]) if "prerequisites" in written else ()
            run_s, _ = ast.literal_eval(written["longest_s"]) if "longest_s" in written else LONGEST_S
            *steps, closing = step_sizes(tree, source)
            total = sum(steps, closing).minutes + run_s / 60
            return Entry(
                path.stem,
                str(ast.literal_eval(written["title"])),
                rounded(total),
                _exercise_minutes(path.stem),
                tuple(map(str, needed)),
                tuple(_with_run(steps, run_s)),
            )
    raise ValueError(f"{path} has the name of a lesson, but it never calls Lesson(…).")


def _with_run(steps: list[Size], run_s: float) -> list[float]:
    """Return the minutes of each step. The time of the measurements is divided equally among the steps."""
    return [step.minutes + run_s / 60 / len(steps) for step in steps]


def _exercise_minutes(lesson: str) -> int | None:
    """Return the minutes for the exercise of a lesson, or None if its size is not known."""
    try:
        sizes = json.loads(SIZES.read_text(encoding="utf-8"))
        return rounded(ExerciseSize(**sizes[lesson]).minutes) if lesson in sizes else None
    except (OSError, ValueError, TypeError):
        return None  # only the list of lessons shows these minutes
