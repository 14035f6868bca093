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
        return self._shell("run", self.folder, "--out", self.out, *self.options, *more)

    def of(self, verb: str, *more: str) -> str:
        """Return a command on the folder of the grades, such as `report` or `export`."""
        return self._shell(verb, self.out, *more)

    def grade(self, student: str, task: str) -> str:
        """Return the command that gives a student points by hand. The instructor fills in the points and the reason."""
        last = ("--", self.out, student, task) if student.startswith("-") else (self.out, student, task)
        return self._shell("grade", "--points", "N", "--comment", "WHY", *last)

    def _shell(self, *words: str) -> str:
        program = "fairclock" if self.made_by.startswith("fairclock") else "python -m grader"
        return f"{program} {shlex.join(words)}"
