"""`course.toml` has due dates, the rules on lateness, extensions, and the rule that chooses the attempt that counts.

The page `grader/class_run/README.md` has an example with every key.

If an extension or a section moves the due date, the closing date moves by the same time. Each student named in the file
must have a folder or zip of hand-ins, or be in the list `students` at the top. A misspelt name is therefore an error
and is not silently ignored. Students in the list `students` are in every report, even without a hand-in. Each error
message names the wrong key.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader.course.policy import NO_PENALTY, DateRule, LatePenalty, Which
from harness.errors import UsageError

T = TypeVar("T")
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
        for students, own in self.sections.values():
            if student in students and lesson in own:
                due, closes = _moved(due, closes, own[lesson].due)
                closes = own[lesson].closes or closes
        given = self.extensions.get(student, {})
        more = given.get(lesson, given.get(ALL))
        if isinstance(more, timedelta):
            more = due + more if due else None
        due, closes = _moved(due, closes, more)
        return DateRule(dates.which or self.which, due, closes, self.late, None if due == dates.due else dates.due)

    def require_known(self, handed_in: Iterable[str], name: str) -> None:
        """Raise `UsageError` if this course file, called `name`, names a student who is not in the class.

        The class consists of the students in `handed_in` and those in the course file's list `students`.
        """
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
    """Return the rules in the text of a course file. `name` is the file's name.

    With `lessons`, the file may only name these lessons. Raise `UsageError`, which names the wrong key and a correct
    value.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"{name} is not TOML: {str(fault).rstrip('.')}.") from None
    return _Reader(name, tuple(lessons)).course(text, table)


def read(file: Path | None, lessons: Sequence[str]) -> Course | None:
    """Return the rules in a course file, or None if `file` is None. The file may only name these lessons.

    Raise `UsageError` if the file cannot be read or is wrong.
    """
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(
            f"{file} cannot be read ({fault}); give the path of the course file, such as course.toml."
        ) from None
    return parse(text, str(file), lessons)


