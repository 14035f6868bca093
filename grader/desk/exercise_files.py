"""Find the files in which a student may have solved an exercise, and select the file that is graded.

An exercise can be solved in three places: the exercise file, the notebook of the student kit, and a notebook in the
current folder. The file that the student has changed is selected. If several files are changed, one of them is selected
if all others have the same code or an earlier version of it. Otherwise the student must choose a file.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader import catalogue, paths
from grader.desk import originals
from grader.errors import UsageError
from grader.hand_ins.collect import submission_of
from harness.storage.notebook_files import stamp_of

SUFFIXES: Final = (".py", ".ipynb")
NOTEBOOKS: Final = "notebooks"
"""The name of the folder with notebooks in the student kit."""


@dataclass(frozen=True, slots=True)
class ExerciseFile:
    """One file in which a student may have solved the exercise of `lesson`.

    `code` is the SHA-256 of its code. `began_with` is the SHA-256 of the code that a notebook had when it was exported,
    or "". `refusal` is the reason why the file cannot be graded, and then `code` is "". `named` is True if the student
    named the file on the command line. It may then have any file name.
    """

    lesson: str
    path: Path
    code: str
    changed: bool = True
    began_with: str = ""
    refusal: str = ""
    named: bool = False

    @property
    def is_copy(self) -> bool:
        """Whether the file name only begins with the lesson's name, as in `01_correct_first (1).ipynb`."""
        return self.path.stem != self.lesson and not self.named


@dataclass(frozen=True, slots=True)
class FileChoice:
    """The selected file of one exercise (`taken`), or None if the student must choose one of `candidates`.

    `left_out` has every other changed file, with the reason why it is not selected. `unchanged` are files that the
    student has not changed.
    """

    lesson: str
    taken: ExerciseFile | None
    candidates: tuple[ExerciseFile, ...] = ()
    left_out: tuple[tuple[ExerciseFile, str], ...] = ()
    unchanged: tuple[ExerciseFile, ...] = ()

    def take(self, chosen: ExerciseFile) -> "FileChoice":
        """Return a copy in which the file `chosen` is selected."""
        changed = self.candidates or ((self.taken,) if self.taken and self.taken.changed else ())
        same = {chosen.code}
        left = [(file, f"you chose {chosen.path}") for file in changed if file.code not in same]
        kept = [(file, why) for file, why in self.left_out if file.refusal or file.code not in same]
        return replace(self, taken=chosen, candidates=(), left_out=(*left, *kept))


def choose(lesson: str, files: Sequence[ExerciseFile]) -> FileChoice:
    """Select one of the files of a lesson. Of files with equal code, the first is selected."""
    named = [file for file in files if not file.is_copy and not file.refusal]
    changed = [file for file in named if file.changed]
    left = [(file, file.refusal) for file in files if file.refusal]
    candidates: list[ExerciseFile] = []
    for file in changed:
        if newer := next((other for other in changed if _is_older(file, other)), None):
            left.append((file, f"{newer.path} has a newer version of this exercise"))
        elif all(file.code != candidate.code for candidate in candidates):
            candidates.append(file)
    known, use = {file.code for file in named}, "check FILE, or submit --take FILE"
    left += [
        (
            file,
            f"its name must be {lesson}.py or {lesson}.ipynb. To use the file under this name: {use}",
        )
        for file in files
        if file.is_copy and not file.refusal and file.changed and file.code not in known
    ]
    taken = next(iter(candidates or named), None) if len(candidates) < 2 else None
    unchanged = tuple(file for file in named if file is not taken and not file.changed)
    return FileChoice(lesson, taken, tuple(candidates) if len(candidates) > 1 else (), tuple(left), unchanged)


def _is_older(file: ExerciseFile, other: ExerciseFile) -> bool:
    """Return whether `other` is a later version of `file`.

    This holds if `other` was exported from `file` and then changed. It also holds if `file` is an unchanged notebook
    and the exercise file `other`, from which the notebook was exported, has changed.
    """
    if file.code == other.code:
        return False
    return other.began_with == file.code or (file.began_with == file.code and other.path.suffix == ".py")


def exercise_folders() -> tuple[Path, ...]:
    """Return the folders that may have exercises: `lessons/exercises`, `notebooks` and the current folder."""
    return paths.EXERCISES, paths.KIT / NOTEBOOKS, Path.cwd()


def find_files(folders: Sequence[Path], lessons: Sequence[str]) -> dict[str, list[ExerciseFile]]:
    """Return the exercise files in these folders by lesson.

    A file is also included if its name only begins with the name of a lesson.
    """
    files: dict[str, list[ExerciseFile]] = {lesson: [] for lesson in lessons}
    seen: set[str] = set()
    for folder in folders:
        for path in _files(folder):
            lesson = lesson_of(path)
            real = os.path.realpath(path)
            if lesson in files and real not in seen:
                seen.add(real)
                files[lesson].append(read_file(path, lesson))
    return files


def lesson_of(path: Path) -> str:
    """Return the lesson whose name is the beginning of the file name, or "" if there is none."""
    if path.suffix not in SUFFIXES:
        return ""
    return max((name for name in catalogue.load().lessons if path.stem.startswith(name)), key=len, default="")


def require_lesson(path: Path) -> str:
    """Return the lesson of an exercise file. Raise `UsageError` if `path` is not the path of an exercise."""
    lessons = catalogue.load().lessons
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name the exercise file in this folder, such as {path / lessons[0]}.py.")
    if not path.exists():
        raise UsageError(f"There is no file {path}.")
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path} is neither Python (.py) nor a notebook (.ipynb).")
    lesson = lesson_of(path)
    if not lesson:
        raise UsageError(f"{path} does not have the name of an exercise. There are: {', '.join(lessons)}.")
    return lesson


def read_file(path: Path, lesson: str) -> ExerciseFile:
    """Return a description of the exercise file at `path`.

    If the file cannot be graded, its `refusal` gives the reason.
    """
    path = _relative(path)
    submission = submission_of(path, student="", lesson=lesson)
    if submission.source is None:
        why = submission.refusal or f"{path} could not be read"
        return ExerciseFile(lesson, path, "", refusal=why)
    code = originals.code_digest(submission.source)
    began_with = stamp_of(path.read_bytes(), originals.CODE) if path.suffix == ".ipynb" else ""
    return ExerciseFile(lesson, path, code, code != originals.listed(lesson)[originals.CODE], began_with)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder by name, Python files before notebooks. Yield nothing if the folder is unreadable."""
    try:
        files = [path for path in folder.iterdir() if path.is_file()]
        yield from sorted(files, key=lambda path: (path.stem, path.suffix != ".py"))
    except OSError:
        return


def _relative(path: Path) -> Path:
    """Return `path` relative to the current folder if the file is below that folder, else unchanged."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
