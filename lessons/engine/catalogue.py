"""Which lessons there are, read from their files without running them: importing torch takes a second."""

import ast
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Entry:
    """A lesson as it is listed; `minutes` is what reading it takes."""

    name: str
    title: str
    minutes: int


def entries(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """Return every lesson whose file is in `folder`, in the order of their numbers."""
    return tuple(_entry(path) for path in sorted(folder.glob("[0-9][0-9]_*.py")))


def _entry(path: Path) -> Entry:
    """Read the title and minutes, written as plain values in the file's one call of `Lesson`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Lesson":
            written = {each.arg: each.value for each in node.keywords}
            title, minutes = ast.literal_eval(written["title"]), ast.literal_eval(written["minutes"])
            return Entry(path.stem, str(title), int(minutes))
    raise ValueError(f"{path} is named like a lesson and has none: it never calls Lesson(…).")
