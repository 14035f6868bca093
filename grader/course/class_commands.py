"""The commands that the reports and messages of a class tell the instructor to type."""

import re
import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassCommands:
    """Commands for one class, as text for a shell.

    `folder` and `out` are the folders of the submissions and of the grades. `options` are the options of `run` without
    which grading cannot go on. `made_by` is the last command that changed the reports, as it was typed, or "".
    """

    folder: str = "DIR"
    out: str = "OUT"
    options: tuple[str, ...] = ()
    made_by: str = ""

    @property
    def made_by_verb(self) -> str:
        """The words " with python -m grader run" of the last command, without its folders and options, or ""."""
        found = re.match(r"(python -m grader|fairclock) [a-z]+", self.made_by)
        return f" with {found[0]}" if found else ""

    def run(self, *more: str) -> str:
        """Return the command that grades all hand-ins without a grade."""
        return _shell("run", self.folder, "--out", self.out, *self.options, *more)

    def report(self, *more: str) -> str:
        """Return the command that writes all reports again."""
        return _shell("report", self.out, *more)

    def export(self, *more: str) -> str:
        """Return the command that exports the points."""
        return _shell("export", self.out, *more)

    def give_back(self, *more: str) -> str:
        """Return the command that writes the students' pages as feedback files."""
        return _shell("return", self.out, *more)

    def grade(self, student: str, task: str) -> str:
        """Return the command that gives a student points by hand. The instructor fills in the points and the reason."""
        last = ("--", self.out, student, task) if student.startswith("-") else (self.out, student, task)
        return _shell("grade", "--points", "N", "--comment", "WHY", *last)

    def undo(self) -> str:
        """Return the command that takes back the last points by hand of a task."""
        return _shell("grade", self.out, "STUDENT", "TASK", "--undo")

    def history(self) -> str:
        """Return the command that lists all points and comments by hand."""
        return _shell("grade", self.out, "--history")


def _shell(*words: str) -> str:
    return shlex.join(["python", "-m", "grader", *words])
