"""Find the files in which a student may have solved an exercise, and select the file that is graded.

The file that the student has changed is selected, under any name. If several files are changed and their code differs,
the student must choose a file.
"""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.prompt import Prompt

from grader import catalogue, paths
from grader.desk.recognition import files_below, lessons_of, suffix_of
from grader.errors import UsageError
from grader.hand_ins import originals
from grader.hand_ins.archives import is_zip
from grader.hand_ins.collect import collect_one, submission_of
from grader.hand_ins.left_out import likely_lesson
from harness.rendering.units import few
from harness.rendering.wrapping import say
from harness.storage.notebook_files import is_unedited, stamp_of


@dataclass(frozen=True, slots=True)
class ExerciseFile:
    """One file in which a student may have solved the exercise of `lesson`.

    `code` is the SHA-256 of its code. `refusal` is the reason why the file cannot be graded.
    """

    lesson: str
    path: Path
    code: str
    changed: bool = True
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class FileChoice:
    """The selected file of one exercise (`taken`), or None if the student must choose one of `candidates`.

    `left_out` has every other changed file, with the reason. `unchanged` are files that the student has not changed.
    `better` is a sentence on work that the zip of `submit` would lack, or "".
    """

    lesson: str
    taken: ExerciseFile | None
    candidates: tuple[ExerciseFile, ...] = ()
    left_out: tuple[tuple[ExerciseFile, str], ...] = ()
    unchanged: tuple[ExerciseFile, ...] = ()
    better: str = ""

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
    return f"Not used: {file.path}: {why.rstrip('.')}."


def choose(lesson: str, files: Sequence[ExerciseFile]) -> FileChoice:
    """Select one of the files of a lesson. Of files with equal code, the first is selected."""
    readable = [file for file in files if not file.refusal]
    changed = [file for file in readable if file.changed]
    left = [(file, file.refusal) for file in files if file.refusal]
    candidates: list[ExerciseFile] = []
    for file in changed:
        if all(file.code != candidate.code for candidate in candidates):
            candidates.append(file)
    taken = next(iter(candidates or readable), None) if len(candidates) < 2 else None
    unchanged = tuple(file for file in readable if file is not taken and not file.changed)
    candidates.sort(key=lambda file: saved_at(file.path), reverse=True)
    return FileChoice(lesson, taken, tuple(candidates) if len(candidates) > 1 else (), tuple(left), unchanged)


def saved_at(path: Path) -> datetime:
    """Return the local time at which a file was saved, or the year 1970 if the file is gone."""
    try:
        seconds = path.stat().st_mtime
    except OSError:
        seconds = 0
    return datetime.fromtimestamp(seconds).astimezone()


def settle(choices: Sequence[FileChoice], command: str, console: Console) -> list[FileChoice]:
    """Return the choices with one file selected for each exercise, by asking the student if needed.

    Without a terminal, raise `UsageError`, which names the files and the command line that selects each of them.
    """
    open_ = [choice for choice in choices if choice.candidates]
    if open_ and not (sys.stdin.isatty() and console.is_terminal):
        raise UsageError(". ".join(_unsettled(choice, command) for choice in open_))
    return [_asked(choice, command, console) if choice.candidates else choice for choice in choices]


def _asked(choice: FileChoice, command: str, console: Console) -> FileChoice:
    lines = [f"{choice.lesson}: you have changed {len(choice.candidates)} files, and only one of them can count."]
    by_number = {str(number): file for number, file in enumerate(choice.candidates, start=1)}
    for number, file in by_number.items():
        lines.append(f"  {number}  {file.path}  (saved {saved_at(file.path):%d %b %H:%M})")
    say(console, "\n".join(lines))
    try:
        return choice.take(by_number[Prompt.ask("Which one counts?", console=console, choices=list(by_number))])
    except EOFError:  # Ctrl-D
        raise UsageError(_unsettled(choice, command)) from None


def _unsettled(choice: FileChoice, command: str) -> str:
    paths = few([f"{file.path} (saved {saved_at(file.path):%d %b %H:%M})" for file in choice.candidates], 3, " and ")
    commands = few([f"{command} {shlex.quote(str(file.path))}" for file in choice.candidates], 3, " or ")
    return f"You have changed {paths}, but only one file of {choice.lesson} can count. Choose one: {commands}"


