"""Make a course to try the server: ten students, two of staff, and real hand-ins of different quality."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Final

from grader import catalogue, overlays, paths
from grader.errors import UsageError
from grader.reports.csv_file import csv_text
from grader.server import accounts, intake, invitations
from grader.server.accounts import Use
from grader.server.course_folder import CourseFolder

_MARK: Final = "# Made by `fairclock serve --demo`. You may change all of it."
_PAST, _LAST, _NEXT = "02_timeit_vs_timer", "04_autorange", "03_cuda_sync"
_NAMES: Final = (
    "Ren Ota",
    "José García",
    "王伟",
    "Ngozi Okafor",
    "Ивана Петровић",
    "Zoë Müller",
    "Amina Hassan",
    "Liam O'Brien",
    "Priya Nair",
    "Tom Lee",
)
_STUDENT, _ASSISTANT, _INSTRUCTOR = _NAMES[0], "assistant@uni.example", "instructor@uni.example"
_LATE: Final = frozenset({3, 7})  # the places of students who hand in after the due date
_ABSENT: Final = 9

_COURSE: Final = """{mark}
title = "Measuring Python, a demo"
timezone = "UTC"
attempts = "best"

[late]
percent_per_day = 10

[slip_days]
budget = 1
spend = "best"

[quota]
attempts = 5
refill_hours = 4

[lessons.{past}]
due = {past_due:%Y-%m-%d}

[lessons.{last}]
due = {last_due:%Y-%m-%d}

[lessons.{next}]
due = {next_due:%Y-%m-%d}

[extensions."{extended}"]
{last} = "5 days"

[teams.owls]
students = ["{mates[0]}", "{mates[1]}"]
lessons = ["{next}"]

[staff]
instructors = ["{instructor}"]
assistants = ["{assistant}"]
"""


def make(path: Path) -> None:
    """Make the folder `path` of a demo course. A folder that this function made before stays as it is.

    Raise `UsageError` if the folder has other files.
    """
    course = CourseFolder(path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        if course.course_file.is_file() and course.course_file.read_text(encoding="utf-8").startswith(_MARK):
            return
        raise UsageError(f"{path} exists and is no demo. Name a new folder: fairclock serve --demo FOLDER")
    now = datetime.now(UTC)
    dates = {
        "past_due": now - timedelta(days=9),
        "last_due": now - timedelta(days=2),
        "next_due": now + timedelta(days=5),
    }
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    people = [
        [str(700100 + n), name, f"student{n}@uni.example", "tuesday" if n % 2 else "monday"]
        for n, name in enumerate(_NAMES)
    ]
    course.roster_file.write_text(csv_text([["id", "name", "email", "section"], *people], "\n"), encoding="utf-8")
    lessons = {"past": _PAST, "last": _LAST, "next": _NEXT}
    staff = {"instructor": _INSTRUCTOR, "assistant": _ASSISTANT}
    text = _COURSE.format(mark=_MARK, extended=_NAMES[3], mates=_NAMES[4:6], **dates, **lessons, **staff)
    course.course_file.write_text(text, encoding="utf-8")
    course.prepare()
    _hand_in(course, {_PAST: dates["past_due"], _LAST: dates["last_due"], _NEXT: now})


def _hand_in(course: CourseFolder, ends: dict[str, datetime]) -> None:
    """Store the students' hand-ins, about a day before the time in `ends`, and a request for another grading."""
    given = []
    for lesson, end in ends.items():
        works = [*_works(lesson)]
        for number, name in enumerate(_NAMES[:_ABSENT]):
            at = (
                end
                - timedelta(hours=2 * number + 5)
                + timedelta(days=2 * (number in _LATE and end != max(ends.values())))
            )
            given.append((at, name, lesson, works[3 * number % len(works)]))
            if number % 4 == 0:  # an earlier attempt
                given.append((at - timedelta(hours=3), name, lesson, works[(3 * number + 1) % len(works)]))
    with course.opened() as opened:
        for at, name, lesson, text in sorted(given):
            receipt = intake.store(course, opened, name, BytesIO(text.encode()), f"{lesson}.py", lesson, at)
            intake.read(course, receipt.number)
        with opened.book.transaction() as db:
            sentence = "My function is right on my machine. Please look at it again."
            row = (_NAMES[1], _LAST, sentence, datetime.now(UTC).isoformat())
            db.execute("INSERT INTO requests (student, lesson, sentence, at_utc) VALUES (?, ?, ?, ?)", row)


def _works(lesson: str) -> Iterator[str]:
    """Yield texts that students could hand in: all known submissions, the solution, and an unfinished exercise.

    A student kit lacks most of them.
    """
    yield paths.stub(lesson).read_text(encoding="utf-8") + "\n# I have not finished this.\n"
    for task in catalogue.load().tasks(lesson):
        yield from (overlays.whole(path) for path in sorted(task.known.glob("*.py")))
    if paths.solution(lesson).is_file():
        yield paths.solution(lesson).read_text(encoding="utf-8")


def links(path: Path, url: str) -> tuple[str, ...]:
    """Return a line with a new personal link for a student, an assistant and an instructor of the demo."""
    lines = []
    with CourseFolder(path).opened() as opened, opened.book.transaction() as db:
        for name in (_STUDENT, _ASSISTANT, _INSTRUCTOR):
            one = invitations.named(opened, name)
            token = accounts.issue(db, one, Use.LINK, datetime.now(UTC))
            lines.append(f"{one.role.name.lower():10} {name:22} {url}/login#{token}")
    return tuple(lines)
