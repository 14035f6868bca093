"""Invite people to a course: write a CSV with a personal link for each of them, and make links invalid."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader.course.people import fold
from grader.errors import UsageError
from grader.files import write_atomically
from grader.reports.csv_file import csv_text
from grader.server import accounts
from grader.server.accounts import Account, Use
from grader.server.course_folder import CourseFolder, OpenCourse
from harness.rendering import units
from harness.storage.user_files import refuse_edited

_SECRET: Final = 0o600


def invite(path: Path, names: Sequence[str], url: str, out: Path, *, force: bool) -> tuple[str, ...]:
    """Write the links of these people, or of everyone without a valid one, to the CSV file `out`. Return a report.

    A new link replaces the old one of the same person. Raise `UsageError` for a name that is not in the course.
    """
    refuse_edited(out, force=force)
    course = CourseFolder(path)
    course.prepare()
    with course.opened() as opened:
        now = datetime.now(UTC)
        chosen = [named(opened, one) for one in names] or [
            one for one in everyone(opened) if not _has_link(opened, one)
        ]
        lines = [["name", "email", "role", "link"]]
        with opened.book.transaction() as db:
            for one in chosen:
                link = accounts.new_link(db, one, url, now)
                lines.append([one.name, one.email, one.role.name.lower(), link])
            if chosen:
                write_atomically(out, csv_text(lines, "\n").encode(), mode=_SECRET)
    if not chosen:
        return ("Everyone in the course has a link. To make a new one, name the person.",)
    return (
        f"Wrote {units.some(len(chosen), 'personal link')} to {out}.",
        "Who has a link can hand in as this person: send each link only to its person, and then delete the file.",
    )


def revoke(path: Path, name: str) -> str:
    """Make the link and all logins of a person invalid. Return a sentence with their number."""
    course = CourseFolder(path)
    course.prepare()
    with course.opened() as opened:
        one = named(opened, name)
        with opened.book.transaction() as db:
            number = accounts.revoke(db, one.name, one.is_staff)
    return f"{one.name} has no valid link or login any more ({number} withdrawn)."


def everyone(opened: OpenCourse) -> tuple[Account, ...]:
    """Return all people who may log in."""
    return accounts.accounts(opened.book.course(), opened.book.roster())


def named(opened: OpenCourse, text: str) -> Account:
    """Return the person whom a name or an e-mail address means. Raise `UsageError` unless it means exactly one."""
    same = [one for one in everyone(opened) if fold(text) in {fold(one.name), fold(one.email)}]
    if len(same) != 1:
        why = "Several people have this name" if same else "No person in the course has this name or e-mail address"
        raise UsageError(f"{text}: {why}. See {opened.book.out.parent / 'students.csv'} and [staff] in course.toml.")
    return same[0]


def _has_link(opened: OpenCourse, one: Account) -> bool:
    query = "SELECT 1 FROM tokens WHERE (person, is_staff, use) = (?, ?, ?) AND expires_utc > ?"
    key = [one.name, one.is_staff, Use.LINK, datetime.now(UTC).isoformat()]
    return opened.db.execute(query, key).fetchone() is not None
