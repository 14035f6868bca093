"""The command `submit`: select the exercise files, write them to a zip, and print the points of each file."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from grader import catalogue
from grader.course.roll import is_faulted
from grader.desk import check as checking
from grader.desk import exercise_files, student_state
from grader.desk.exercise_files import ExerciseFile, FileChoice
from grader.desk.submission_zip import submit
from grader.errors import FairclockError, UsageError
from grader.hand_ins.collect import submission_of
from grader.hand_ins.notebooks import with_cell_lines
from grader.isolation.pool import Pool
from grader.records import Report
from grader.reports import grade_texts
from harness import syntax

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PackedExercises:
    """The zip that was written, and the selected file of each exercise. `missing` are the lessons without any file."""

    out: Path
    replaced: bool
    files: tuple[ExerciseFile, ...]
    choices: tuple[FileChoice, ...]
    missing: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """The exit code of `submit`: 1 if a file could not be read as an exercise, else 0."""
        return 1 if any(file.refusal for choice in self.choices for file, _ in choice.left_out) else 0

    def lines(self) -> Iterator[str]:
        """Yield a message that names the written zip and its number of exercises."""
        again = ", which replaces the older zip" if self.replaced else ""
        count = f"{len(self.files)} exercise{'' if len(self.files) == 1 else 's'}"
        yield f"Wrote {self.out}{again}: {count}. Hand in only this zip."

    def warnings(self) -> Iterator[str]:
        """Yield the warnings that the student should read before handing in the zip."""
        found = [unused_file_line(file, why) for choice in self.choices for file, why in choice.left_out]
        if self.missing:
            found.append(f"There is no file for {', '.join(self.missing)}.")
        if found:
            yield ""
            yield "Please check before you hand in:"
            yield from (f"  {line}" for line in found)


def choices(places: Sequence[Path], take: Sequence[Path]) -> list[FileChoice]:
    """Return, for each lesson, which file is put into the zip.

    With `places`, only files in these folders or at these paths are selected, and lessons without files are left out.
    By default, all folders with exercises are searched. The files in `take` are always selected, without a question to
    the student. Changed files outside `places` are reported. Raise `UsageError` for a missing place and for a file that
    is not an exercise.
    """
    lessons = catalogue.load().lessons
    named = {file.lesson: file for file in map(_named, take)}
    everywhere = exercise_files.find_files(exercise_files.exercise_folders(), lessons)
    inside = _inside(places, lessons) if places else everywhere
    if not any(inside.values()) and not named:
        raise UsageError(f"There is no exercise in {places[0]}. Exercises have names such as {lessons[0]}.py.")
    made = []
    for lesson in lessons:
        choice = exercise_files.choose(lesson, inside[lesson])
        if file := named.get(lesson):
            choice = choice.take(file)
        made.append(_with_those_outside(choice, everywhere[lesson], inside[lesson]) if places else choice)
    return [choice for choice in made if choice.taken or choice.candidates or choice.left_out or not places]


def pack(made: Sequence[FileChoice], out: Path, *, kit: str, force: bool) -> PackedExercises:
    """Write the zip `out` with the selected files. Raise `UsageError` with the reasons if no file is selected."""
    files = tuple(choice.taken for choice in made if choice.taken)
    if not files:
        raise UsageError(" ".join(why_no_file(choice) for choice in made if choice.left_out) or why_no_file(made[0]))
    replaced = submit({file.lesson: file.path for file in files}, out, kit=kit, force=force)
    gone = tuple(choice.lesson for choice in made if not choice.taken and not choice.left_out)
    return PackedExercises(out, replaced, files, tuple(made), gone)


def show_points(packed: PackedExercises, say: Say, status: Console, *, graded: bool) -> None:
    """Print the points of each file in the zip. With `graded`, the files that the student changed are graded first.

    Ctrl-C stops the grading and raises `KeyboardInterrupt`. The zip is complete before grading begins.
    """
    changed = [file for file in packed.files if file.changed and not syntax_fault(file)]
    if graded and changed:
        say("Now your files are graded on this machine. You can stop this with Ctrl-C: the zip is complete.")
    say("")
    with Pool(sandboxed=False) if graded and changed else contextlib.nullcontext() as pool:
        done = 0
        for file in packed.files:
            if pool is None or file not in changed:
                say(_row(file, syntax_fault(file) or ("" if file.changed else "not changed yet")))
                continue
            done += 1
            try:
                with status.status(f"Checking {file.path.name} ({done} of {len(changed)}) …"):
                    report = checking.check(file.lesson, file.path, pool)
            except FairclockError as error:
                say(_row(file, f"not graded here: {error}"))
                continue
            except KeyboardInterrupt:
                say(f"Grading stopped. {packed.out} is complete and has all {len(packed.files)} files.")
                raise
            student_state.keep_points(report)
            for line in _graded(file, report):
                say(line)


def syntax_fault(file: ExerciseFile) -> str:
    """Return a message on the syntax error of a file with its line, or "" if there is none."""
    source = submission_of(file.path, student="", lesson=file.lesson).source or ""
    try:
        syntax.parse(source)
    except SyntaxError as error:
        return with_cell_lines(
            f"not Python: {error.msg} (line {error.lineno} of the file), so it earns no points", source
        )
    except (ValueError, RecursionError, MemoryError):
        return "Python cannot read this file, so it earns no points"
    return ""


def why_no_file(choice: FileChoice) -> str:
    """Return the reasons why no file of an exercise is put into the zip, as text."""
    reasons = [why for _, why in choice.left_out]
    return " ".join(reasons) or f"There is no file of {choice.lesson}. Copy lessons/exercises from the kit again."


def unused_file_line(file: ExerciseFile, why: str) -> str:
    """Return a sentence on a file that is not put into the zip, with the reason `why`."""
    return f"Not used: {file.path}. {why[:1].upper()}{why[1:].rstrip('.')}."


def _graded(file: ExerciseFile, report: Report) -> Iterator[str]:
    if is_faulted(report):
        yield _row(file, f"not graded here; run python -m grader check {file.lesson}")
        return
    yield _row(file, "", points=grade_texts.points(report.points))
    for task, verdict in zip(catalogue.load().tasks(file.lesson), report.verdicts, strict=True):
        if verdict.points < verdict.max_points:
            earned = f"{grade_texts.points(verdict.points)} / {grade_texts.points(verdict.max_points)}"
            yield f"      {task.name}  {earned}  {checking.task_state(task, verdict)}"


def _row(file: ExerciseFile, remark: str, points: str = "–") -> str:
    most = grade_texts.points(sum(task.points for task in catalogue.load().tasks(file.lesson)))
    return f"  {file.lesson:22} {points:>4} / {most:<4} {file.path}{f'  ({remark})' if remark else ''}"


def _inside(places: Sequence[Path], lessons: Sequence[str]) -> dict[str, list[ExerciseFile]]:
    """Return, by lesson, the exercise files in the folders or at the paths of `places`."""
    for place in places:
        if not place.exists():
            what = "file" if place.suffix in exercise_files.SUFFIXES else "folder"
            raise UsageError(
                f"There is no {what} {place}. Run the command in the folder of the kit, or name the exercises."
            )
    inside = exercise_files.find_files([place for place in places if place.is_dir()], lessons)
    for file in map(_named, (place for place in places if not place.is_dir())):
        inside[file.lesson].append(file)
    return inside


def _named(path: Path) -> ExerciseFile:
    file = exercise_files.read_file(path, exercise_files.require_lesson(path))
    if file.refusal:
        raise UsageError(file.refusal)
    return replace(file, named=True)


def _with_those_outside(
    choice: FileChoice, everywhere: Sequence[ExerciseFile], inside: Sequence[ExerciseFile]
) -> FileChoice:
    known = {file.path.resolve() for file in inside}
    codes = {file.code for file in inside}
    outside = [
        (file, "this exercise is not in the places that you named")
        for file in everywhere
        if file.changed and not file.refusal and file.path.resolve() not in known and file.code not in codes
    ]
    return replace(choice, left_out=(*choice.left_out, *outside))
