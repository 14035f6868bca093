"""The command `submit`: select the exercise files, write them to a zip, and print the points of each file.

Equal files give an equal zip. A file that the grading of the class would refuse is never selected.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from grader import catalogue
from grader.course.roll import is_faulted
from grader.desk import check as checking
from grader.desk import check_screen, exercise_files, student_state
from grader.desk.exercise_files import ExerciseFile, FileChoice
from grader.desk.recognition import suffix_of
from grader.errors import FairclockError, UsageError
from grader.files import write_atomically, zip_of
from grader.hand_ins import archives, manifest
from grader.hand_ins.archives import is_zip
from grader.hand_ins.collect import submission_of
from grader.hand_ins.manifest import Manifest, ManifestEntry
from grader.hand_ins.refusal import MAX_NOTEBOOK_BYTES, Refusal, digest
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.reports import grade_texts
from harness import syntax
from harness.rendering.wrapping import say, waiting
from harness.storage.user_files import refuse_edited


def select(places: Sequence[Path], take: Sequence[Path]) -> list[FileChoice]:
    """Return, for each lesson, which file is put into the zip.

    With `places`, only files in these folders or at these paths are selected, and lessons without files are left out.
    A file that the student has not changed is selected only if `places` or `take` names it. The files in `take` are
    always selected. Changed files outside `places` are reported. Raise `UsageError` for a missing place and for a file
    that is not an exercise.
    """
    lessons = catalogue.load().lessons
    named = {file.lesson: file for file in map(_named, take)}
    everywhere = exercise_files.find_files(lessons)
    for place in places:
        if not place.exists():
            what = "file" if suffix_of(place) else "folder"
            advice = "Run the command in the folder of the kit, or name the exercises."
            raise UsageError(f"There is no {what} {place}. {advice}")
    inside = exercise_files.find_files(lessons, [*filter(Path.is_dir, places)]) if places else everywhere
    by_name = [_named(place) for place in places if not place.is_dir()]
    for file in by_name:
        inside[file.lesson].append(file)
    if not any(inside.values()) and not named:
        raise UsageError(f"There is no exercise in {places[0]}. Exercises have names such as {lessons[0]}.py.")
    choices = []
    for lesson in lessons:
        choice = exercise_files.choose(lesson, inside[lesson])
        if lesson in named:
            choice = choice.take(named[lesson])
        elif choice.taken and not choice.taken.changed and choice.taken not in by_name:
            choice = replace(choice, taken=None, unchanged=(choice.taken, *choice.unchanged))
        known = {file.code for file in (*inside[lesson], *named.values())}
        outside = [file for file in everywhere[lesson] if file.changed and file.code not in {"", *known}]
        reason = "this exercise is not in the places that you named"
        choices.append(replace(choice, left_out=(*choice.left_out, *((file, reason) for file in outside))))
    return [one for one in choices if one.taken or one.candidates or one.left_out or one.unchanged or not places]


def submit(choices: Sequence[FileChoice], out: Path, console: Console, *, force: bool, graded: bool) -> int:
    """Write the zip `out` with the selected files, and print their points and warnings on `console`.

    With `graded`, the files that the student changed are graded first. Ctrl-C stops this and raises
    `KeyboardInterrupt`. Return 1 if a file could not be read as an exercise, else 0. Raise `UsageError` if no file is
    selected, for example because the student has changed none.
    """
    files = [choice.taken for choice in choices if choice.taken]
    unchanged = [one for choice in choices if not choice.taken for one in choice.unchanged[:1]]
    if not files:
        if not unchanged:
            with_reason = [choice for choice in choices if choice.left_out]
            raise UsageError(" ".join(choice.why_no_file for choice in with_reason or choices[:1]))
        others = (exercise_files.not_used(*each) for choice in choices for each in choice.left_out)
        told = (
            "You have not changed any exercise, so there is nothing to hand in.",
            *(others if any(choice.left_out for choice in choices) else ["Write your answer into an exercise first."]),
            f"To hand in a file as it is, name it: fairclock submit {shlex.quote(str(unchanged[0].path))}",
        )
        raise UsageError(" ".join(told))
    replaced = write_zip({file.lesson: file.path for file in files}, out, kit=catalogue.kit_version(), force=force)
    again = ", which replaces the older zip" if replaced else ""
    count = f"{len(files)} exercise{'' if len(files) == 1 else 's'}"
    say(console, f"Wrote {out}{again}: {count}. Hand in only this zip.")
    try:
        _show_points(files, console, graded=graded)
    except KeyboardInterrupt:
        say(console, f"Grading stopped. {out} is complete and has all {len(files)} files.")
        raise
    if unchanged:
        say(
            console, f"Not in the zip, because you have not changed them: {', '.join(one.lesson for one in unchanged)}."
        )
    left_out = [each for choice in choices for each in choice.left_out]
    warnings = [exercise_files.not_used(file, why) for file, why in left_out]
    if missing := [one.lesson for one in choices if not (one.taken or one.left_out or one.unchanged)]:
        warnings.append(f"There is no file for {', '.join(missing)}.")
    for line in ("", "Please check before you hand in:", *(f"  {each}" for each in warnings)) if warnings else ():
        say(console, line)
    return 1 if any(file.refusal for file, _ in left_out) else 0


def _show_points(files: Sequence[ExerciseFile], console: Console, *, graded: bool) -> None:
    faults = {file: _syntax_fault(file) for file in files}
    to_grade = [file for file in files if graded and file.changed and not faults[file]]
    if to_grade:
        say(console, "Now your files are graded on this machine. You can stop this with Ctrl-C: the zip is complete.")
    say(console, "")
    with Pool(sandboxed=sandbox.problem() is None) as pool:
        for file in files:
            if file not in to_grade:
                say(console, _row(file, faults[file] or ("" if file.changed else "not changed yet")))
                continue
            with waiting(f"Checking {file.path.name} ({to_grade.index(file) + 1} of {len(to_grade)}) …"):
                lines = list(_graded(file, pool))
            for line in lines:
                say(console, line)


def _syntax_fault(file: ExerciseFile) -> str:
    """Return a message on the syntax error of a file with its line, or "" if there is none."""
    source = submission_of(file.path, student="", lesson=file.lesson).source
    try:
        syntax.parse(source if isinstance(source, str) else "")  # a cell that is not Python ends only itself
    except SyntaxError as error:
        return f"not Python: {error.msg} (line {error.lineno} of the file), so it earns no points"
    except (ValueError, RecursionError, MemoryError):
        return "Python cannot read this file, so it earns no points"
    return ""


def _graded(file: ExerciseFile, pool: Pool) -> Iterator[str]:
    """Grade a file, store its points, and yield lines with the points of the file and of its unfinished tasks."""
    try:
        report = checking.check(file.lesson, file.path, pool)
    except FairclockError as error:
        yield _row(file, f"not graded here: {error}")
        return
    student_state.keep_points(report)
    if is_faulted(report):
        yield _row(file, f"not graded here; run fairclock check {file.lesson}")
        return
    yield _row(file, "", points=grade_texts.points(report.points))
    yield from (f"      {remark}" for remark in report.remarks)
    for task, verdict in check_screen.tasks_with_verdicts(report):
        if verdict.points < verdict.max_points:
            earned = check_screen.out_of(verdict.points, verdict.max_points)
            yield f"      {task.name}  {earned}  {check_screen.task_state(task, verdict)}"


def _row(file: ExerciseFile, remark: str, points: str = "–") -> str:
    most = grade_texts.points(sum(task.points for task in catalogue.load().tasks(file.lesson)))
    return f"  {file.lesson:22} {points:>4} / {most:<4} {file.path}{f'  ({remark})' if remark else ''}"


def _named(path: Path) -> ExerciseFile:
    if is_zip(path.name):
        raise UsageError(f"{path} is a zip. Name the exercises that you want to hand in, or hand in this zip itself.")
    return exercise_files.read_named(path)[0]


def write_zip(files: Mapping[str, Path], out: Path, *, kit: str, force: bool = False) -> bool:
    """Write the zip `out` with one file per lesson. Return whether it replaces an existing file.

    Raise `UsageError` if `out` exists, is not a zip that this function wrote, and `force` is not set.
    """
    refuse_edited(out, force=force, is_ours=is_submission)
    contents: dict[str, bytes] = {}
    for lesson, path in sorted(files.items()):
        contents[lesson + suffix_of(path)] = path.read_bytes()
    replaced = out.exists()
    write_atomically(out, zip_of({**contents, manifest.NAME: _manifest(kit, contents).to_json()}))
    return replaced


def is_submission(path: Path) -> bool:
    """Return whether a file is a zip that `submit` wrote and that was not changed later."""
    others = Counter[str]()
    try:
        with path.open("rb") as file, archives.opened(file, path.name) as opened:
            files = {"/".join(one.path): one.read(MAX_NOTEBOOK_BYTES) for one in opened.entries(others)}
        listed = Manifest.from_json(files.pop(manifest.NAME, b""))
    except (OSError, Refusal):
        return False
    return not others and listed == _manifest(listed.kit, files)


def _manifest(kit: str, contents: Mapping[str, bytes]) -> Manifest:
    return Manifest(kit, tuple(ManifestEntry(Path(name).stem, name, digest(data)) for name, data in contents.items()))
