"""The projects of the two courses and their rubrics, read from `project.toml`. Its comments explain the fields."""

import tomllib
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("project.toml")
FULL, SHORT = "full", "short"
"""The names of the project of the course of twelve weeks, and of the project of the course of four weeks."""


def load() -> dict[str, dict[str, Any]]:
    """Return the fields of each project, by the name of the project. `points` are those of all rows of its rubric."""
    projects = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: each | {"points": sum(row["points"] for row in each["rubric"])} for name, each in projects.items()}
