"""Write the kit for students, as a folder that can be put into git or as one zip, and the autograder for Gradescope.

The kit contains what students need to take lessons, check their work and hand it in: `harness`, `lessons`, `grader`,
exercises and notebooks. It has no solutions, tests, seeds or teacher's pack. Of the example submissions, it has only
the baselines that grading runs. Known mistakes are recognised by their answers (`grader.trials.known_mistakes`).

The new kit is searched for every part of every solution. Functions of the kit that compute right answers are graded as
if a student had handed them in (`kit_leaks`). No file of the kit may contain a test case (`known_cases`). If a check
finds an answer, the kit is deleted.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grader import catalogue, paths, ways
from grader.authoring import kit_leaks, known_cases, stubs
from grader.desk import exercise_notebook
from grader.errors import GraderFault, UsageError
from grader.files import explained
from grader.hand_ins import originals
from grader.paths import KIT
from grader.trials import known_mistakes
from harness.storage.user_files import refuse_edited

FOLDERS: Final = ("grader", "harness", "lessons")
TEACHERS: Final = tuple(
    KIT / name
    for name in (
        "lessons/guide",  # the teacher's pack, with the answers of exams
        "grader/server",
        "grader/similarity",
        "grader/commands/serve.py",
        "grader/commands/similar.py",
    )
)
"""Folders and files that only teachers use. They are not copied."""

GRADESCOPE: Final = KIT / "grader" / "gradescope"
SCRIPTS: Final = ("setup.sh", "run_autograder")
PROGRAMS: Final = ("grader/student_kit/fairclock", "grader/student_kit/fairclock.cmd")
FILES: Final = ("LICENSE", "lessons/exercises/README.txt", "pyproject.toml", ".gitignore", *PROGRAMS)
README: Final = Path(__file__).with_name("README.md")
"""The README for students, which becomes the kit's README.md."""

VSCODE: Final = Path(__file__).with_name("vscode.json")
"""The files of the kit's folder .vscode, by name."""

EXAMPLE: Final = "04_autorange"
"""The lesson in the commands of the README for students. If a kit lacks it, the kit's first lesson replaces it."""

SUFFIXES: Final = frozenset({".py", ".html", ".json", ".jsonl", ".toml", ".c", ".png", ".svg", ".prof", ".gz"})
LESSON_NUMBER: Final = re.compile(r"(?:lesson_)?(\d\d)_")
"""The beginning of the name of a lesson's folder or file, with the lesson's number."""

MIN_STATEMENTS: Final = 2
"""Parts of solutions with at least this many lines must not be in the kit. Shorter parts also occur in other code."""


def release(place: Path, chosen: Sequence[str] = (), *, notebooks: bool = True, force: bool = False) -> tuple[str, ...]:
    """Write the student kit to the new folder `place`, or to one zip if its name ends in .zip.

    The kit contains only the `chosen` lessons, or all lessons if none is chosen. Return the lines that the command
    prints for the instructor. Raise `UsageError` if something exists at `place`, or if there are no solutions from
    which exercise files can be made. Raise `GraderFault`, and leave no file, if the new kit contains an answer.
    """
    parent, everything = parent_of(place, force=force), catalogue.load().lessons
    lessons = chosen or everything
    paths.require_solutions("release", everything)
    with explained(place), tempfile.TemporaryDirectory(dir=parent, prefix=".release-") as scratch:
        folder = Path(scratch, "kit", "fairclock")
        _write_kit(folder, lessons)
        made = _write_notebooks(folder, lessons) if notebooks else 0
        _check_answers(folder, lessons)
        searched = search_line("kit", folder)
        files = sum(path.is_file() for path in folder.rglob("*"))
        if place.suffix == ".zip":
            write_zip(folder.parent, folder.name, place)
        else:
            folder.rename(place)
    alone = f" The kit contains only {', '.join(chosen)}." if chosen else ""
    return (
        f"Wrote {place}: {files} files, {made} of them notebooks.{alone}",
        searched,
        "The kit's functions, simulated scenarios and baselines were graded as hand-ins: none of them earns a tier.",
    )


