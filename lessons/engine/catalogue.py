"""The list of all lessons, read from their files without an import, because importing torch takes a second."""

import ast
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Entry:
    """The name, the title and the minutes of a lesson. `minutes` is the time that a student needs for the lesson."""

    name: str
    title: str
    minutes: int


def entries(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """Return the lessons whose files are in `folder`, ordered by number."""
    return tuple(_entry(path) for path in sorted(folder.glob("[0-9][0-9]_*.py")))


def _entry(path: Path) -> Entry:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Lesson":
            written = {each.arg: each.value for each in node.keywords}
            title, minutes = ast.literal_eval(written["title"]), ast.literal_eval(written["minutes"])
            return Entry(path.stem, str(title), int(minutes))
    raise ValueError(f"{path} has the name of a lesson, but it never calls Lesson(…).")
