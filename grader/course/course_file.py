"""`course.toml` has the rules of a course: dates, lateness, slip days, quotas, teams, and the attempt that counts.

The page `grader/class_run/README.md` has an example with every key.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from grader.course import quota, slip_days, teams
from grader.course.dates import Extension, LocalTime
from grader.course.entries import MOST_DAYS, NAMED, Entry, load
from grader.course.policy import NO_PENALTY, DateRule, LatePenalty, Which
from grader.course.quota import Quota
from grader.course.slip_days import SlipRule
from grader.course.teams import Team
from grader.files import read_text_file

MAX_BYTES: Final = 1 << 20
ALL: Final = "all"
HIDDEN: Final = "hidden"
_RULES = ("title", "timezone", "attempts", "students", "drop_lowest", "late", "results", "quota", "slip_days", "staff")
_KEYS = (*_RULES, "lessons", *NAMED)
_DATED = ("due", "closes", "attempts", "opens")
_OF_A_LESSON = (*_DATED, "weight", "extra_credit", "results", "quota")


@dataclass(frozen=True, slots=True)
class Dates:
    """The due date, the closing and opening dates and the choice of the attempt that counts, for one lesson."""

    due: LocalTime | None = None
    closes: LocalTime | None = None
    which: Which | None = None
    opens: LocalTime | None = None


@dataclass(frozen=True)
class Course:
    """The rules of a course: due dates, lateness, extensions, and which attempt counts. `text` is the course file.

    `files` has the lessons of misnamed files by student, or by "" for all students. `weights` has the lessons with a
    weight. `quotas` has the quota of a lesson, or of all other lessons (""). In the same way, `hidden` has whether
    results are hidden from students. `chosen` has the beginning of the SHA-256 of the attempt that a student chose, by
    lesson. `instructors` and `assistants` are names or e-mail addresses. Names of students are in the Unicode form NFC.
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
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    slip_days: SlipRule | None = None
    teams: Mapping[str, Team] = field(default_factory=dict)
    chosen: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hidden: Mapping[str, bool] = field(default_factory=dict)
    instructors: tuple[str, ...] = ()
    assistants: tuple[str, ...] = ()

    def strikes(self, student: str, lesson: str, sha256: str) -> bool:
        """Return whether the course file excludes the attempt whose file has this SHA-256. It then does not count."""
        return sha256.startswith(self.struck.get(student, {}).get(lesson, ()))

    def quota(self, lesson: str) -> Quota | None:
        """Return the quota on the attempts at a lesson."""
        return self.quotas.get(lesson, self.quotas.get(""))

    def hides(self, lesson: str) -> bool:
        """Return whether the results of a lesson are hidden from students."""
        return self.hidden.get(lesson, self.hidden.get("", False))

    def team(self, student: str, lesson: str) -> Team | None:
        """Return the team of a student for a lesson."""
        return next((team for team in self.teams.values() if team.has(student, lesson)), None)

    def with_team_mates(self, students: Iterable[str]) -> set[str]:
        """Return these students, and all students who are in a team with one of them, in any lesson."""
        found = set(students)
        return found.union(*(team.students for team in self.teams.values() if found & {*team.students}))

    def choice(self, student: str, lesson: str) -> str:
        """Return the beginning of the SHA-256 of the attempt that a student, or else a team mate, chose, or ""."""
        team = self.team(student, lesson)
        everyone = (student, *sorted(team.students if team else ()))
        return next(filter(None, (self.chosen.get(one, {}).get(lesson) for one in everyone)), "")

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
        due, closes, which, opens = dates.due, dates.closes, dates.which, dates.opens
        for students, by_lesson in self.sections.values():
            own = by_lesson.get(lesson, Dates()) if student in students else Dates()
            due, closes = _moved(due, closes, own.due)
            closes, which, opens = own.closes or closes, own.which or which, own.opens or opens
        if closes and not due:
            closes = self._extended(student, lesson, closes)
        else:
            due, closes = _moved(due, closes, self._extended(student, lesson, due))
        if closes is None and due and self.closes_after is not None:
            closes = due.later(self.closes_after)
        if due and closes and closes.utc < due.utc:  # a lesson without a due date has a closing date, too
            closes = due
        usual_due = None if due == dates.due else dates.due
        return DateRule(which or self.which, due, closes, self.late, usual_due, opens)

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
    staff = top["staff"].table("instructors", "assistants")
    late = top["late"].table("percent_per_day", "grace_minutes", "at_most_percent", "closes_after_days")
    closes_after = late["closes_after_days"]
    sections = {title: one.table("students", "lessons") for title, one in top["sections"].each().items()}
    extensions = {student: one.each(extended) for student, one in top["extensions"].each().items()}
    struck = {student: one.each(lessons) for student, one in top["struck"].each().items()}
    chosen = {student: one.each(lessons) for student, one in top["chosen"].each().items()}
    of_lessons = _tables(top["lessons"], lessons, _OF_A_LESSON)
    dates = _dates(of_lessons, zone)
    every = {"": top, **of_lessons}
    quotas = ((lesson, quota.read(own["quota"], zone)) for lesson, own in every.items())
    hidden = {lesson: own["results"].one_of(HIDDEN, "shown") for lesson, own in every.items()}

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
                _dates(_tables(one["lessons"], lessons, _DATED), zone, dates),
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
        quotas={lesson: one for lesson, one in quotas if one},
        slip_days=slip_days.read(top["slip_days"], lessons),
        teams=teams.read(top["teams"], lessons),
        chosen={who: {lesson: one.digest() for lesson, one in own.items()} for who, own in chosen.items()},
        hidden={lesson: text == HIDDEN for lesson, text in hidden.items() if text},
        instructors=staff["instructors"].names(),
        assistants=staff["assistants"].names(),
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
        lesson: Dates(
            own["due"].moment(zone), own["closes"].moment(zone), own["attempts"].which(), own["opens"].moment(zone)
        )
        for lesson, own in tables.items()
    }
    for lesson, one in dates.items():
        due = one.due or of_class.get(lesson, Dates()).due
        if due and one.closes and one.closes.utc < due.utc:
            raise tables[lesson]["closes"].wrong("a date after the due date")
        last = due or one.closes or of_class.get(lesson, Dates()).closes
        if last and one.opens and one.opens.utc >= last.utc:
            raise tables[lesson]["opens"].wrong(f"a date before {last}")
    return dates


def _files(table: Entry, lessons: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, entry in table.each().items():
        for file, one in (entry.each() if isinstance(entry.value, dict) else {name: entry}).items():
            if "." not in file or not isinstance(one.value, str) or (lessons and one.value not in lessons):
                raise one.wrong(f'a lesson for the name of a file in quotes, such as "hw2.py" = "{(*lessons, "")[0]}"')
            found.setdefault(name if one is not entry else "", {})[file] = one.value
    return found
