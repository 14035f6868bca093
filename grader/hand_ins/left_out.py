"""List the files from students that are not graded, with a guess at what each file is."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from grader.hand_ins.entries import FolderEntry, Kind
from grader.hand_ins.refusal import Refusal, kind_of
from grader.records import LeftOut

SUFFIXES: Final = (".py", ".ipynb")
MAX_LISTED: Final = 20
"""The maximum number of files of one folder or zip that are listed by name. Further files are only counted."""

LessonOf = Callable[[str, str], str | None]

OTHER: Final = "It is not an exercise (.py or .ipynb)."
"""The reason why a file is not graded that does not look like an exercise."""

_ARCHIVES: Final = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar", ".zipx")
_READ_BYTES: Final = 200_000
_CLOSE: Final = 0.75
_COPY: Final = re.compile(
    r"^(copy|kopie|copia|copie)[ _-]+(of|von|de)[ _-]+|"
    r"[ _-]*(\(\d+\)|(copy|kopie|copia|copie)( \d+)?|final|-\d+)$",
    re.IGNORECASE,
)
_SUFFIX: Final = re.compile(r"\.[A-Za-z]\w*$")
_CODE: Final = re.compile(r"\.(py|ipynb)(?!\w)")
_DEFINED: Final = re.compile(r"""(?:^|["'\\n])[ \t]*(?:async +)?def +(\w+) *\(""", re.MULTILINE)
_NUMBERED: Final = re.compile(r"(?:lesson|exercise|ex|task)?[ _-]*0*(\d+)")


def _no_lesson(_student: str, _path: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class LessonNames:
    """The lessons that are `graded` in this class, and all `known` lessons of the course with their functions.

    `by_name` has the graded lessons by folded file name. `lesson_of` returns the lesson of a student's misnamed file by
    its name or path, or None.
    """

    graded: tuple[str, ...]
    known: Mapping[str, Collection[str]]
    by_name: Mapping[str, str]
    lesson_of: LessonOf = _no_lesson

    @classmethod
    def of(
        cls,
        graded: Sequence[str],
        known: Mapping[str, Collection[str]] | Sequence[str] = (),
        lesson_of: LessonOf = _no_lesson,
    ) -> "LessonNames":
        """Return an object with these names. All `graded` lessons become `known` too."""
        functions = known if isinstance(known, Mapping) else dict.fromkeys(known, ())
        all_ = {lesson: functions.get(lesson, ()) for lesson in (*graded, *known)}
        return cls(tuple(graded), all_, {folded(f"{one}{end}"): one for one in graded for end in SUFFIXES}, lesson_of)

    def exercise(self, name: str, students: Sequence[str] = (), shown: str = "") -> tuple[str, str]:
        """Return the graded lesson and the suffix of a file, or two empty texts if the file is not an exercise.

        `name` is the file's name, in which upper and lower case are equal. `shown` is its path in reports.
        """
        suffix = PurePosixPath(folded(name)).suffix
        if suffix not in SUFFIXES:
            return "", ""
        mapped = (self.lesson_of(one, path) for one in students[:1] for path in (shown, name))
        lesson = next(filter(None, mapped), None) or self.by_name.get(folded(name), "")
        return (lesson, suffix) if lesson in self.graded else ("", "")

    def classify(self, name: str, entry: FolderEntry) -> LeftOut:
        """Return why the file of an entry is not graded. `name` is the file's name as the student wrote it."""
        by_name = bool(_CODE.search(folded(name)))
        lesson = likely_lesson(name, self.known)
        stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
        if entry.kind is not Kind.FILE:
            what = "a link" if entry.kind is Kind.LINK else "a device, a pipe or a folder that cannot be opened"
            return LeftOut("", entry.shown, "", f"It is {what}. Hand in the file itself.", misnamed=by_name)
        if stem in self.known and stem not in self.graded and suffix in SUFFIXES:
            return LeftOut("", entry.shown, stem, f"{stem} is not graded in this class.", misnamed=False)
        data = _beginning(entry)
        text, kind = data.decode("utf-8", "replace"), kind_of(data)
        kind = kind or ("an archive that the grader does not open" if is_archive(name) else "")
        if kind:
            instead = "the files themselves" if is_archive(name) else f"{lesson}.py or {lesson}.ipynb"
            advice = f" Hand in {instead}." if is_archive(name) or lesson in self.graded else ""
            return LeftOut("", entry.shown, lesson, f"It is {kind}, and no exercise.{advice}", misnamed=False)
        misnamed = by_name or bool(lesson and _DEFINED.search(text))
        lesson = lesson or (self._named_in(text) if by_name else "")
        if self.exercise(name)[0]:
            why = "Put it into a folder with the student's name."
        elif misnamed and lesson in self.graded:
            ending = ".ipynb" if ".ipynb" in name.casefold() else ".py"
            why = f"It looks like {lesson}. If it is, hand it in as {lesson}{ending}."
        elif misnamed and lesson:
            why = f"It looks like {lesson}, which is not graded in this class. Graded: {', '.join(self.graded)}."
        elif misnamed:
            why = f"No exercise has this name. If it is an exercise, rename it, for example to {self.graded[0]}.py."
        else:
            why = f"{OTHER} Hand in {lesson}.py or {lesson}.ipynb." if lesson in self.graded else OTHER
        return LeftOut("", entry.shown, lesson, why, misnamed=misnamed, name=name)

    def _named_in(self, text: str) -> str:
        defined = set(_DEFINED.findall(text))
        written = [lesson for lesson, names in self.known.items() if names and defined.issuperset(names)]
        found = written or [lesson for lesson in self.known if lesson in text]
        return found[0] if len(found) == 1 else ""


def _beginning(entry: FolderEntry) -> bytes:
    try:
        return entry.read(_READ_BYTES, cut=True)
    except (OSError, Refusal):
        return b""


def folded(name: str) -> str:
    """Return a file name in a form that is equal for names that some file systems treat as the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def listed(files: Sequence[LeftOut], where: str) -> list[LeftOut]:
    """Return at most `MAX_LISTED` files of the folder or zip `where`, misnamed first, and an entry on all others."""
    ordered = sorted(files, key=lambda one: (not one.misnamed, one.path))
    rest = ordered[MAX_LISTED:]
    why = f"{len(rest)} more files in {where} do not have the names of exercises."
    more = [LeftOut(one.student, f"{where} ({len(rest)} more)", "", why, misnamed=one.misnamed) for one in rest[:1]]
    return ordered[:MAX_LISTED] + more


def likely_lesson(name: str, lessons: Collection[str]) -> str:
    """Return the lesson whose name a file's name resembles, or "" when it resembles none."""
    stem = name.strip()
    while (shorter := _SUFFIX.sub("", _COPY.sub("", stem)).strip()) != stem:
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
