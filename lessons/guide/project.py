"""The projects of the two courses and their rubrics, read from `project.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("project.toml")
FULL, SHORT = "full", "short"
"""The names of the project of the course of twelve weeks, and of the project of the course of four weeks."""


@dataclass(frozen=True, slots=True)
class ProjectTask:
    """A task of a project. The students do it by the end of `week`, with the tools of the lessons `needs`."""

    week: int
    needs: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RubricRow:
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
    tasks: tuple[ProjectTask, ...]
    optional: tuple[str, ...]
    rubric: tuple[RubricRow, ...]

    @property
    def points(self) -> int:
        """The points of all rows of the rubric."""
        return sum(row.points for row in self.rubric)


def load() -> dict[str, Project]:
    """Return the projects from their file, by name. Raise `TypeError` if a field is missing or unknown."""
    whole = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: _project(**fields) for name, fields in whole.items()}


def _project(*, tasks: list[dict[str, Any]], rubric: list[dict[str, Any]], optional: list[str], **rest: Any) -> Project:
    return Project(
        tasks=tuple(ProjectTask(each.pop("week"), tuple(each.pop("needs")), **each) for each in tasks),
        optional=tuple(optional),
        rubric=tuple(RubricRow(**row) for row in rubric),
        **rest,
    )
