"""The roster of a course: its students, as `students.csv` lists them, and which of them a text or a sender means."""

import difflib
import json
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from grader.course.people import EXACT, LOGIN, Identity, People, fold, words
from grader.records import Sender
from harness.errors import UsageError

FILE: Final = "students.csv"
_NEAR: Final = 3  # number of similar names in a message
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class Person:
    """A student on the roster. `other_names` are also logins and numbers under which the student is known."""

    name: str
    id: str = ""
    email: str = ""
    sections: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()

    def identity(self, shown: str = "") -> Identity:
        """Return what identifies the student, whom reports call `shown`."""
        own = () if shown == self.name else (shown,)
        return Identity((self.id, self.email, *self.other_names, *own), (self.name, *self.other_names))


@dataclass(frozen=True)
class Roster:
    """The students of a course. Without people, there is no roster."""

    people: tuple[Person, ...] = ()

    @cached_property
    def students(self) -> Mapping[str, Person]:
        """The people by their name in reports: `Ren Ota`, or `Ren Ota (700123)` if two people share the name."""
        shared = Counter(fold(one.name) for one in self.people)
        names = (
            f"{one.name} ({one.id or one.email})" if shared[fold(one.name)] > 1 else one.name for one in self.people
        )
        return dict(zip(names, self.people, strict=True))

    @cached_property
    def _index(self) -> People:
        return People(one.identity(name) for name, one in self.students.items())

    def find(self, sender: Sender) -> tuple[str, ...]:
        """Return the name in reports of the student who is the sender, or of several students, or ().

        A sender with the name of a student, but another number and another e-mail address, is not this student. Nor is
        a sender with the number of a student, but with a name that has no word in common, because platforms have
        numbers of their own.
        """
        names = tuple(self.students)
        meant = Identity((sender.label, *sender.ids), (sender.label, sender.name))
        found = self._index.find(meant, surest=sender.label)
        mails = {"@" in text for text in sender.ids}
        if len(mails) == 2 and not self._index.find(meant, (EXACT, LOGIN)):
            found = tuple(place for place in found if not (self.people[place].id and self.people[place].email))
        sure = (sender.label, *(text for text in sender.ids if "@" in text))
        if found and not self._index.find(Identity(sure, meant.names)):
            given = [word for name in meant.names for word in words(name) if not word.isdigit()]
            found = tuple(place for place in found if not given or _alike(self.people[place], given))
        return tuple(names[place] for place in found)

    def student_of(self, sender: Sender) -> str:
        """Return the name in reports of the sender, which is the label if the sender is not one of these students."""
        found = self.find(sender)
        if len(found) == 1:
            return found[0]
        return f"{sender.label} (unknown)" if sender.label in self.students else sender.label

    @cached_property
    def sections(self) -> tuple[str, ...]:
        """The names of the sections."""
        return tuple(dict.fromkeys(section for one in self.people for section in one.sections))

    def section(self, title: str) -> frozenset[str]:
        """Return the names in reports of the students in a section."""
        return frozenset(name for name, one in self.students.items() if fold(title) in map(fold, one.sections))

    @property
    def text(self) -> str:
        """The roster as JSON, or "" without people."""
        return json.dumps([asdict(one) for one in self.people], ensure_ascii=False) if self.people else ""

    @staticmethod
    def of(text: str) -> "Roster":
        """Return the roster with this `text`."""
        return _roster(text)


@lru_cache(maxsize=4)  # each request to a server needs the roster
def _roster(text: str) -> Roster:
    people = [Person(**one) for one in json.loads(text or "[]")]
    return Roster(tuple(replace(one, sections=(*one.sections,), other_names=(*one.other_names,)) for one in people))


def _alike(person: Person, given: Sequence[str]) -> bool:
    own = {word for name in (person.name, *person.other_names) for word in words(name)}
    return any(word in given or (len(word) > 2 and any(word in one for one in given)) for word in own)


NO_ROSTER: Final = Roster()


def student_named(text: str, students: Collection[str], roster: Roster = NO_ROSTER) -> str:
    """Return the student whom an instructor means with a name in reports, or a name, number or address of the roster.

    `students` are the names of all students in reports. Raise `UsageError`, with similar names, if the text means no
    student or several students.
    """
    label = unicodedata.normalize("NFC", text).strip()
    found = roster.find(Sender(label)) if label in roster.students or label not in students else (label,)
    if len(found) == 1:
        return found[0]
    if found:
        which = "Write the number or the e-mail address of the student"
        raise UsageError(f"{text!r} can mean {' or '.join(found)}. {which}.")
    near = similar(text, students, roster)
    some = [*students, *(one for one in roster.students if one not in students)]
    more = ", …" if len(some) > _LISTED else ""
    meant = f"Did you mean {' or '.join(near)}?" if near else f"Students: {', '.join(some[:_LISTED])}{more}."
    raise UsageError(f"There is no student {text!r} in this class. {meant}")


def similar(text: str, students: Collection[str], roster: Roster = NO_ROSTER) -> list[str]:
    """Return the students, at most three, of whom a name, number or address resembles a text."""
    aliases = {alias: name for name in students for alias in (*fold(name).split(), fold(name))}
    for name, one in roster.students.items():
        identity = one.identity(name)
        texts = map(fold, (name, *identity.ids, *identity.names))
        aliases |= {alias: name for text_ in texts for alias in (*text_.split(), text_.partition("@")[0], text_)}
    close = difflib.get_close_matches(fold(text), aliases, 2 * _NEAR)
    return list(dict.fromkeys(aliases[one] for one in close))[:_NEAR]


def unclear(roster: Roster, senders: Iterable[Sender], students: Collection[str]) -> list[tuple[str, str, str]]:
    """Return the `students` of a class who may be other people: each with what is unclear, and what to do.

    With a roster, these are senders who are not on it, or match several people. Without one, they are students whose
    names differ only in case.
    """
    found: dict[str, tuple[str, str, str]] = {}
    for sender in senders if roster.people else ():
        student, people = roster.student_of(sender), roster.find(sender)
        write = f"write {sender.label!r} below other_names in {FILE}"
        if len(people) == 1 or student not in students:
            continue
        if people:
            why = f"It matches {len(people)} people: {', '.join(people)}. In the line of the right one, {write}."
        else:
            near = ", ".join(similar(sender.name or sender.label, (), roster))
            meant = f"Similar: {near}. If it is this student" if near else "If it is a student on the list"
            why = f"It is not in {FILE}. {meant}, {write}. Otherwise, add a line."
        found[student] = (student, "matches several people" if people else "not on the roster", why)
    names: dict[str, list[str]] = {}
    for student in () if roster.people else students:
        names.setdefault(fold(student), []).append(student)
    for alike in (group for group in names.values() if len(group) > 1):
        why = f"{' and '.join(alike)} are {len(alike)} students here. If they are one, rename the folders."
        found[alike[0]] = (alike[0], "similar names", why)
    return list(found.values())
