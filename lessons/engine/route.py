"""The two paths through the lessons, a short one and a full one, and the student's choice between them.

A path is an order of lessons. The list of lessons, the next lesson and the recall questions follow the chosen path. The
choice is kept in the user's state folder.
"""

from dataclasses import replace
from typing import Final

from harness.errors import UsageError
from harness.storage.user_files import state_folder, write_state
from lessons.engine.catalogue import LessonEntry, entry_of, listed, short_path, short_path_exercises

FULL: Final = "full"
SHORT: Final = "short"
COMMAND: Final = "fairclock lessons --path"
FILE: Final = "lesson_path.txt"


def lessons_of(path: str) -> tuple[str, ...]:
    """Return the names of the lessons of a path, in order.

    If the kit contains no lesson of the short path, return the full path.
    """
    short = tuple(name for name in short_path() if name in listed())
    return short if short and path == SHORT else tuple(listed())


def entries_of(path: str) -> list[LessonEntry]:
    """Return the entries of the lessons of a path, in order. The short path leaves out some exercises."""
    entries = [entry_of(name) for name in lessons_of(path)]
    if path != SHORT:
        return entries
    return [each if each.name in short_path_exercises() else replace(each, exercise_minutes=None) for each in entries]


def chosen() -> str:
    """Return the path that the student chose. Without a choice, return the full path."""
    try:
        name = (state_folder() / FILE).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return FULL
    return name if name in {SHORT, FULL} else FULL


def alternative(path: str) -> tuple[str, str]:
    """Return the command that lists the lessons of the path that is not `path`, and a few words about that path."""
    if path == SHORT:
        return f"{COMMAND} {FULL}", f"all {len(listed())} lessons"
    numbers = ", ".join(name.partition("_")[0] for name in lessons_of(SHORT))
    return f"{COMMAND} {SHORT}", f"a short path ({numbers})"


def choose(path: str) -> None:
    """Keep the student's choice of a path. Raise `UsageError` if there is no such path, or if it cannot be kept."""
    if path not in {SHORT, FULL}:
        raise UsageError(f"There is no path {path!r}. Choose a path: {COMMAND} {SHORT}, or {COMMAND} {FULL}.")
    write_state(state_folder() / FILE, f"{path}\n", "path")
