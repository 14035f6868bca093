"""Read the code that is compared: of all attempts in a database of grades, or in a folder of hand-ins."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader import catalogue, paths
from grader.authoring import stubs
from grader.class_run import database, journal
from grader.class_run.journal import Journal
from grader.hand_ins.collect import collect
from grader.similarity.pairs import Code
from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class CodeFile:
    """One attempt of a student. `text` is None if the code is not known. `file` names the handed-in file.

    `team` has the students of the student's team in the course file, if there is one.
    """

    student: str
    lesson: str
    path: str
    file: tuple[str, str, str]
    text: str | None
    at: datetime | None
    team: tuple[str, ...] = ()


def of_class(book: Journal) -> list[CodeFile]:
    """Return the attempts in the database of grades, without those that the course file strikes."""
    course = book.course()
    found = list[CodeFile]()
    for given, at, text in book.sources():
        if not course.strikes(given.student, given.lesson, given.sha256):
            team, file = course.team(given.student, given.lesson), (given.folder, given.path, given.content)
            found.append(
                CodeFile(given.student, given.lesson, given.path, file, text, at, team.students if team else ())
            )
    return found


def of_earlier(place: Path) -> list[CodeFile]:
    """Return the attempts of an earlier term: of a folder that `run` wrote, or of a folder or zip of hand-ins."""
    if (place / database.FILE).is_file():
        try:
            with journal.read(place) as book:
                return of_class(book)
        except UsageError as fault:
            raise UsageError(f"{fault} Or give the folder with the hand-ins of this term as --earlier.") from fault
    known = catalogue.load()
    found = collect(place, known.lessons, kit=catalogue.kit_version(), known=known.functions)
    return [
        CodeFile(
            one.student,
            one.lesson,
            one.path,
            ("", one.path, one.content),
            None if one.source is None else str(one.source),
            one.handed_in,
        )
        for one in found.submissions
    ]


def codes(files: Iterable[CodeFile], counting: Collection[tuple[str, str, str]] = (), term: str = "") -> Iterator[Code]:
    """Yield the code of each file once. Students for whom the same file was handed in are its authors together.

    `counting` has the student, lesson and content of each attempt that counts; without it, the last attempt counts.
    """
    files = [one for one in files if one.text is not None]
    last = {(one.student, one.lesson): one for one in sorted(files, key=_by_time)}
    team = _teams(files)
    seen = set[tuple[str, str, str]]()
    for one in sorted(files, key=lambda one: (one.student, one.lesson, one.file)):
        authors, content = team[one.student, one.lesson], one.file[2]
        if (authors, one.lesson, content) in seen:
            continue
        seen.add((authors, one.lesson, content))
        counts = (one.student, one.lesson, content) in counting if counting else last[one.student, one.lesson] is one
        digest = hashlib.sha256((one.text or "").encode(errors="surrogatepass")).hexdigest()
        yield Code(authors, one.path, one.text or "", digest, one.lesson, term, one.at, counts)


def _by_time(one: CodeFile) -> tuple[bool, str, str]:
    return one.at is not None, one.at.isoformat() if one.at else "", one.path


def _teams(files: Sequence[CodeFile]) -> dict[tuple[str, str], str]:
    """Return the authors' names for each student and lesson.

    Students in one team of the course file, and students for whom the same file was handed in, are authors together.
    """
    teams: dict[tuple[str, str], set[str]] = {}
    of_file: dict[tuple[str, tuple[str, str, str]], set[str]] = {}
    for one in files:
        of_file.setdefault((one.lesson, one.file), set()).update({one.student, *one.team})
    for (lesson, _), students in of_file.items():
        together = students.union(*(teams.get((student, lesson), ()) for student in students))
        teams.update({(student, lesson): together for student in together})
    return {key: " and ".join(sorted(students)) for key, students in teams.items()}


def stub_of(lesson: str) -> str:
    """Return the text of a lesson's exercise as the kit has it, or "" for an unknown lesson."""
    if paths.solution(lesson).is_file():  # students and instructors edit the exercise file itself
        return stubs.stub_of(paths.solution(lesson).read_text(encoding="utf-8"))
    return paths.stub(lesson).read_text(encoding="utf-8") if paths.stub(lesson).is_file() else ""