def find_files(lessons: Sequence[str], folders: Sequence[Path] | None = None) -> dict[str, list[ExerciseFile]]:
    """Return the exercise files of these lessons in and below these folders, by lesson, under any name.

    A file with several exercises counts for the others only where they are not changed elsewhere. The default folders
    are the current folder and those of the student kit. What cannot be read is skipped.
    """
    if folders is None and "site-packages" in paths.KIT.parts:
        raise UsageError("Your kit is not found from here. Change to its folder, and run the same command there.")
    files: dict[str, list[ExerciseFile]] = {lesson: [] for lesson in lessons}
    everywhere = (paths.EXERCISES, paths.KIT / "notebooks", Path.cwd(), paths.KIT)
    parts: list[ExerciseFile] = []
    for path, data in files_below(everywhere if folders is None else folders):
        for rank, lesson in enumerate(lessons_of(path, data, every=True)):
            if lesson in files:
                (parts if rank else files[lesson]).append(read_file(path, lesson))
    for part in parts:
        if not any(file.changed for file in files[part.lesson]):
            files[part.lesson].append(part)
    return files


def is_path(given: str) -> bool:
    """Return whether a command's argument is the path of a file or folder, and not the name of a lesson."""
    path = Path(given)
    is_lesson = path.is_dir() and given in catalogue.load().lessons
    return (path.exists() and not is_lesson) or suffix_of(path) != "" or "/" in given


def require_lesson(path: Path) -> str:
    """Return the lesson of an exercise file. Raise `UsageError` if it is unclear."""
    lessons, quoted = catalogue.load().lessons, shlex.quote(str(path))
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name the exercise file in this folder, such as {path / lessons[0]}.py.")
    if not path.is_file():
        raise UsageError(f"There is no file or folder {path}. You can also name an exercise, such as 4.")
    if not (suffix := suffix_of(path)):
        raise UsageError(
            f"{path} is not an exercise: the name of an exercise ends in .py, or in .ipynb for a notebook."
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    found = lessons_of(path, data) or tuple(filter(None, [likely_lesson(path.name, lessons)]))
    if len(found) == 1:
        return found[0]
    may_be = f"may be {' or '.join(found)}" if found else "has neither the name nor the functions of an exercise"
    rename = f"mv -n {quoted} {shlex.quote(str(path.with_name((found or lessons)[0] + suffix)))}"
    raise UsageError(f"{path} {may_be}. Give it the name of its exercise, for example: {rename}")


def read_named(path: Path) -> list[ExerciseFile]:
    """Return the exercise file at `path`, or each exercise of the zip `path`. Raise `UsageError` if there is none."""
    if not is_zip(path.name) or not path.is_file():
        file = read_file(path, require_lesson(path))
        if file.refusal:
            raise UsageError(file.refusal)
        return [file]
    found = collect_one(path, "", catalogue.load().lessons, kit="")
    if whole := {one.refusal for one in found.submissions if one.path == path.name}:
        raise UsageError(whole.pop())
    if not found.submissions:
        why = "".join(f" {one.path} is left out: {one.why}" for one in found.left_out)
        raise UsageError(f"{path} contains no exercise.{why}")
    return [ExerciseFile(lesson, path, "") for lesson in sorted({one.lesson for one in found.submissions})]


def read_file(path: Path, lesson: str) -> ExerciseFile:
    """Return a description of the exercise file at `path`, relative to the current folder if possible."""
    here = Path.cwd()
    path = path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
    original, data = originals.listed(lesson), b"unknown"
    with suppress(OSError):
        data = path.read_bytes()
        began_with = stamp_of(data, originals.CODE) if suffix_of(path) == ".ipynb" else ""
        if began_with == original != "" and is_unedited(path, b""):  # this saves the import of IPython
            return ExerciseFile(lesson, path, original, changed=False)
    submission = submission_of(path, student="", lesson=lesson)
    text = str(submission.source or "")
    if not text.strip():
        empty = f"{path} is empty. Did your editor save it? To begin again, copy the exercise from the kit."
        could_not = submission.refusal or f"{path} could not be read"
        return ExerciseFile(lesson, path, "", refusal=could_not if data.strip() and not submission.source else empty)
    code = originals.code_digest(text)
    return ExerciseFile(lesson, path, code, code != original)
