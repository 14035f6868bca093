"""List the files from students that are not graded, with a guess at what each file is."""

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from grader.files import file_name
from grader.hand_ins import archives

SUFFIXES: Final = (".py", ".ipynb")
MAX_LISTED: Final = 20
"""The maximum number of files of one folder or zip that are listed by name. Further files are only counted."""

_ARCHIVES: Final = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar")
_READ_BYTES: Final = 100_000
_WALKED: Final = 200
_CLOSE: Final = 0.75
_COPY: Final = re.compile(r"^(copy[ _-]+of[ _-]+)|[ _-]*(\(\d+\)|copy|final|-\d+)$", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(?:lesson|exercise|ex|task)?[ _-]*0*(\d+)")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is not graded.

    `student` is empty when the file belongs to no student. `lesson` is the lesson that the file resembles, or empty.
    `why` gives the student the reason, with advice. `misnamed` is True if the file seems to be an exercise.
    """

    student: str
    path: str
    lesson: str
    why: str
    misnamed: bool

    @property
    def meaning(self) -> str:
        """A guess for the instructor, such as "looks like 03_cuda_sync", or "" without a guess."""
        return f"looks like {self.lesson}" if self.lesson else ""


@dataclass(frozen=True, slots=True)
class LessonNames:
    """The lessons that are `graded` in this class, and all `known` lessons of the course."""

    graded: tuple[str, ...]
    known: tuple[str, ...]

    @classmethod
    def of(cls, graded: Sequence[str], known: Sequence[str]) -> "LessonNames":
        """Return an object with these names. All `graded` lessons become `known` too."""
        return cls(tuple(graded), tuple(dict.fromkeys((*graded, *known))))

    def classify(self, student: str, shown: str, path: Path | None = None) -> LeftOut:
        """Return why a file is not graded. `shown` is its path in reports. `path` is None for a file in a zip."""
        name = PurePosixPath(shown).name
        if path and path.is_symlink():
            return LeftOut(student, shown, "", "It is a link. Hand in the file itself.", misnamed=True)
        if path and path.is_dir():
            return self._folder(student, shown, path)
        if is_archive(name):
            why = "The grader does not open archives of this kind. Hand in the files themselves, or the zip that "
            return LeftOut(student, shown, "", f"{why}`python -m grader submit` writes.", misnamed=True)
        stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
        if stem in self.known and stem not in self.graded and suffix in SUFFIXES:
            return LeftOut(student, shown, stem, f"{stem} is not graded in this class.", misnamed=False)
        lesson, code = likely_lesson(name, self.known), _is_code(name)
        if not lesson and path and path.is_file() and code:
            lesson = self._named_in(path)
        if lesson in self.graded:
            ending = ".ipynb" if name.casefold().endswith(".ipynb") else ".py"
            why = f"It looks like {lesson}. If it is, hand it in as {lesson}{ending}."
        elif lesson:
            why = f"It looks like {lesson}, which is not graded in this class. Graded: {', '.join(self.graded)}."
        elif code:
            why = f"No exercise has this name. If it is an exercise, rename it, for example to {self.graded[0]}.py."
        else:
            why = "It is not an exercise (.py or .ipynb)."
        return LeftOut(student, shown, lesson, why, misnamed=bool(lesson) or code)

    def _folder(self, student: str, shown: str, path: Path) -> LeftOut:
        names = [name for name in islice(_names_below(path), _WALKED) if not archives.is_junk(name)]
        lesson = next((found for name in names if (found := likely_lesson(name, self.known))), "")
        code = lesson or any(_is_code(name) or is_archive(name) for name in names)
        why = "The grader searches a folder only if its name is a time such as 2026-11-20T23-59-00."
        if code:
            why += f" Put {lesson + '.py' if lesson else 'the exercises'} beside this folder, not into it."
        return LeftOut(student, shown, lesson, why, misnamed=bool(code))

    def _named_in(self, path: Path) -> str:
        try:
            with path.open("rb") as file:
                text = file.read(_READ_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""
        found = [lesson for lesson in self.known if lesson in text]
        return found[0] if len(found) == 1 else ""


def listed(files: Sequence[LeftOut], where: str) -> list[LeftOut]:
    """Return at most `MAX_LISTED` files of the folder or zip `where`, misnamed first, and an entry on all others."""
    ordered = sorted(files, key=lambda one: (not one.misnamed, one.path))
    rest = ordered[MAX_LISTED:]
    why = f"{len(rest)} more files in {where} do not have the names of exercises."
    more = [LeftOut(one.student, f"{where} ({len(rest)} more)", "", why, misnamed=one.misnamed) for one in rest[:1]]
    return ordered[:MAX_LISTED] + more


def likely_lesson(name: str, lessons: Sequence[str]) -> str:
    """Return the lesson whose name a file's name resembles, or "" when it resembles none."""
    stem = name.strip()
    while (path := PurePosixPath(stem)).suffix.casefold() in {*SUFFIXES, ".txt"}:
        stem = path.stem
    while (shorter := _COPY.sub("", stem).strip()) != stem:
        stem = shorter
    plain = re.sub(r"[^a-z0-9]+", "_", stem.casefold()).strip("_")
    folded = {lesson.casefold(): lesson for lesson in lessons}
    if close := difflib.get_close_matches(plain, folded, 1, _CLOSE):
        return folded[close[0]]
    if number := _NUMBERED.fullmatch(stem.casefold()):
        same = [lesson for lesson in lessons if re.match(rf"0*{number[1]}_", lesson)]
        return same[0] if len(same) == 1 else ""
    return ""


def is_archive(name: str) -> bool:
    """Return whether a file name ends like the name of an archive, such as a zip."""
    return name.casefold().endswith(_ARCHIVES)


def student_of_archive(name: str) -> str:
    """Return the student whose archive has this file name, such as "ada" for "ada.tar.gz", or "" for other files."""
    stem = name
    while is_archive(stem):
        stem = PurePosixPath(stem).stem
    return stem if stem != name else ""


def _is_code(name: str) -> bool:
    return name.casefold().endswith(SUFFIXES)


def _names_below(folder: Path) -> Iterator[str]:
    for _, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not archives.is_junk(file_name(name)))
        yield from map(file_name, sorted(files))
