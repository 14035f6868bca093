"""The folder of a served course: its course file, its roster, its hand-ins, and its database with all grades.

COURSE/course.toml, students.csv   as `run` reads them
COURSE/hand-ins/<student>/<time>/  the files as they were handed in; `run` can read this folder
COURSE/grades/grades.sqlite        the journal, with the tables of the server
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader import catalogue
from grader.class_run import database, enrolment, journal
from grader.class_run.journal import Journal
from grader.course import roster
from grader.course.results import TaskPoints
from grader.errors import UsageError
from grader.server import kept_edits, roster_edits
from grader.server.kept_edits import Settings
from grader.server.tables import TABLES


@dataclass(frozen=True, slots=True)
class OpenCourse:
    """The journal of a served course, and the connection to the same database for the tables of the server."""

    book: Journal
    db: sqlite3.Connection


@dataclass(frozen=True, slots=True)
class CourseFolder:
    """The paths of a served course in the folder `path`."""

    path: Path

    @property
    def hand_ins(self) -> Path:
        """The class folder with all files that were handed in."""
        return self.path / "hand-ins"

    @property
    def grades(self) -> Path:
        """The output folder with the database of grades."""
        return self.path / "grades"

    @property
    def course_file(self) -> Path:
        """The file with the rules of the course."""
        return self.path / "course.toml"

    @property
    def roster_file(self) -> Path:
        """The list of students."""
        return self.path / roster.FILE

    @property
    def heartbeat(self) -> Path:
        """A file that the grading process touches several times a minute while it lives."""
        return self.grades / ".grading"

    @contextmanager
    def opened(self) -> Iterator[OpenCourse]:
        """Open the database of the course. Raise `UsageError` if it cannot be used."""
        with closing(database.connect(self.grades)) as db, database.readable(self.grades):
            yield OpenCourse(Journal(self.grades, db), db)

    def prepare(self) -> None:
        """Create the database and the folders of the course, or continue with those that exist.

        Raise `UsageError` if the course file is missing or wrong, or if the database belongs to another version.
        """
        if not self.course_file.is_file():
            raise UsageError(
                f"{self.path} has no {self.course_file.name}. Write one there, for example with the line "
                'title = "My course", and put students.csv beside it. To try a course: fairclock serve --demo'
            )
        self.hand_ins.mkdir(mode=0o700, exist_ok=True)
        with journal.claim(self.grades, self.hand_ins, kit=catalogue.kit_version(), shared=True) as book:
            book.secret_seed()
            with book.transaction() as db:
                for statement in filter(str.strip, TABLES.split(";")):
                    db.execute(statement)
            self.refresh(OpenCourse(book, db))
            book.keep({"out": os.fspath(self.grades), "made_by": ""})

    def settings(self, opened: OpenCourse) -> Settings:
        """Return the rules and the roster that hold now: the files, with the changes that staff made on pages.

        Raise `UsageError` if a file is wrong, or if a change does not fit its file any more.
        """
        lessons = catalogue.load().lessons
        return kept_edits.settings(opened.db, opened.book, self.course_file, self.roster_file, lessons)

    def refresh(self, opened: OpenCourse) -> None:
        """Store the rules and the roster that hold now in the journal. Raise `UsageError` as `settings` does."""
        known, now, book = catalogue.load(), self.settings(opened), opened.book
        lessons = [lesson for lesson in known.lessons if lesson in now.course.lessons] or known.lessons
        tasks = [TaskPoints(one.lesson, one.full_name, one.points) for name in lessons for one in known.tasks(name)]
        if tuple(tasks) != book.tasks():
            with book.transaction() as db:
                enrolment.count(db, tasks)
        if now.roster.text != (before := book.roster()).text:
            with book.transaction() as db:
                roster_edits.rename(db, before, now.roster)
        book.keep({"course": now.course.text, "roster": now.roster.text, "leaderboard": ""})
