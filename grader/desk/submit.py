"""The command `submit`: select the exercise files, write them to a zip, and print the points of each file.

Equal files give an equal zip. A file that the grading of the class would refuse is never selected.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
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
from grader.inside.loading import error_report
from grader.isolation.pool import Pool
from grader.reports import grade_texts
from grader.source import CodeCell, Notebook
from grader.trials.faults import Raised, fault_of
from harness import syntax
from harness.command_line import named
from harness.rendering.units import some
from harness.rendering.wrapping import say
from harness.storage.user_files import refuse_edited


def select(places: Sequence[str], take: Sequence[Path]) -> list[FileChoice]:
    """Return, for each lesson, which file is put into the zip.

    With `places`, only these lessons, and files at these paths and below these folders, are selected. Lessons without
    files are left out. A file that the student has not changed is selected only if `places` or `take` names it. The
    files in `take` are always selected. Changed files outside `places` are reported. Raise `UsageError` for a missing
    place and for a file that is not an exercise.
    """
    lessons = catalogue.load().lessons
    chosen = {file.lesson: file for file in map(_named, take)}
    everywhere = exercise_files.find_files(lessons)
    at_paths = [Path(place) for place in places if exercise_files.is_path(place)]
    whole = {named(one, lessons, "exercise, file or folder") for one in places if not exercise_files.is_path(one)}
    by_name = [_named(path) for path in at_paths if not path.is_dir()]
    inside = exercise_files.find_files(lessons, [*filter(Path.is_dir, at_paths)]) if places else everywhere
    for file in (*by_name, *(file for lesson in whole for file in everywhere[lesson])):
        inside[file.lesson] += [] if file in inside[file.lesson] else [file]
    if not any(inside.values()) and not chosen:
        raise UsageError(f"There is no exercise in {places[0]}. Exercises have names such as {lessons[0]}.py.")
    choices = []
    for lesson in lessons:
        choice = exercise_files.choose(lesson, inside[lesson])
        known = {file.code for file in (*inside[lesson], *chosen.values())}
        outside = [file for file in everywhere[lesson] if file.changed and file.code not in {"", *known}]
        if lesson in chosen:
            choice = choice.take(chosen[lesson])
        elif inside[lesson] or not places:
            broken = [file for file in everywhere[lesson] if file.refusal and file not in inside[lesson]]
            choice = _without_loss(choice, [*outside, *broken], is_named=choice.taken in by_name)
        why = "this exercise is not in the places that you named"
        left = [(file, why) for file in outside if at_paths or choice.taken]
        choices.append(replace(choice, left_out=(*choice.left_out, *left)))
    return [one for one in choices if one.taken or one.candidates or one.left_out or one.unchanged or not places]


def _without_loss(choice: FileChoice, outside: Sequence[ExerciseFile], *, is_named: bool) -> FileChoice:
    """Return a choice that loses none of the files `outside`, and not the file that earned most points so far.

    An unchanged file is selected only if `is_named`. Then `better` is set if there is other work.
    """
    lesson, taken, best = choice.lesson, choice.taken, student_state.checked_work(choice.lesson)
    path = Path(best.path) if best and best.points else None
    checked = exercise_files.read_file(path, lesson) if path and path.is_file() else None
    if choice.candidates or (taken and taken.changed):
        if taken and best and checked and not is_named and checked.changed and checked.code == best.code != taken.code:
            both = exercise_files.choose(lesson, [taken, checked, *choice.unchanged])
            return replace(both, left_out=(*choice.left_out, *both.left_out))
        return choice
    better, file = "", outside[0] if outside else checked
    if file and file.changed and not file.refusal and (outside or best):
        did = "you changed" if outside else f"`check` gave {grade_texts.points(best.points)} points to" if best else ""
        better = (
            f"For {lesson}, {did} {file.path}. To hand it in: fairclock submit --take {shlex.quote(str(file.path))}."
        )
    elif outside or path:
        lost = outside[0].path if outside else path
        better = f"For {lesson}, your work was in {lost}, which is gone or unchanged or cannot be read. Find it first."
    stub = () if is_named or not taken else (taken,)
    return replace(choice, taken=taken if is_named else None, unchanged=(*stub, *choice.unchanged), better=better)


def _require_best(choices: Sequence[FileChoice]) -> None:
    better = [choice for choice in choices if choice.better]
    others = " ".join(choice.lesson for choice in choices if choice.taken and not choice.better)
    stubs = [file.path for choice in better for file in (choice.taken, *choice.unchanged) if file]
    instead = [f"only the others (fairclock submit {others})"] if others else []
    instead += [f"the unchanged exercise (fairclock submit --take {shlex.quote(str(path))})" for path in stubs[:1]]
    if better:
        sentences = " ".join(choice.better for choice in better)
        also = f" You can also hand in {' or '.join(instead)}." if instead else ""
        error = UsageError(
            f"Nothing was written, because the zip would lack work that you have done. {sentences}{also}"
        )
        error.exit_code = 1
        raise error


def submit(
    choices: Sequence[FileChoice], out: Path, console: Console, *, force: bool, graded: bool, sends: bool = False
) -> int:
    """Write the zip `out` with the selected files, and print their points and warnings on `console`.

    With `graded`, the files that the student changed are graded first. Ctrl-C stops this and raises
    `KeyboardInterrupt`. With `sends`, the program hands in the zip afterwards, so the texts ask for no hand-in. Return
    1 if a file is not valid Python or could not be read as an exercise, else 0. Raise `UsageError` if no file is
    selected, or if better work than an unchanged exercise would be lost.
    """
    _require_best(choices)
    files = [choice.taken for choice in choices if choice.taken]
    unchanged = [one for choice in choices if not choice.taken for one in choice.unchanged[:1]]
    if not files:
        sentences = [exercise_files.not_used(*each) for choice in choices for each in choice.left_out]
        if unchanged:
            to_name = f"To hand in a file as it is, name it: fairclock submit {shlex.quote(str(unchanged[0].path))}"
            sentences = ["You have not changed any exercise, so there is nothing to hand in.", *sentences, to_name]
        raise UsageError(" ".join(sentences) or choices[0].why_no_file)
    replaced = write_zip({file.lesson: file.path for file in files}, out, kit=catalogue.kit_version(), force=force)
    again = ", which replaces the older zip" if replaced else ""
    say(console, f"Wrote {out}{again}: {some(len(files), 'exercise')}.{'' if sends else ' Hand in only this zip.'}")
    try:
        is_python = _show_points(files, console, graded=graded)
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
    for line in (
        ("", "Please check:" if sends else "Please check before you hand in:", *(f"  {each}" for each in warnings))
        if warnings
        else ()
    ):
        say(console, line)
    return int(not is_python or any(file.refusal for file, _ in left_out))


def _show_points(files: Sequence[ExerciseFile], console: Console, *, graded: bool) -> bool:
    to_grade, faults, earned = [file for file in files if graded and file.changed], list[str](), 0.0
    if to_grade:
        say(console, "Now your files are graded on this machine. You can stop this with Ctrl-C: the zip is complete.")
    say(console, "")
    with checking.own_pool() as pool:
        for file in files:
            points, lines = 0.0, [_row(file, "" if file.changed else "not changed yet")]
            if file in to_grade:
                points, lines = _graded(file, pool)
            fault = _syntax_fault(file)
            say(console, "\n".join((*lines, *fault)))
            faults, earned = faults + fault, earned + points
    if to_grade:
        most = grade_texts.points(sum(map(_most, files)))
        say(console, f"Total: {grade_texts.points(earned)} of {most} points in {some(len(files), 'exercise')}.")
    return not faults


def _syntax_fault(file: ExerciseFile) -> list[str]:
    source = submission_of(file.path, student="", lesson=file.lesson).source
    cells = source.cells if isinstance(source, Notebook) else [CodeCell(1, str(source))]
    for cell in cells:
        where = f"{file.path}, {cell.place}" if isinstance(source, Notebook) else str(file.path)
        try:
            syntax.parse(cell.text)
        except SyntaxError as error:
            fault = fault_of(Raised(error_report(error, "")), where)
            return [f"    {line}" for line in fault.rationale.replace(" of the file", "").splitlines()]
        except (ValueError, RecursionError, MemoryError) as error:
            return [f"    {where}: {error}"]
    return []


def _graded(file: ExerciseFile, pool: Pool) -> tuple[float, list[str]]:
    try:
        report = checking.check(file.lesson, file.path, pool)
    except FairclockError as error:
        return 0, [_row(file, f"not graded here: {error}")]
    if is_faulted(report):
        return 0, [_row(file, f"not graded here; run fairclock check {file.lesson}")]
    notes = (*([] if pool.sandboxed else [check_screen.NO_SANDBOX]), *report.remarks)
    lines = [_row(file, "", points=grade_texts.points(report.points)), *(f"      {each}" for each in notes)]
    for task, verdict in check_screen.tasks_with_verdicts(report):
        if verdict.points < verdict.max_points:
            earned = check_screen.out_of(verdict.points, verdict.max_points)
            lines.append(f"      {task.name}  {earned}  {check_screen.task_state(task, verdict)}")
    return report.points, lines


def _most(file: ExerciseFile) -> float:
    return sum(task.points for task in catalogue.load().tasks(file.lesson))


def _row(file: ExerciseFile, remark: str, points: str = "–") -> str:
    name, about = f"{file.lesson}{suffix_of(file.path)}", f" ({remark})" if remark else ""
    saved = f"saved {exercise_files.saved_at(file.path):%d %b %H:%M}"
    return f"  {name:26} {points:>4} / {grade_texts.points(_most(file)):<4} ← {file.path}, {saved}{about}"


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
