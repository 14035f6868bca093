"""The rules of a course file for the students of a class, whom the file names as people write names."""

import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from grader.course.course_file import ALL, Course, Dates, parse
from grader.course.dates import LocalTime
from grader.course.entries import Entry
from grader.course.roster import FILE, NO_ROSTER, Roster, student_named
from grader.course.teams import Team
from harness.errors import UsageError

Rules = TypeVar("Rules")


def for_class(course: Course, students: Collection[str], roster: Roster = NO_ROSTER, name: str = "") -> Course:
    """Return the rules of a course with the names of students as in reports, and with the sections of the roster.

    `students` are the students of the class. With `name`, the course file's, raise `UsageError`, which quotes the line,
    if a name means no student or several. Without it, such a name is kept.
    """
    everyone = sorted({*students, *course.students, *roster.students})
    new = f"add a line to {FILE}" if roster.people else "write at the top of the file: students = [{!r}]"

    def place(*path: str) -> str:
        return Entry(unicodedata.normalize("NFC", course.text), name, path).place()

    def meant(text: str, *path: str) -> str:
        try:
            return student_named(text, everyone, roster)
        except UsageError as error:
            if not name:
                return text
            hint = f"If the student is enrolled but not in the class yet, {new.format(text)}."
            raise UsageError(f"{place(*path)}: {error} {hint}") from None

    def renamed(table: tuple[str, ...], rules: Mapping[str, Mapping[str, Rules]]) -> dict[str, Mapping[str, Rules]]:
        found: dict[str, Mapping[str, Rules]] = {}
        for text, own in rules.items():
            student = meant(text, *table, text) if text else ""
            if name and student in found:
                raise UsageError(f"{place(*table, text)}: another table is for {student}, too. Write one table.")
            found[student] = {**found.get(student, {}), **own}
        return found

    sections = {}
    for title, (given, dates) in course.sections.items():
        named = (meant(one, "sections", title, "students") for one in sorted(given))
        sections[title] = (roster.section(title).union(named), dates)
        if name and not sections[title][0]:
            known = f"The sections in {FILE}: {', '.join(roster.sections) or 'none'}."
            known = known if roster.people else 'Write students = ["ada", "bob"] below this line.'
            raise UsageError(f"{place('sections', title)}: no student is in the section {title!r}. {known}")
    if name:
        _check_sections(sections, place)
    teams = _teams(course, meant, place, checked=bool(name))
    slip_days = course.slip_days
    if slip_days:
        slip_days = replace(slip_days, chosen=renamed(("slip_days", "chosen"), slip_days.chosen))
    extensions, usual = renamed(("extensions",), course.extensions), replace(course, sections=sections, extensions={})
    for text, (who, own) in zip(course.extensions, extensions.items(), strict=True) if name else ():
        for lesson, to in own.items():
            due = usual.rule(who, lesson).due
            if lesson != ALL and due and isinstance(to, LocalTime) and to.utc < due.utc:
                raise UsageError(f"{place('extensions', text, lesson)}: write a date after the due date, {due}.")
    return replace(
        course,
        sections=sections,
        extensions=extensions,
        struck=renamed(("struck",), course.struck),
        files=renamed(("files",), course.files),
        chosen=renamed(("chosen",), course.chosen),
        slip_days=slip_days,
        teams=teams,
    )


def _check_sections(
    sections: Mapping[str, tuple[frozenset[str], Mapping[str, Dates]]], place: Callable[..., str]
) -> None:
    dated = ((title, who, lesson) for title, (named, dates) in sections.items() for who in named for lesson in dates)
    first: dict[tuple[str, str], str] = {}
    for title, who, lesson in dated:
        other = first.setdefault((who, lesson), title)
        if sections[other][1][lesson] != sections[title][1][lesson]:
            both = f"{who} is in the sections {other!r} and {title!r}, and both have dates for {lesson}"
            raise UsageError(f"{place('sections', title)}: {both}. Remove the student from one of them.")


def _teams(course: Course, meant: Callable[..., str], place: Callable[..., str], *, checked: bool) -> dict[str, Team]:
    teams: dict[str, Team] = {}
    for title, team in course.teams.items():
        members = tuple(dict.fromkeys(meant(one, "teams", title, "students") for one in team.students))
        for other in teams.values() if checked else ():
            shared = [who for who in members if who in other.students]
            if shared and not (team.lessons and other.lessons and not {*team.lessons} & {*other.lessons}):
                both = f"{shared[0]} is in the teams {other.name!r} and {title!r} for the same lesson"
                raise UsageError(f"{place('teams', title)}: {both}. Remove the student, or write other lessons.")
        teams[title] = replace(team, students=members)
    return teams


@lru_cache(maxsize=2)  # each student's page needs the rules
def read_once(text: str, file: str, students: tuple[str, ...], roster: str) -> Course:
    """Return the rules in the text of a course file called `file`, for the students of a class and a roster's text."""
    return for_class(parse(text, file), students, Roster.of(roster))
