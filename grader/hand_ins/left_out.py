"""Files that students handed in and that are not graded: what each is likely to be, and how to hand it in.

A file is misnamed when it may be an exercise: by its kind, by its name, or by what it holds. Other files, such as
README.txt, are listed too, but nobody needs to look at them.
"""

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from grader.hand_ins import archives
from grader.text import file_name

SUFFIXES: Final = (".py", ".ipynb")
MOST: Final = 20
"""Files of one folder or zip that are listed by name; the others are counted."""

_ARCHIVES: Final = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar")
_READ_BYTES: Final = 100_000
_WALKED: Final = 200
_CLOSE: Final = 0.75
_COPY: Final = re.compile(r"^(copy[ _-]+of[ _-]+)|[ _-]*(\(\d+\)|copy|final|-\d+)$", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(?:lesson|exercise|ex|task)?[ _-]*0*(\d+)")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that is not graded. `student` is empty where it is no student's, `lesson` where it looks like none.

    `why` says, in words for the student, why it was left out and how to hand it in.
    """

    student: str
    path: str
    lesson: str
    why: str
    misnamed: bool

    @property
    def meaning(self) -> str:
        """What it is likely to be, for the instructor; empty where nothing is known."""
        return f"looks like {self.lesson}" if self.lesson else ""


@dataclass(frozen=True, slots=True)
class Naming:
    """Names of lessons: those that the class is `graded` on, and all `known` ones."""

    graded: tuple[str, ...]
    known: tuple[str, ...]

    @classmethod
    def of(cls, graded: Sequence[str], known: Sequence[str]) -> "Naming":
        """Return the names, where `known` may lack some of the `graded` ones."""
        return cls(tuple(graded), tuple(dict.fromkeys((*graded, *known))))

    def judge(self, student: str, shown: str, path: Path | None = None) -> LeftOut:
        """Return what is to be said of a file that people know as `shown`.

        `path` is the file or folder itself; None for a file in a zip.
        """
        name = PurePosixPath(shown).name
        if path and path.is_symlink():
            return LeftOut(student, shown, "", "It is a link. Hand in the file itself.", misnamed=True)
        if path and path.is_dir():
            return self._folder(student, shown, path)
        if is_archive(name):
            why = "Archives of this kind are not opened. Hand in the files themselves, or the zip that "
            return LeftOut(student, shown, "", f"{why}`python -m grader submit` writes.", misnamed=True)
        stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
        if stem in self.known and stem not in self.graded and suffix in SUFFIXES:
            return LeftOut(student, shown, stem, f"This class is not graded on {stem}.", misnamed=False)
        lesson = likely(name, self.known)
        if not lesson and path and path.is_file() and _is_code(name):
            lesson = self._named_in(path)
        if lesson:
            return LeftOut(student, shown, lesson, self._rename(lesson, name), misnamed=True)
        if _is_code(name):
            why = f"No exercise has this name. If it is one, hand it in under the exercise's name, such as {self._any}."
            return LeftOut(student, shown, "", why, misnamed=True)
        return LeftOut(student, shown, "", "It is not an exercise (.py or .ipynb).", misnamed=False)

    @property
    def _any(self) -> str:
        return f"{self.graded[0]}.py"

    def _rename(self, lesson: str, name: str) -> str:
        suffix = ".ipynb" if name.casefold().endswith(".ipynb") else ".py"
        if lesson not in self.graded:
            return f"It looks like {lesson}, and this class is not graded on that. It is on {', '.join(self.graded)}."
        return f"It looks like {lesson}. If it is, hand it in as {lesson}{suffix}."

    def _folder(self, student: str, shown: str, path: Path) -> LeftOut:
        names = list(_names_below(path))
        lesson = next((found for name in names if (found := likely(name, self.known))), "")
        code = lesson or any(_is_code(name) or is_archive(name) for name in names)
        why = "Folders are not searched, unless their name is a time such as 2026-11-20T23-59-00."
        if code:
            why += f" Put {lesson + '.py' if lesson else 'the exercises'} beside this folder, not into it."
        return LeftOut(student, shown, lesson, why, misnamed=bool(code))

    def _named_in(self, path: Path) -> str:
        """The one lesson that a file names, as the docstring of every exercise does; empty where there is not one."""
        try:
            with path.open("rb") as file:
                text = file.read(_READ_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""
        found = [lesson for lesson in self.known if lesson in text]
        return found[0] if len(found) == 1 else ""


def listed(files: Sequence[LeftOut], where: str) -> Iterator[LeftOut]:
    """Yield the first files of a folder or zip, misnamed ones first, and one line for all others."""
    ordered = sorted(files, key=lambda one: (not one.misnamed, one.path))
    yield from ordered[:MOST]
    if rest := ordered[MOST:]:
        why = f"{len(rest)} more files in {where} are not exercises by their names."
        yield LeftOut(rest[0].student, f"{where} ({len(rest)} more)", "", why, misnamed=rest[0].misnamed)


def likely(name: str, lessons: Sequence[str]) -> str:
    """Return the lesson that a file's name resembles; empty where it resembles none."""
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
    """Tell whether a name is that of an archive."""
    return name.casefold().endswith(_ARCHIVES)


def archive_stem(name: str) -> str:
    """Return an archive's name without what says its kind: "ada.tar.gz" → "ada"."""
    while is_archive(name):
        name = PurePosixPath(name).stem
    return name


def _is_code(name: str) -> bool:
    return name.casefold().endswith(SUFFIXES)


def _names_below(folder: Path) -> Iterator[str]:
    """Names of the first files below a folder; links are not followed."""
    seen = 0
    for _, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not archives.is_junk(file_name(name)))
        for name in sorted(files):
            seen += 1
            if seen > _WALKED:
                return
            if not archives.is_junk(file_name(name)):
                yield file_name(name)
