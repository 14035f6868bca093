"""The lesson names that the shell offers when the user presses Tab."""

from pathlib import Path
from typing import Final

_EXERCISES: Final = Path(__file__).parents[2] / "lessons" / "exercises"


def lessons(incomplete: str) -> list[str]:
    """Return the lessons whose names begin with the typed text. Only file names are read, so that Tab is fast."""
    names = sorted(path.stem for path in _EXERCISES.glob("[0-9][0-9]_*.py"))
    return [name for name in names if name.startswith(incomplete)]
