"""The list of all lessons, which is the file `lessons/lessons.toml`. It is read without importing a lesson or torch."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).resolve().parent.parent
FILE: Final = FOLDER / "lessons.toml"

STEP_OF_MINUTES: Final = 5
"""The minutes of a lesson are rounded to a multiple of this number, because students differ by more than this."""


@dataclass(frozen=True, slots=True)
class LessonEntry:
    """A lesson in the list. The comments at the top of `lessons.toml` explain the fields.

    `exercise_minutes` is None if the lesson has no exercise.
    """

    name: str
    title: str
    prerequisites: tuple[str, ...] = ()
    step_minutes: tuple[int, ...] = ()
    exercise_minutes: int | None = None
    longest_s: tuple[int, int] = (20, 5)
    needs: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    tasks: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """The number at the beginning of the lesson's name, such as "04"."""
        return self.name.partition("_")[0]

    @property
    def minutes(self) -> int:
        """The minutes for the lesson without its exercise and without optional steps, rounded."""
        return max(1, round(sum(self.step_minutes) / STEP_OF_MINUTES)) * STEP_OF_MINUTES

    @property
    def advice(self) -> str:
        """The sentence with the lessons that prepare for this one. It is empty if there are none."""
        if not self.prerequisites:
            return ""
        return f"You can take this lesson on its own. It is easier after {', '.join(self.prerequisites)}."

    def steps_within(self, minutes: float) -> int:
        """Return the number of steps that a student can finish in the first `minutes` of the lesson."""
        return sum(sum(self.step_minutes[:count]) <= minutes for count in range(1, len(self.step_minutes) + 1))


@cache
def listed(folder: Path = FOLDER) -> dict[str, LessonEntry]:
    """Return the lessons whose files are in `folder`, by name, in the order of the full path. A kit may lack some."""
    lessons: dict[str, dict[str, Any]] = _file()["lessons"]
    return {name: _entry(name, fields) for name, fields in lessons.items() if (folder / f"{name}.py").is_file()}


def short_path() -> tuple[str, ...]:
    """Return the names of the lessons of the short path, in order."""
    return tuple(_file()["short_path"])


def short_path_exercises() -> tuple[str, ...]:
    """Return the names of the lessons whose exercises belong to the short path."""
    return tuple(_file()["short_path_exercises"])


def entry_of(name: str) -> LessonEntry:
    """Return the entry of a lesson. A lesson that is not in the list has its name as its title."""
    return listed().get(name) or LessonEntry(name, name)


def lesson_names() -> tuple[str, ...]:
    """Return the names of the lessons, ordered by number."""
    return tuple(sorted(listed()))


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def _entry(name: str, fields: Mapping[str, Any]) -> LessonEntry:
    known: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in fields.items()}
    return LessonEntry(name, **known)
