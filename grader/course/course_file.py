"""`course.toml` has due dates, the rules on lateness, extensions, and the rule that chooses the attempt that counts.

The page `grader/class_run/README.md` has an example with every key.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from grader.course.dates import Extension, LocalTime
from grader.course.entries import MOST_DAYS, NAMED, Entry, load
from grader.course.policy import NO_PENALTY, DateRule, LatePenalty, Which
from grader.files import read_text_file

MAX_BYTES: Final = 1 << 20
ALL: Final = "all"
_KEYS = ("title", "timezone", "attempts", "students", "drop_lowest", "late", "lessons", *NAMED)
_OF_A_LESSON = ("due", "closes", "attempts")


@dataclass(frozen=True, slots=True)
class Dates:
    """The due date, the closing date and the choice of the attempt that counts, for one lesson."""

    due: LocalTime | None = None
    closes: LocalTime | None = None
    which: Which | None = None


@dataclass(frozen=True)
class Course:
    """The rules of a course: due dates, lateness, extensions, and which attempt counts. `text` is the course file.

    `files` has the lessons of misnamed files by student, or by "" for all students. `weights` has the lessons with a
    weight. The names of students are in the Unicode form NFC.
    """

    text: str = ""
    title: str = ""
    zone: tzinfo = UTC
    which: Which = Which.LATEST
    late: LatePenalty = NO_PENALTY
    closes_after: timedelta | None = None
    lessons: Mapping[str, Dates] = field(default_factory=dict)
    sections: Mapping[str, tuple[frozenset[str], Mapping[str, Dates]]] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, LocalTime | Extension]] = field(default_factory=dict)
    struck: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    students: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    extra_credit: frozenset[str] = frozenset()
    drop_lowest: int = 0

    def strikes(self, student: str, lesson: str, sha256: str) -> bool:
        """Return whether the course file excludes the attempt whose file has this SHA-256. It then does not count."""
        return sha256.startswith(self.struck.get(student, {}).get(lesson, ()))

    def lesson_of(self, student: str, path: str) -> str | None:
        """Return the lesson of a misnamed file, or None. `path` is the file's path as reports show it.

        A name in the course file means each file with this name, and a path each file whose path ends with it. Upper
        and lower case are equal.
        """
        parts = _parts(path)
        for whose in (student, ""):
            for given, lesson in self.files.get(whose, {}).items():
                wanted = _parts(given)
                if wanted == parts[-len(wanted) :]:
                    return lesson
        return None

    def rule(self, student: str, lesson: str) -> DateRule:
        """Return the dates and the penalty for lateness that hold for a student in a lesson."""
        dates = self.lessons.get(lesson, Dates())
        due, closes, which = dates.due, dates.closes, dates.which
        for students, by_lesson in self.sections.values():
            own = by_lesson.get(lesson, Dates()) if student in students else Dates()
            due, closes = _moved(due, closes, own.due)
            closes, which = own.closes or closes, own.which or which
        if closes and not due:
            closes = self._extended(student, lesson, closes)
        else:
            due, closes = _moved(due, closes, self._extended(student, lesson, due))
        if closes is None and due and self.closes_after is not None:
            closes = due.later(self.closes_after)
        if due and closes and closes.utc < due.utc:  # a lesson without a due date has a closing date, too
            closes = due
        return DateRule(which or self.which, due, closes, self.late, None if due == dates.due else dates.due)

    def _extended(self, student: str, lesson: str, due: LocalTime | None) -> LocalTime | None:
        given = self.extensions.get(student, {})
        to = given.get(lesson, given.get(ALL))
        if isinstance(to, Extension):
            return to.of(due) if due else None
        if lesson not in given and (to is None or due is None or to.utc < due.utc):
            return due  # `all` makes no lesson due earlier
        return to


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(unicodedata.normalize("NFC", path).casefold()).parts


def _moved(
    due: LocalTime | None, closes: LocalTime | None, to: LocalTime | None
) -> tuple[LocalTime | None, LocalTime | None]:
    if to and due and closes:
        closes = closes.later(to.wall - due.wall)
    return to or due, closes


def parse(text: str, name: str, lessons: Sequence[str] = ()) -> Course:
    """Return the rules in the text of a course file called `name`. With `lessons`, it may only name these lessons.

    Raise `UsageError`, which quotes the line and names a correct value.
    """
    return _parse(text, name, tuple(lessons))


@lru_cache(maxsize=8)
def _parse(text: str, name: str, lessons: tuple[str, ...]) -> Course:
    top = load(text, name).table(*_KEYS)
    zone, extended = top["timezone"].zone(), (*lessons, ALL) if lessons else ()
    late = top["late"].table("percent_per_day", "grace_minutes", "at_most_percent", "closes_after_days")
    closes_after = late["closes_after_days"]
    sections = {title: one.table("students", "lessons") for title, one in top["sections"].each().items()}
    extensions = {student: one.each(extended) for student, one in top["extensions"].each().items()}
    struck = {student: one.each(lessons) for student, one in top["struck"].each().items()}
    of_lessons = _tables(top["lessons"], lessons, (*_OF_A_LESSON, "weight", "extra_credit"))
    dates = _dates(of_lessons, zone)

    def section(table: Entry) -> dict[str, Dates]:
        return _dates(_tables(table, lessons, _OF_A_LESSON), zone, dates)

    return Course(
        text=text,
        title=top["title"].of(str, 'a text, such as "Measuring"'),
        zone=zone or UTC,
        which=top["attempts"].which() or Which.LATEST,
        late=LatePenalty(
            late["percent_per_day"].number(0.0, 100) / 100,
            timedelta(minutes=late["grace_minutes"].number(0.0)),
            late["at_most_percent"].number(100.0, 100) / 100,
        ),
        closes_after=timedelta(days=closes_after.number(0.0, MOST_DAYS)) if closes_after.is_given else None,
        lessons=dates,
        sections={
            title: (
                frozenset(one["students"].names()),
                _dates(_tables(one["lessons"], lessons, _OF_A_LESSON), zone, dates),
            )
            for title, one in sections.items()
        },
        extensions={
            who: {lesson: one.extension(zone) for lesson, one in own.items()} for who, own in extensions.items()
        },
        struck={who: {lesson: one.digests() for lesson, one in own.items()} for who, own in struck.items()},
        files=_files(top["files"], lessons),
        students=top["students"].names(),
        weights={lesson: own["weight"].number(0) for lesson, own in of_lessons.items() if own["weight"].is_given},
        extra_credit=frozenset(
            lesson for lesson, own in of_lessons.items() if own["extra_credit"].of(bool, "true or false")
        ),
        drop_lowest=int(top["drop_lowest"].number(0, 100, whole=True)),
    )


def read(file: Path | None, lessons: Sequence[str]) -> Course | None:
    """Return the rules in a course file, or None without a file. Raise `UsageError` if it is unreadable or wrong."""
    return parse(read_text_file(file, MAX_BYTES, "The course file"), str(file), lessons) if file else None


def _tables(table: Entry, lessons: Sequence[str], keys: Sequence[str]) -> dict[str, dict[str, Entry]]:
    return {lesson: entry.table(*keys) for lesson, entry in table.each(lessons).items()}


def _dates(
    tables: Mapping[str, Mapping[str, Entry]], zone: tzinfo | None, of_class: Mapping[str, Dates] = MappingProxyType({})
) -> dict[str, Dates]:
    dates = {
        lesson: Dates(own["due"].moment(zone), own["closes"].moment(zone), own["attempts"].which())
        for lesson, own in tables.items()
    }
    for lesson, one in dates.items():
        due = one.due or of_class.get(lesson, Dates()).due
        if due and one.closes and one.closes.utc < due.utc:
            raise tables[lesson]["closes"].wrong("a date after the due date")
    return dates


def _files(table: Entry, lessons: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, entry in table.each().items():
        for file, one in (entry.each() if isinstance(entry.value, dict) else {name: entry}).items():
            if "." not in file or not isinstance(one.value, str) or (lessons and one.value not in lessons):
                raise one.wrong(f'a lesson for the name of a file in quotes, such as "hw2.py" = "{(*lessons, "")[0]}"')
            found.setdefault(name if one is not entry else "", {})[file] = one.value
    return found
