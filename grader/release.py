"""`release`: the kit as students get it, as a folder ready for git or as one zip, with notebooks.

It holds what taking lessons, checking and handing in need: `harness`, `lessons`, `grader`, fresh stubs, notebooks. It
does not hold solutions, tests, seeds, the known submissions that reach a tier, those that have solved a part right, or
baselines that no grading runs; a student whose wrong answer one of these reproduces is told so by the class's grading
alone. What was written is then searched for every part of every solution, and all that knows right answers is tried as
a hand-in (`lifting`). A kit in which one is found is taken back.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import catalogue, exercise_notebook, lifting, originals, stubs
from grader.catalogue import KIT
from grader.errors import GraderFault, UsageError
from grader.files import explained
from harness.overwriting import refuse_edited

FOLDERS: Final = ("grader", "harness", "lessons")
FILES: Final = ("LICENSE", "README.md", "pyproject.toml", ".gitignore")
SUFFIXES: Final = frozenset({".py", ".html", ".json", ".jsonl", ".c"})
SOLVED: Final = re.compile(r"tier\d+_\w+\.py")
"""Known submissions that reach a tier: each is a solution, or half of one."""

OF_LESSON: Final = re.compile(r"(\d\d)_")
"""How the name of a lesson's folder or file begins."""

NOTEBOOKS: Final = "notebooks"
LEAST_PART: Final = 2
"""A solution's part of fewer statements may well stand elsewhere by itself: `return x`."""


@dataclass(frozen=True, slots=True)
class Released:
    """What was written, and what it was searched for in vain."""

    place: Path
    files: int
    notebooks: int
    parts: int
    lessons: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """What to tell the instructor."""
        alone = f" It holds {', '.join(self.lessons)} alone." if self.lessons else ""
        yield f"Wrote {self.place}: {self.files} files, {self.notebooks} of them notebooks.{alone}"
        yield f"Searched all of it for the {self.parts} parts of the reference solutions: none is in it."
        yield "Tried what its oracles, its worlds and its baselines know as hand-ins: none earns a tier."


