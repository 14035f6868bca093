"""Who may do what: students and staff, their login links, and their logins in browsers and programs.

A token is 32 random bytes. The database holds only its SHA-256, so a copy of the database does not let anyone log in.
"""

import hashlib
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

from grader.course.course_file import Course
from grader.course.people import fold
from grader.course.roster import Roster


class Role(IntEnum):
    """What a person may do in the course. Each role may do all that the roles before it may."""

    STUDENT = 1
    ASSISTANT = 2
    INSTRUCTOR = 3


class Use(StrEnum):
    """What a token is for: the link that a person got, or the login of a browser or of a program."""

    LINK = "link"
    BROWSER = "browser"
    PROGRAM = "program"


LASTS: Final = {Use.LINK: timedelta(days=200), Use.BROWSER: timedelta(days=30), Use.PROGRAM: timedelta(days=200)}


_MOST_LOGINS: Final = 30


@dataclass(frozen=True, slots=True)
class Account:
    """A person who may log in. A student's `name` is the name in reports, and one of staff is as in the course file."""

    name: str
    role: Role
    email: str = ""

    @property
    def is_staff(self) -> bool:
        """Whether the person is an instructor or an assistant."""
        return self.role > Role.STUDENT


@dataclass(frozen=True, slots=True)
class Login:
    """A person who is logged in, with the token and the secret that every form of this person's pages has."""

    account: Account
    token: str
    use: Use

    @property
    def form_secret(self) -> str:
        """A text that other websites cannot know, because it is made from the token in the cookie."""
        return hashlib.sha256(f"form {self.token}".encode()).hexdigest()


def accounts(course: Course, roster: Roster) -> tuple[Account, ...]:
    """Return everyone who may log in: the students of the course, and its staff."""
    people = roster.students
    names = dict.fromkeys((*people, *course.students))
    students = [Account(name, Role.STUDENT, people[name].email if name in people else "") for name in names]
    staff = [(one, Role.INSTRUCTOR) for one in course.instructors]
    staff += [(one, Role.ASSISTANT) for one in course.assistants]
    return (*students, *(Account(one, role, one if "@" in one else "") for one, role in staff))


def find(name: str, is_staff: bool, course: Course, roster: Roster) -> Account | None:
    """Return the account with this name, or None if the person is not in the course any more."""
    alike = [one for one in accounts(course, roster) if one.is_staff == is_staff]
    same = [one for one in alike if one.name == name] or [one for one in alike if fold(one.name) == fold(name)]
    return max(same, key=lambda one: one.role, default=None)


def issue(db: sqlite3.Connection, account: Account, use: Use, now: datetime) -> str:
    """Store a new token of a person, and return it. It is not stored itself and cannot be shown again.

    Tokens that have expired are deleted, and so are the person's oldest ones of the same use, except the newest few.
    """
    token = secrets.token_urlsafe(32)
    expires = now + LASTS[use]
    row = (_digest(token), account.name, account.is_staff, use, now.isoformat(), expires.isoformat())
    db.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", row)
    db.execute("DELETE FROM tokens WHERE expires_utc <= ?", [now.isoformat()])
    own = "(person, is_staff, use) = (?, ?, ?)"
    newest = f"SELECT rowid FROM tokens WHERE {own} ORDER BY rowid DESC LIMIT {_MOST_LOGINS}"  # noqa: S608
    db.execute(f"DELETE FROM tokens WHERE {own} AND rowid NOT IN ({newest})", [*row[1:4], *row[1:4]])  # noqa: S608
    return token


def new_link(db: sqlite3.Connection, account: Account, url: str, now: datetime) -> str:
    """Return a new personal link to the server at `url`. It replaces the person's earlier link."""
    own = (account.name, account.is_staff, Use.LINK)
    db.execute("DELETE FROM tokens WHERE (person, is_staff, use) = (?, ?, ?)", own)
    return f"{url}/login#{issue(db, account, Use.LINK, now)}"


def owner(db: sqlite3.Connection, token: str, use: Use, now: datetime) -> tuple[str, bool] | None:
    """Return the name of the person with this token, and whether it is staff, or None if the token is not valid."""
    query = "SELECT person, is_staff, expires_utc FROM tokens WHERE (sha256, use) = (?, ?)"
    for person, is_staff, expires in db.execute(query, [_digest(token), use]):
        if now < datetime.fromisoformat(expires):
            return person, bool(is_staff)
    return None


def withdraw(db: sqlite3.Connection, token: str) -> None:
    """Make one token invalid, as at a logout."""
    db.execute("DELETE FROM tokens WHERE sha256 = ?", [_digest(token)])


def revoke(db: sqlite3.Connection, name: str, is_staff: bool) -> int:
    """Make all links and logins of a person invalid. Return their number."""
    return db.execute("DELETE FROM tokens WHERE person = ? AND is_staff = ?", [name, is_staff]).rowcount


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
