"""The project of a course and its rubric, read from `project.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("project.toml")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the rubric: a criterion, its points, and the work that gets all, half or none of them."""

    criterion: str
    points: int
    full: str
    half: str
    none: str


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its tasks, its optional parts and its rubric. `hours` is the time that a student needs."""

    title: str
    summary: str
    hours: int
    tasks: tuple[str, ...]
    optional: tuple[str, ...]
    rubric: tuple[Row, ...]

    @property
    def points(self) -> int:
        """The points of all rows of the rubric."""
        return sum(row.points for row in self.rubric)


def load(file: Path = FILE) -> Project:
    """Return the project from its file. Raise `TypeError` if a field is missing or unknown."""
    whole = tomllib.loads(file.read_text(encoding="utf-8"))
    rubric = tuple(Row(**row) for row in whole.pop("rubric"))
    return Project(rubric=rubric, tasks=tuple(whole.pop("tasks")), optional=tuple(whole.pop("optional")), **whole)