def release(place: Path, chosen: Sequence[str] = (), *, notebooks: bool = True, force: bool = False) -> Released:
    """Write the student kit to the new folder `place`, or to one zip when its name ends so, and `notebooks` with it.

    It holds the `chosen` lessons alone, all where none is chosen.

    Raises `UsageError` when something is there already or this kit has no solutions to make the stubs of, and
    `GraderFault` when a solution's part was found in what was to be released; nothing is left there then.
    """
    refuse_existing(place, force=force)
    everything = catalogue.load().lessons
    lessons = chosen or everything
    if not all(catalogue.solution(lesson).is_file() for lesson in everything):
        raise UsageError("This kit has no solutions, so it is a student's already: release from the whole one.")
    with explained(place), tempfile.TemporaryDirectory(dir=parent_of(place), prefix=".release-") as scratch:
        folder = Path(scratch) / "fairclock"
        parts = all_parts()
        for source in sorted(kit_files()):
            number = number_of(source.relative_to(KIT))
            if number and number not in {lesson.partition("_")[0] for lesson in lessons}:
                continue
            target = folder / source.relative_to(KIT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        _write_stubs(folder, lessons)
        for told in [path for path in found(parts, folder) if "known" in path.parts]:
            (folder / told).unlink()
        made = sum(1 for _ in _notebooks(folder, lessons)) if notebooks else 0
        if lifted := [sentence for lesson in lessons for sentence in lifting.leaks(lesson)]:
            raise GraderFault(f"Nothing was released, for the kit holds an answer: {'; '.join(lifted)}.")
        if leaks := list(found(parts, folder)):
            raise GraderFault(f"Nothing was released, for a part of a solution is in {', '.join(map(str, leaks))}.")
        files = sum(path.is_file() for path in folder.rglob("*"))
        if place.suffix == ".zip":
            write_zip(folder, place, top=folder.parent)
        else:
            folder.rename(place)
    return Released(place, files, made, len(parts), tuple(chosen))


def number_of(path: Path) -> str:
    """Return the number of the lesson that a file of the kit belongs to, as its name or a folder's begins; else ""."""
    begun = (OF_LESSON.match(part) for part in path.parts)
    return next((match[1] for match in begun if match), "")


def kit_files() -> Iterator[Path]:
    """Yield the files of this kit that students get."""
    unused = unused_baselines()
    yield from (KIT / name for name in FILES if (KIT / name).is_file())
    for folder in FOLDERS:
        for path in (KIT / folder).rglob("*"):
            if path.is_file() and path.suffix in SUFFIXES and not SOLVED.fullmatch(path.name) and path not in unused:
                yield path


def unused_baselines() -> set[Path]:
    """Return the baselines that no grading runs: they would be right answers, and are evidence for `lint` alone."""
    return {task.known / "baseline.py" for task in catalogue.all_tasks()} - {
        path for task in catalogue.all_tasks() for path in task.baselines
    }


def all_parts() -> list[str]:
    """Return every part of every solution, in the form in which `found` looks for it."""
    lessons = catalogue.load().lessons
    return [part for lesson in lessons for part in parts_of(catalogue.solution(lesson).read_text("utf-8"))]


def parts_of(solution: str) -> Iterator[str]:
    """Yield what a student is to write, part by part, in the form in which `found` looks for it.

    A part is what stands between one pair of marks. What is hardly more than a name is no secret and is left out.
    """
    for marked in re.findall(rf"{stubs.BEGIN}\n(.*?){stubs.END}", solution, re.DOTALL):
        part = _plain(marked)
        if part.count("\n") + 1 >= LEAST_PART:
            yield part


def found(parts: Sequence[str], folder: Path) -> Iterator[Path]:
    """Yield the files below `folder` that hold one of the parts, whatever its indentation, comments and line ends."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = _plain(path.read_text(encoding="utf-8", errors="replace").replace("\\n", "\n").replace('\\"', '"'))
            if any(part in text for part in parts):
                yield path.relative_to(folder)


def _plain(source: str) -> str:
    """Source lines without comments, empty lines and the space around them, or around a notebook's quotes."""
    lines = (re.sub(r"\s+#.*|^#.*", "", line.strip().strip('",').strip()) for line in source.splitlines())
    return "\n".join(line for line in lines if line)


def _write_stubs(folder: Path, lessons: Sequence[str]) -> None:
    """Write the stubs of these lessons into the kit at `folder`, and the list by which it knows an unchanged one."""
    rows = []
    for lesson in lessons:
        stub = stubs.stub_of(catalogue.solution(lesson).read_text(encoding="utf-8"))
        (folder / catalogue.stub(lesson).relative_to(KIT)).write_text(stub, encoding="utf-8")
        rows.append(exercise_notebook.listing_row(lesson, stub))
    (folder / originals.LISTING.relative_to(KIT)).write_bytes(originals.as_bytes(rows))


def _notebooks(folder: Path, lessons: Sequence[str]) -> Iterator[Path]:
    """Write the notebooks of the lessons and exercises in the kit at `folder`."""
    place = folder / NOTEBOOKS
    place.mkdir()
    for lesson in lessons:
        source = (folder / catalogue.stub(lesson).relative_to(KIT)).read_text(encoding="utf-8")
        yield _written(place / f"{lesson}.ipynb", exercise_notebook.exported(lesson, source))
    done = subprocess.run(
        [sys.executable, "-B", "-m", "lessons", "notebooks", str(place.resolve())],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise GraderFault(f"The notebooks of the lessons could not be made: {done.stderr.strip()}")
    yield from place.glob("lesson_*.ipynb")


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def parent_of(place: Path) -> Path:
    """Return the folder that `place` is to be made in. Raises `UsageError` when there is none."""
    parent = place.resolve().parent
    if not parent.is_dir():
        raise UsageError(f"There is no folder {parent} to put {place.name} into; make it first.")
    return parent


def refuse_existing(place: Path, *, force: bool) -> None:
    """Raise `UsageError` when something is at `place`: a file is overwritten with `force`, a filled folder never.

    What stood in the folder would be part of what is handed out.
    """
    if place.is_dir():
        if any(place.iterdir()):
            raise UsageError(f"{place} is there already and is not empty; name a new folder, or remove it first.")
    else:
        refuse_edited(place, force=force)


def write_zip(folder: Path, place: Path, *, top: Path) -> None:
    """Write all files below `folder` to the zip `place`, under their names below `top`; an older file is replaced.

    The zip is made beside `folder`, which is on the same disk as `place`.
    """
    made = folder.parent / "made.zip"
    with zipfile.ZipFile(made, "x", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(top))  # its modes too: Gradescope unzips them
    made.replace(place)
