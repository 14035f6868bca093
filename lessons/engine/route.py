"""The two paths through the lessons, a short one and a full one, and the student's choice between them.

A path is an order of lessons. The list of lessons, the next lesson and the recall questions follow the chosen path. The
choice is kept in the user's state folder.
"""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.storage.user_state import FOLDER_VARIABLE, state_folder
from harness.storage.whole_files import write_whole

FULL: Final = "full"
SHORT: Final = "short"
PATHS: Final = {
    SHORT: ("02_timeit_vs_timer", "04_autorange", "09_cprofile", "05_compare"),
    FULL: (
        "02_timeit_vs_timer",
        "01_correct_first",
        "03_cuda_sync",
        "04_autorange",
        "05_compare",
        "06_ab_testing",
        "07_fuzzing",
        "08_callgrind",
        "09_cprofile",
        "10_memory",
        "11_torch_profiler",
        "13_bytecode",
        "12_jit_fusion",
        "14_extensions",
        "15_instruction_suite",
        "16_sampling",
        "17_peaks_and_leaks",
        "18_threads",
        "19_compile",
    ),
}
"""The lessons of each path, in order. The full path begins with steps that show results in a few minutes.

The short path has its lesson about profilers in third place, because the project of the short course needs a profiler.
"""

COMMAND: Final = "python -m lessons --path"
FILE: Final = "lesson_path.txt"


def lessons_of(path: str, existing: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the lessons of a path that exist, in the order of the path.

    Lessons that no path contains follow at the end of the full path. If the kit contains no lesson of the short path,
    return the full path.
    """
    known = tuple(name for name in PATHS[path] if name in existing)
    if path == FULL or not known:
        known = tuple(name for name in PATHS[FULL] if name in existing)
        return known + tuple(name for name in existing if name not in known)
    return known


def previous(lesson: str, path: Sequence[str], taken: Container[str]) -> str | None:
    """Return the last lesson before `lesson` in the path that the student has taken, or None.

    `taken` contains the names of the taken lessons. Return None if the path does not contain `lesson`.
    """
    before = path[: path.index(lesson)] if lesson in path else ()
    return next((name for name in reversed(before) if name in taken), None)


def chosen(folder: Path | None = None) -> str:
    """Return the path that the student chose. Without a choice, return the full path."""
    try:
        name = ((folder or state_folder()) / FILE).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return FULL
    return name if name in PATHS else FULL


def alternative(path: str, existing: Sequence[str]) -> tuple[str, str]:
    """Return the command that lists the lessons of the other learning path, and a few words about that path.

    There are two paths, a short one and a full one. `path` is the current one.

    `existing` are the names of all lessons.
    """
    if path == SHORT:
        return f"{COMMAND} {FULL}", f"all {len(existing)} lessons"
    numbers = ", ".join(name.partition("_")[0] for name in lessons_of(SHORT, existing))
    return f"{COMMAND} {SHORT}", f"a short path ({numbers})"


def choose(path: str, folder: Path | None = None) -> None:
    """Keep the student's choice of a path. Raise `UsageError` if there is no such path, or if it cannot be kept."""
    if path not in PATHS:
        raise UsageError(f"There is no path {path!r}. Choose a path: {COMMAND} {SHORT}, or {COMMAND} {FULL}.")
    file = (folder or state_folder()) / FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, f"{path}\n".encode(), mode=0o600)
    except OSError as error:
        raise UsageError(
            f"Your path cannot be saved in {file} ({error.strerror}). Set {FOLDER_VARIABLE} to a folder that you can "
            "write to."
        ) from error
