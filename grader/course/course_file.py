"""`course.toml` has due dates, the rules on lateness, extensions, and the rule that chooses the attempt that counts.

The page `grader/class_run/README.md` has an example with every key. A student who is named in the file but is not in
the class is an error, because the name may be misspelt.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.course.policy import NO_PENALTY, DateRule, LatePenalty, Which
from harness.errors import UsageError

KEYS = ("title", "timezone", "attempts", "students", "late", "lessons", "extensions", "sections", "struck")
ALL = "all"
_SHOWN = 8
_MOMENT = "a date such as 2026-11-20T23:59:00"
_MORE = re.compile(r"(\d+(?:\.\d+)?) (hour|day|week)s?")
_SHA256 = re.compile(r"[0-9a-f]{8,64}")
_LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}


@dataclass(frozen=True, slots=True)
class Dates:
    """The due date, the closing date and the choice of the attempt that counts, for one lesson."""

    due: datetime | None = None
    closes: datetime | None = None
    which: Which | None = None


@dataclass(frozen=True)
class Course:
    """The rules of a course: due dates, lateness, extensions, and which attempt counts. `text` is the course file."""

    text: str = ""
    title: str = ""
    zone: tzinfo = UTC
    which: Which = Which.LATEST
    late: LatePenalty = NO_PENALTY
    closes_after: timedelta | None = None
    lessons: Mapping[str, Dates] = field(default_factory=dict)
    sections: Mapping[str, tuple[frozenset[str], Mapping[str, Dates]]] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, datetime | timedelta]] = field(default_factory=dict)
    struck: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    students: tuple[str, ...] = ()

    def strikes(self, student: str, lesson: str, sha256: str) -> bool:
        """Return whether the course file excludes the attempt whose file has this SHA-256. It then does not count."""
        return sha256.startswith(self.struck.get(student, {}).get(lesson, ()))

    def rule(self, student: str, lesson: str) -> DateRule:
        """Return the dates and the penalty for lateness that hold for a student in a lesson."""
        dates = self.lessons.get(lesson, Dates())
        due, closes = dates.due, dates.closes
        if closes is None and due is not None and self.closes_after is not None:
            closes = due + self.closes_after
        own = [by_lesson.get(lesson, Dates()) for students, by_lesson in self.sections.values() if student in students]
        given = self.extensions.get(student, {})
        for more, closing in (*((one.due, one.closes) for one in own), (given.get(lesson, given.get(ALL)), None)):
            to = (due + more if due else None) if isinstance(more, timedelta) else more
            if to and due and closes:
                closes += to - due
            due, closes = to or due, closing or closes
        return DateRule(dates.which or self.which, due, closes, self.late, None if due == dates.due else dates.due)

    def require_known(self, handed_in: Iterable[str], name: str) -> None:
        """Raise `UsageError` if this course file, called `name`, names a student who is not in the class."""
        known = sorted({*handed_in, *self.students})
        for where, student in self._named():
            if student not in known:
                near = difflib.get_close_matches(student, known, 1) or [one for one in known if one in student][:1]
                meant = f"did you mean {near[0]}? " if near else f"students: {', '.join(known[:_SHOWN])}. "
                listed = f'students = ["{student}"]'
                raise UsageError(
                    f"{name}: {where} names {student!r}, who is not in this class; {meant}"
                    f"If the student is enrolled but has handed in nothing, write at the top: {listed}."
                )

    def _named(self) -> Iterator[tuple[str, str]]:
        yield from ((f"extensions.{student}", student) for student in self.extensions)
        for section, (students, _) in self.sections.items():
            yield from ((f"sections.{section}.students", student) for student in sorted(students))
        yield from ((f"struck.{student}", student) for student in self.struck)


def parse(text: str, name: str, lessons: Sequence[str] = ()) -> Course:
    """Return the rules in the text of a course file called `name`. With `lessons`, it may only name these lessons.

    Raise `UsageError`, which names the wrong key and a correct value.
    """
    try:
        top = _Entry(name, "", tomllib.loads(text)).table(*KEYS)
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"{name} is not TOML: {str(fault).rstrip('.')}.") from None
    if not isinstance(top["title"].value, str | None):
        raise top["title"].wrong('a text, such as "Measuring"')
    zone, extended = top["timezone"].zone(), (*lessons, ALL) if lessons else ()
    late = top["late"].table("percent_per_day", "grace_minutes", "at_most_percent", "closes_after_days")
    closes_after = late["closes_after_days"]
    sections = {title: one.table("students", "lessons") for title, one in top["sections"].each().items()}
    extensions = {student: one.each(extended) for student, one in top["extensions"].each().items()}
    struck = {student: one.each(lessons) for student, one in top["struck"].each().items()}
    return Course(
        text=text,
        title=top["title"].value or "",
        zone=zone or UTC,
        which=top["attempts"].which() or Which.LATEST,
        late=LatePenalty(
            late["percent_per_day"].number(0.0, 100) / 100,
            timedelta(minutes=late["grace_minutes"].number(0.0)),
            late["at_most_percent"].number(100.0, 100) / 100,
        ),
        closes_after=None if closes_after.value is None else timedelta(days=closes_after.number(0.0)),
        lessons=_lessons(top["lessons"], zone, lessons),
        sections={
            title: (frozenset(one["students"].names()), _lessons(one["lessons"], zone, lessons))
            for title, one in sections.items()
        },
        extensions={
            who: {lesson: one.extension(zone) for lesson, one in own.items()} for who, own in extensions.items()
        },
        struck={who: {lesson: one.digests() for lesson, one in own.items()} for who, own in struck.items()},
        students=top["students"].names(),
    )


def read(file: Path | None, lessons: Sequence[str]) -> Course | None:
    """Return the rules in a course file, or None without a file. Raise `UsageError` if it is unreadable or wrong."""
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(
            f"{file} cannot be read ({fault}); give the path of the course file, such as course.toml."
        ) from None
    return parse(text, str(file), lessons)


def _lessons(table: "_Entry", zone: tzinfo | None, lessons: Sequence[str]) -> dict[str, Dates]:
    found = {lesson: entry.table("due", "closes", "attempts") for lesson, entry in table.each(lessons).items()}
    dates = {
        lesson: Dates(own["due"].moment(zone), own["closes"].moment(zone), own["attempts"].which())
        for lesson, own in found.items()
    }
    for lesson, one in dates.items():
        if one.due and one.closes and one.closes < one.due:
            raise found[lesson]["closes"].wrong("a date after the due date")
    return dates


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of a course file and its value, or None if the file lacks the key. The methods raise `UsageError`."""

    file: str
    key: str
    value: object = None

    def wrong(self, instead: str) -> UsageError:
        return UsageError(f"{self.file}: {self.key} is wrong; write {instead}.")

    def table(self, *keys: str) -> dict[str, "_Entry"]:
        """Return the entries of this table with these keys. No other key is allowed."""
        found = self.each(keys)
        return {key: found.get(key, _Entry(self.file, self._path(key))) for key in keys}

    def each(self, known: Sequence[str] = ()) -> dict[str, "_Entry"]:
        """Return all entries of this table. With `known`, other keys are not allowed."""
        value = {} if self.value is None else self.value
        if not isinstance(value, dict):
            raise self.wrong(f"a table, that is a line [{self.key}] with keys below it")
        for key in value if known else ():
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                meant = f"write {self._path(near[0])}" if near else f"allowed keys: {', '.join(known)}"
                raise UsageError(f"{self.file}: {self._path(key)} is not allowed here; {meant}.")
        return {key: _Entry(self.file, self._path(key), one) for key, one in value.items()}

    def _path(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key else key

    def names(self) -> tuple[str, ...]:
        students = [] if self.value is None else self.value
        if not isinstance(students, list) or not all(isinstance(one, str) for one in students):
            raise self.wrong('a list of names, such as ["ada", "bob"]')
        return tuple(students)

    def number(self, default: float, most: float = 1e4) -> float:
        value = default if self.value is None else self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise self.wrong(f"a number from 0 to {most:g}")
        return float(value)

    def which(self) -> Which | None:
        found = next((which for which in Which if which == self.value), None)
        if found is None and self.value is not None:
            raise self.wrong(" or ".join(f'"{one}"' for one in Which))
        return found

    def zone(self) -> tzinfo | None:
        if self.value is None:
            return None
        try:
            return ZoneInfo(self.value if isinstance(self.value, str) else "")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise self.wrong('a time zone of this machine, such as "Europe/Berlin" or "UTC"') from None

    def moment(self, zone: tzinfo | None) -> datetime | None:
        """Return a time in UTC. A date without a time means the last second of that day."""
        value = self.value
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time(23, 59, 59))
        if value is not None and not isinstance(value, datetime):
            raise self.wrong(_MOMENT)
        if value and value.tzinfo is None and zone is None:
            here = f"{value.isoformat()}+01:00"
            raise self.wrong(f'a date with an offset ({here}), or add timezone = "Europe/Berlin" at the top')
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC) if value else None

    def extension(self, zone: tzinfo | None) -> datetime | timedelta:
        match = _MORE.fullmatch(self.value.strip()) if isinstance(self.value, str) else None
        if match:
            return float(match[1]) * _LENGTH[match[2]]
        if isinstance(self.value, str) or not (moment := self.moment(zone)):
            raise self.wrong(f'{_MOMENT}, or a time such as "2 days"')
        return moment

    def digests(self) -> tuple[str, ...]:
        given = [str(one).lower() for one in self.value] if isinstance(self.value, list) else []
        if not given or not all(map(_SHA256.fullmatch, given)):
            raise self.wrong('a list with at least the first 8 digits of each SHA-256, such as ["3fa1c0de"]')
        return tuple(given)
