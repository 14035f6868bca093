"""Where a student's work lies: every file in which an exercise may have been solved, and which of them counts.

An exercise can be solved in three places: the exercise file, the kit's notebook, and a notebook in the current folder.
The file that the student has changed counts. Where several are changed, one still counts when the others hold the same
code, or an earlier state of it; else only the student can choose.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader import catalogue, originals
from grader.hand_ins.collect import submission_of
from harness.notebook_files import stamp_of

SUFFIXES: Final = (".py", ".ipynb")
NOTEBOOKS: Final = "notebooks"
"""The folder of the released kit that holds its notebooks."""


@dataclass(frozen=True, slots=True)
class Work:
    """One file in which a student may have solved the exercise of `lesson`.

    `code` is the SHA-256 of its code, and `began_with` that of the code which a notebook was exported with, or "".
    `refusal` says why the file cannot be graded; its code is "" then. A file that was `named` counts whatever its name.
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
        """Whether the file only begins with the lesson's name, as `01_correct_first (1).ipynb` does."""
        return self.path.stem != self.lesson and not self.named


@dataclass(frozen=True, slots=True)
class Choice:
    """Which file of one exercise counts. `rivals` are changed files of which the student must choose one.

    `left_out` holds each other file with work in it, and why it does not count.
    """

    lesson: str
    taken: Work | None
    rivals: tuple[Work, ...] = ()
    left_out: tuple[tuple[Work, str], ...] = ()
    others: tuple[Work, ...] = ()

    def take(self, chosen: Work) -> "Choice":
        """Return the choice as the student made it."""
        changed = self.rivals or ((self.taken,) if self.taken and self.taken.changed else ())
        same = {chosen.code}
        left = [(work, f"you chose {chosen.path}") for work in changed if work.code not in same]
        kept = [(work, why) for work, why in self.left_out if work.refusal or work.code not in same]
        return replace(self, taken=chosen, rivals=(), left_out=(*left, *kept))


def choose(lesson: str, works: Sequence[Work]) -> Choice:
    """Choose the file that counts among those found for a lesson, listed with the exercise file first. Pure."""
    named = [work for work in works if not work.is_copy and not work.refusal]
    changed = [work for work in named if work.changed]
    left = [(work, work.refusal) for work in works if work.refusal]
    rivals: list[Work] = []
    for work in changed:
        if newer := next((other for other in changed if _is_older(work, other)), None):
            left.append((work, f"{newer.path} holds a later state of the same work"))
        elif all(work.code != rival.code for rival in rivals):
            rivals.append(work)
    known = {work.code for work in named}
    left += [
        (
            work,
            f"only a file named {lesson}.py or {lesson}.ipynb counts; check FILE or submit --take FILE takes it",
        )
        for work in works
        if work.is_copy and not work.refusal and work.changed and work.code not in known
    ]
    taken = next(iter(rivals or named), None) if len(rivals) < 2 else None
    others = tuple(work for work in named if work is not taken and not work.changed)
    return Choice(lesson, taken, tuple(rivals) if len(rivals) > 1 else (), tuple(left), others)


def _is_older(work: Work, other: Work) -> bool:
    """Return whether `other` goes on from the very state that `work` is in.

    So it is when `other` was exported from it. An unedited notebook is older than the changed exercise file that it was
    exported from.
    """
    if work.code == other.code:
        return False
    return other.began_with == work.code or (work.began_with == work.code and other.path.suffix == ".py")


def places() -> tuple[Path, ...]:
    """Return the folders in which exercises lie: the exercise files first, then the kit's notebooks, then here."""
    return catalogue.EXERCISES, catalogue.KIT / NOTEBOOKS, Path.cwd()


def found(folders: Sequence[Path], lessons: Sequence[str]) -> dict[str, list[Work]]:
    """Return by lesson the files in these folders that are named like its exercise, or like a copy of it."""
    works: dict[str, list[Work]] = {lesson: [] for lesson in lessons}
    seen: set[str] = set()
    for folder in folders:
        for path in _files(folder):
            lesson = lesson_of(path)
            real = os.path.realpath(path)
            if lesson in works and real not in seen:
                seen.add(real)
                works[lesson].append(work_at(path, lesson))
    return works


def lesson_of(path: Path) -> str:
    """Return the lesson that a file is named after, or "". Longer names win, so a copy's name may go on."""
    if path.suffix not in SUFFIXES:
        return ""
    return max((name for name in catalogue.load().lessons if path.stem.startswith(name)), key=len, default="")


def work_at(path: Path, lesson: str) -> Work:
    """Read one file. What cannot be graded is a `Work` with a refusal."""
    path = _shown(path)
    submission = submission_of(path, student="", lesson=lesson)
    if submission.source is None:
        why = submission.refusal or f"{path} could not be read"
        return Work(lesson, path, "", refusal=why)
    code = originals.code_digest(submission.source)
    began_with = stamp_of(path.read_bytes(), originals.CODE) if path.suffix == ".ipynb" else ""
    return Work(lesson, path, code, code != originals.listed(lesson, originals.CODE), began_with)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder in order of name, Python before notebooks; none of one that cannot be read."""
    try:
        files = [path for path in folder.iterdir() if path.is_file()]
        yield from sorted(files, key=lambda path: (path.stem, path.suffix != ".py"))
    except OSError:
        return


def _shown(path: Path) -> Path:
    """Return a path as a student would type it: relative where it lies below the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
