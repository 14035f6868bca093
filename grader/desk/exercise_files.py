"""Find the files in which a student may have solved an exercise, and select the file that is graded.

The file that the student has changed is selected. If several files are changed, one of them is selected if all others
have the same code or an earlier version of it. Otherwise the student must choose a file.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.prompt import Prompt

from grader import catalogue, paths
from grader.errors import UsageError
from grader.hand_ins import originals
from grader.hand_ins.archives import is_zip
from grader.hand_ins.collect import collect_one, submission_of
from harness.rendering.wrapping import say
from harness.storage.notebook_files import stamp_of

SUFFIXES: Final = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class ExerciseFile:
    """One file in which a student may have solved the exercise of `lesson`.

    `code` is the SHA-256 of its code, and `began_with` that of the code with which a notebook was exported, or "".
    `refusal` is the reason why the file cannot be graded. The name of a copy only begins with the lesson's name, as in
    `01_correct_first (1).ipynb`. It counts only if the student names it.
    """

    lesson: str
    path: Path
    code: str
    changed: bool = True
    began_with: str = ""
    refusal: str = ""
    is_copy: bool = False

    def is_older(self, other: "ExerciseFile") -> bool:
        """Return whether `other` is a later version of this file.

        `other` was exported from this file and then changed, or this file is a notebook that was exported from `other`.
        """
        exported_first = self.began_with == self.code and other.path.suffix == ".py"
        return self.code != other.code and (other.began_with == self.code or exported_first)


@dataclass(frozen=True, slots=True)
class FileChoice:
    """The selected file of one exercise (`taken`), or None if the student must choose one of `candidates`.

    `left_out` has every other changed file, with the reason. `unchanged` are files that the student has not changed.
    """

    lesson: str
    taken: ExerciseFile | None
    candidates: tuple[ExerciseFile, ...] = ()
    left_out: tuple[tuple[ExerciseFile, str], ...] = ()
    unchanged: tuple[ExerciseFile, ...] = ()

    def take(self, chosen: ExerciseFile) -> "FileChoice":
        """Return a copy in which the file `chosen` is selected."""
        changed = self.candidates or ((self.taken,) if self.taken and self.taken.changed else ())
        left = [(file, f"you chose {chosen.path}") for file in changed if file.code != chosen.code]
        kept = [(file, why) for file, why in self.left_out if file.refusal or file.code != chosen.code]
        return replace(self, taken=chosen, candidates=(), left_out=(*left, *kept))

    @property
    def why_no_file(self) -> str:
        """The reasons why no file of the exercise is selected, as text."""
        missing = f"There is no file of {self.lesson}. Copy lessons/exercises from the kit again."
        return " ".join(not_used(*each) for each in self.left_out) or missing


def not_used(file: ExerciseFile, why: str) -> str:
    """Return a sentence on a file that is not selected, with the reason `why`."""
    return f"Not used: {file.path}. {why[:1].upper()}{why[1:].rstrip('.')}."


def choose(lesson: str, files: Sequence[ExerciseFile]) -> FileChoice:
    """Select one of the files of a lesson. Of files with equal code, the first is selected."""
    named = [file for file in files if not file.is_copy and not file.refusal]
    changed = [file for file in named if file.changed]
    left = [(file, file.refusal) for file in files if file.refusal]
    candidates: list[ExerciseFile] = []
    for file in changed:
        if newer := next((other for other in changed if file.is_older(other)), None):
            left.append((file, f"{newer.path} has a newer version of this exercise"))
        elif all(file.code != candidate.code for candidate in candidates):
            candidates.append(file)
    known = {file.code for file in named}
    use = f"its name must be {lesson}.py or {lesson}.ipynb. To use the file under this name: check"
    copies = [file for file in files if file.is_copy and not file.refusal and file.changed and file.code not in known]
    quoted = ((file, shlex.quote(str(file.path))) for file in copies)
    left += [(file, f"{use} {path}, or submit --take {path}") for file, path in quoted]
    taken = next(iter(candidates or named), None) if len(candidates) < 2 else None
    unchanged = tuple(file for file in named if file is not taken and not file.changed)
    return FileChoice(lesson, taken, tuple(candidates) if len(candidates) > 1 else (), tuple(left), unchanged)


def settle(choices: Sequence[FileChoice], command: str, console: Console) -> list[FileChoice]:
    """Return the choices with one file selected for each exercise, by asking the student if needed.

    Without a terminal, raise `UsageError`, which names the files and the command line that selects each of them.
    """
    open_ = [choice for choice in choices if choice.candidates]
    if open_ and not (sys.stdin.isatty() and console.is_terminal):
        raise UsageError(" ".join(_unsettled(choice, command) for choice in open_))
    return [_asked(choice, command, console) if choice.candidates else choice for choice in choices]


def _asked(choice: FileChoice, command: str, console: Console) -> FileChoice:
    lines = [f"{choice.lesson}: you have changed {len(choice.candidates)} files, and only one of them can count."]
    by_number = {str(number): file for number, file in enumerate(choice.candidates, start=1)}
    for number, file in by_number.items():
        saved = datetime.fromtimestamp(file.path.stat().st_mtime).astimezone()
        lines.append(f"  {number}  {file.path}  (saved {saved:%d %b %H:%M})")
    say(console, "\n".join(lines))
    try:
        return choice.take(by_number[Prompt.ask("Which one counts?", console=console, choices=list(by_number))])
    except EOFError:  # Ctrl-D
        raise UsageError(_unsettled(choice, command)) from None


def _unsettled(choice: FileChoice, command: str) -> str:
    paths = " and ".join(str(file.path) for file in choice.candidates)
    commands = " or ".join(f"{command} {shlex.quote(str(file.path))}" for file in choice.candidates)
    return f"You have changed {paths}, but only one file of {choice.lesson} can count. Choose one: {commands}"


def find_files(lessons: Sequence[str], folders: Sequence[Path] | None = None) -> dict[str, list[ExerciseFile]]:
    """Return the exercise files of these lessons in these folders, by lesson. Skip unreadable folders.

    The default folders are `lessons/exercises` and `notebooks` of the student kit, and the current folder.
    """
    files: dict[str, list[ExerciseFile]] = {lesson: [] for lesson in lessons}
    seen: set[str] = set()
    everywhere = (paths.EXERCISES, paths.KIT / "notebooks", Path.cwd())
    for folder in everywhere if folders is None else folders:
        try:
            inside = [path for path in folder.iterdir() if path.is_file()]
        except OSError:
            continue
        for path in sorted(inside, key=lambda path: (path.stem, path.suffix != ".py")):
            lesson, real = lesson_of(path), os.path.realpath(path)
            if lesson in files and real not in seen:
                seen.add(real)
                files[lesson].append(replace(read_file(path, lesson), is_copy=path.stem != lesson))
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
    if lesson := lesson_of(path):
        return lesson
    raise UsageError(f"{path} does not have the name of an exercise. There are: {', '.join(lessons)}.")


def lessons_in(path: Path) -> list[str]:
    """Return the lessons whose exercises a file has: one, or several for a zip. Raise `UsageError` if it has none."""
    if not is_zip(path.name) or not path.is_file():
        return [require_lesson(path)]
    found = collect_one(path, "", catalogue.load().lessons, kit="")
    if whole := {one.refusal for one in found.submissions if one.path == path.name}:
        raise UsageError(whole.pop())
    if not found.submissions:
        why = "".join(f" {one.path} is left out: {one.why}" for one in found.left_out)
        raise UsageError(f"{path} contains no exercise.{why}")
    return sorted({one.lesson for one in found.submissions})


def read_file(path: Path, lesson: str) -> ExerciseFile:
    """Return a description of the exercise file at `path`, relative to the current folder if possible."""
    here = Path.cwd()
    path = path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
    submission = submission_of(path, student="", lesson=lesson)
    if submission.source is None:
        return ExerciseFile(lesson, path, "", refusal=submission.refusal or f"{path} could not be read")
    code = originals.code_digest(str(submission.source))
    began_with = stamp_of(path.read_bytes(), originals.CODE) if path.suffix == ".ipynb" else ""
    return ExerciseFile(lesson, path, code, code != originals.listed(lesson)[originals.CODE], began_with)