def _moved(
    due: datetime | None, closes: datetime | None, to: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return the new due date `to`, and the closing date moved by the same time.

    If `to` is None, return both dates unchanged.
    """
    if to is None:
        return due, closes
    return to, closes + (to - due) if closes and due else closes


@dataclass
class _Reader:
    """Reads the tables of a course file. Each error message names the wrong key."""

    name: str
    known: tuple[str, ...]
    zone: tzinfo | None = None

    def course(self, text: str, table: dict[str, object]) -> Course:
        self._keys(table, "", KEYS)
        self.zone = self._zone(table)
        late = self._table(table, "late")
        self._keys(late, "late.", ("percent_per_day", "grace_minutes", "at_most_percent", "closes_after_days"))
        closes_after = self._number(late, "closes_after_days", 0.0)
        return Course(
            text,
            self.zone or UTC,
            self._which(table, "") or Which.LATEST,
            LatePenalty(
                self._number(late, "percent_per_day", 0.0, 100) / 100,
                timedelta(minutes=self._number(late, "grace_minutes", 0.0)),
                self._number(late, "at_most_percent", 100.0, 100) / 100,
            ),
            timedelta(days=closes_after) if "closes_after_days" in late else None,
            self._lessons(table, ""),
            self._each(table, "sections", self._section),
            self._each(table, "extensions", self._extension),
            self._each(table, "struck", self._struck),
            self._students(table, ""),
        )

    def _each(
        self, table: dict[str, object], key: str, read: Callable[[dict[str, object], str], T], above: str = ""
    ) -> dict[str, T]:
        """Return what `read` returns for each table below the table `key`, by its name."""
        where, inner = f"{above}{key}.", self._table(table, key, above)
        return {name: read(self._table(inner, name, where), f"{where}{name}.") for name in inner}

    def _section(self, table: dict[str, object], where: str) -> tuple[frozenset[str], Mapping[str, Dates]]:
        self._keys(table, where, ("students", "lessons"))
        return frozenset(self._students(table, where)), self._lessons(table, where)

    def _students(self, table: dict[str, object], where: str) -> tuple[str, ...]:
        students = table.get("students", [])
        if not isinstance(students, list) or not all(isinstance(one, str) for one in students):
            raise self._wrong(f"{where}students", 'a list of names, such as ["ada", "bob"]')
        return tuple(students)

    def _lessons(self, table: dict[str, object], where: str) -> dict[str, Dates]:
        self._names(self._table(table, "lessons", where), f"{where}lessons.")
        return self._each(table, "lessons", self._dates, where)

    def _dates(self, table: dict[str, object], where: str) -> Dates:
        self._keys(table, where, ("due", "closes", "attempts"))
        due, closes = (self._moment(table[key], where + key) if key in table else None for key in ("due", "closes"))
        if due and closes and closes < due:
            raise self._wrong(f"{where}closes", "a date after the due date")
        return Dates(due, closes, self._which(table, where))

    def _extension(self, table: dict[str, object], where: str) -> dict[str, datetime | timedelta]:
        self._names({lesson: None for lesson in table if lesson != ALL}, where)
        return {lesson: self._more(value, where + lesson) for lesson, value in table.items()}

    def _struck(self, table: dict[str, object], where: str) -> dict[str, tuple[str, ...]]:
        self._names(table, where)
        return {lesson: self._digests(value, where + lesson) for lesson, value in table.items()}

    def _digests(self, value: object, where: str) -> tuple[str, ...]:
        given = [str(one).lower() for one in value] if isinstance(value, list) else []
        if not given or not all(map(_SHA256.fullmatch, given)):
            raise self._wrong(where, 'a list with at least the first 8 digits of each SHA-256, such as ["3fa1c0de"]')
        return tuple(given)

    def _more(self, value: object, where: str) -> datetime | timedelta:
        if not isinstance(value, str):
            return self._moment(value, where)
        match = _MORE.fullmatch(value.strip())
        if not match:
            raise self._wrong(where, f'{_MOMENT}, or a time such as "2 days"')
        return float(match[1]) * _LENGTH[match[2]]

    def _moment(self, value: object, where: str) -> datetime:
        """Return a time in UTC. A date without a time means the last second of that day."""
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time(23, 59, 59))
        if not isinstance(value, datetime):
            raise self._wrong(where, _MOMENT)
        if value.tzinfo is None and self.zone is None:
            here = f"{value.isoformat()}+01:00"
            raise self._wrong(where, f'a date with an offset ({here}), or add timezone = "Europe/Berlin" at the top')
        return (value if value.tzinfo else value.replace(tzinfo=self.zone)).astimezone(UTC)

    def _zone(self, table: dict[str, object]) -> tzinfo | None:
        if (name := table.get("timezone")) is None:
            return None
        try:
            return ZoneInfo(name) if isinstance(name, str) else ZoneInfo("")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise self._wrong("timezone", 'a time zone of this machine, such as "Europe/Berlin" or "UTC"') from None

    def _which(self, table: dict[str, object], where: str) -> Which | None:
        if "attempts" not in table:
            return None
        try:
            return Which(table["attempts"])  # type: ignore[arg-type]  # any other value raises ValueError
        except ValueError:
            raise self._wrong(f"{where}attempts", " or ".join(f'"{one}"' for one in Which)) from None

    def _number(self, table: dict[str, object], key: str, default: float, most: float = 1e4) -> float:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise self._wrong(f"late.{key}", f"a number from 0 to {most:g}")
        return float(value)

    def _table(self, table: dict[str, object], key: str, where: str = "") -> dict[str, object]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(where + key, f"a table, that is a line [{where}{key}] with keys below it")
        return value

    def _names(self, table: Mapping[str, object], where: str) -> None:
        if self.known:
            self._keys(table, where, self.known)

    def _keys(self, table: Mapping[str, object], where: str, known: Sequence[str]) -> None:
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                meant = f"write {where}{near[0]}" if near else f"allowed keys: {', '.join(known)}"
                raise UsageError(f"{self.name}: {where}{key} is not allowed here; {meant}.")

    def _wrong(self, where: str, instead: str) -> UsageError:
        return UsageError(f"{self.name}: {where} is wrong; write {instead}.")