def bundle(place: Path, lessons: Sequence[str], *, sandboxed: bool = True, force: bool = False) -> tuple[str, ...]:
    """Write the autograder for `lessons` to the zip `place`, for an instructor to upload to Gradescope.

        setup.sh  run_autograder     the scripts that Gradescope runs, once and for each submission
        bundle.json                  the lessons to grade, and whether grading without a sandbox is allowed
        fairclock/                   the files that students get, without solutions

    Grading needs no solutions, because submissions are compared with simple baselines. The zip has no random seed,
    because each grading draws its own. Return the lines that the command prints for the instructor.

    Raise `UsageError` if something exists at `place`, if it is not a .zip, or if the solutions are missing. The
    students' files are made from the solutions. Raise `GraderFault`, and leave no file, if the zip would contain a part
    of a solution.
    """
    if place.suffix != ".zip":
        raise UsageError(f"{place} is not a zip; give a name such as autograder.zip.")
    parent, known = parent_of(place, force=force), catalogue.load()
    chosen = tuple(known.named(lesson) for lesson in lessons) or known.lessons
    paths.require_solutions("release", known.lessons)
    with explained(place), tempfile.TemporaryDirectory(dir=parent, prefix=".bundle-") as scratch:
        folder = Path(scratch) / "bundle"
        folder.mkdir()
        _write_kit(folder / "fairclock", known.lessons)  # a hand-in for another lesson is recognised
        _check_answers(folder / "fairclock", chosen)
        for name in SCRIPTS:
            shutil.copyfile(GRADESCOPE / name, folder / name)
            (folder / name).chmod(0o755)
        settings = {"lessons": chosen, "sandbox": "needed" if sandboxed else "where it works"}
        (folder / "bundle.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        searched = search_line("zip", folder)
        write_zip(folder, ".", place)
    points = sum(task.points for lesson in chosen for task in known.tasks(lesson))
    if sandboxed:
        told = ("does not grade.", "An autograder that was made with --no-sandbox grades without a sandbox.")
    else:
        told = ("grades with NO SANDBOX.", "Each report then has a warning.")
    return (
        f"Wrote {place}, an autograder for {', '.join(chosen)}: {points:g} points.",
        searched,
        f"If no sandbox works on Gradescope, this autograder {told[0]}",
        told[1],
        "Give the container at least 2 cores and 3 GB of memory (Settings → Container Specifications).",
    )


def kit_files() -> Iterator[Path]:
    """Yield the paths of this project's files that are copied to the student kit.

    Example submissions are left out, because students could hand them in as an answer, or change one line first.
    """
    baselines = {path for task in catalogue.all_tasks() for path in task.baselines}
    yield from (KIT / name for name in FILES if (KIT / name).is_file())
    for folder in FOLDERS:
        for path in (KIT / folder).rglob("*"):
            for_teachers = any(map(path.is_relative_to, TEACHERS)) or "known" in path.parts
            for_students = path in baselines or not for_teachers
            is_document = path.suffix == ".md" and LESSON_NUMBER.match(path.name)
            if path.is_file() and (path.suffix in SUFFIXES or is_document) and for_students:
                yield path


def all_parts() -> list[str]:
    """Return every part of every solution that students write, in the form that `files_containing` takes."""
    lessons = catalogue.load().lessons
    return [part for lesson in lessons for part in parts_of(paths.solution(lesson).read_text("utf-8"))]


def parts_of(solution: str) -> Iterator[str]:
    """Yield the parts of a solution that students write, in the form that `files_containing` takes.

    A part is the text between the marks `stubs.BEGIN` and `stubs.END`. Parts with fewer than `MIN_STATEMENTS` lines are
    not secret and are left out.
    """
    for marked in re.findall(rf"{stubs.BEGIN}\n(.*?){stubs.END}", solution, re.DOTALL):
        part = _plain(marked)
        if part.count("\n") + 1 >= MIN_STATEMENTS:
            yield part


def files_containing(parts: Sequence[str], folder: Path) -> Iterator[Path]:
    """Yield the files below `folder` that contain one of the parts."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = _plain(path.read_text(encoding="utf-8", errors="replace").replace("\\n", "\n").replace('\\"', '"'))
            if any(part in text for part in parts):
                yield path.relative_to(folder)


def search_line(what: str, folder: Path) -> str:
    """Search the files of the kit or zip `what` for solutions, and return a line on the search for the instructor.

    Raise `GraderFault` if a file below `folder` contains a part of a solution.
    """
    parts = all_parts()
    if leaks := ", ".join(map(str, files_containing(parts, folder))):
        raise GraderFault(f"Nothing was released, because {leaks} contains a part of a solution.")
    return f"The {what} was searched for the {len(parts)} parts of the reference solutions and contains none of them."


def _plain(source: str) -> str:
    lines = (re.sub(r"\s+#.*|^#.*", "", line.strip().strip('",').strip()) for line in source.splitlines())
    return "\n".join(line for line in lines if line)


def _write_kit(folder: Path, lessons: Sequence[str]) -> None:
    _copy_files(folder, lessons)
    _write_readme(folder, lessons)
    _write_editor_settings(folder)
    _write_stubs(folder, lessons)


def _check_answers(folder: Path, lessons: Sequence[str]) -> None:
    """Raise `GraderFault` if the kit in `folder` contains code that earns points in these lessons, or a test case."""
    if lifted := [sentence for lesson in lessons for sentence in kit_leaks.leaks(lesson, everywhere=False)]:
        raise GraderFault(f"Nothing was released, because the kit contains an answer: {'; '.join(lifted)}.")
    tasks = (task for lesson in lessons for task in catalogue.load().tasks(lesson))
    if held := "; ".join(known_cases.in_files(tasks, folder)):
        raise GraderFault(f"Nothing was released, because students could look up answers: {held}.")


def _copy_files(folder: Path, lessons: Sequence[str]) -> None:
    for source in sorted(kit_files()):
        name = source.relative_to(KIT)
        numbers = [found[1] for part in name.parts if (found := LESSON_NUMBER.match(part))]
        if numbers and numbers[0] not in {lesson.partition("_")[0] for lesson in lessons}:
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _write_readme(folder: Path, lessons: Sequence[str]) -> None:
    named = EXAMPLE if EXAMPLE in lessons else lessons[0]
    text = README.read_text(encoding="utf-8").replace(EXAMPLE, named)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _write_editor_settings(folder: Path) -> None:
    (folder / ".vscode").mkdir()
    for name, content in json.loads(VSCODE.read_text(encoding="utf-8")).items():
        (folder / ".vscode" / name).write_text(json.dumps(content, indent=4) + "\n", encoding="utf-8")


def _write_stubs(folder: Path, lessons: Sequence[str]) -> None:
    texts = {lesson: stubs.stub_of(paths.solution(lesson).read_text(encoding="utf-8")) for lesson in lessons}
    for lesson, stub in texts.items():
        (folder / paths.stub(lesson).relative_to(KIT)).write_text(stub, encoding="utf-8")
    (folder / originals.LISTING.relative_to(KIT)).write_bytes(originals.as_bytes(texts))
    for module in (ways, known_mistakes):
        told = {name: each for name, each in module.read().items() if name.partition(".")[0] in lessons}
        (folder / module.FILE.relative_to(KIT)).write_bytes(module.as_bytes(told))


def _write_notebooks(folder: Path, lessons: Sequence[str]) -> int:
    place = folder / "notebooks"
    place.mkdir()
    for lesson in lessons:
        source = (folder / paths.stub(lesson).relative_to(KIT)).read_text(encoding="utf-8")
        (place / f"{lesson}.ipynb").write_bytes(exercise_notebook.exported(lesson, source))
    command = [sys.executable, "-B", "-m", "lessons", "notebooks", str(place.resolve())]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraderFault(f"The notebooks of the lessons could not be written: {done.stderr.strip()}")
    return len(list(place.iterdir()))


def parent_of(place: Path, *, force: bool) -> Path:
    """Return the folder that will contain `place`. Raise `UsageError` if it does not exist, or if `place` exists.

    With `force`, a file may be overwritten. A folder with files is always refused, because students would get these
    files.
    """
    parent = place.resolve().parent
    if not place.is_dir():
        refuse_edited(place, force=force)
    elif any(place.iterdir()):
        raise UsageError(f"{place} exists already and is not empty; use a new folder, or remove this folder first.")
    if not parent.is_dir():
        raise UsageError(f"{place.name} cannot be written, because there is no folder {parent}: `mkdir -p {parent}`.")
    return parent


def write_zip(folder: Path, below: str, place: Path) -> None:
    """Write all files below `folder`/`below` to the zip `place`, with names relative to `folder`, and with their modes.

    An older zip is replaced. The zip is first written beside `folder`, which is on the same disk as `place`.
    """
    Path(shutil.make_archive(f"{folder}-made", "zip", folder, below)).replace(place)
