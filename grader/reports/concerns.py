"""What the instructor must check by hand: each problem with its reason and the command that settles it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from grader.course.policy import LATE_BY_UNKNOWN
from grader.course.roll import Roll
from grader.course.roster import FILE, unclear
from grader.records import Status
from grader.reports import grade_texts

_NUMBER: Final = re.compile(r"\d[\d.,]*")
_FIRST: Final = (Status.CHEATED, Status.IMPOSSIBLE, Status.GRADER_ERROR, Status.TOO_NOISY)


@dataclass(frozen=True, slots=True)
class Concern:
    """A problem that the instructor must check. `student` is empty if it does not concern a student.

    `what` is the lesson, task or file. `command` settles the problem, and `to_do` says how. `task` is the task's
    section on the student's page, or "" for the whole page.
    """

    student: str
    what: str
    status: str
    why: str
    task: str = ""
    command: str = ""
    to_do: str = ""


@dataclass(frozen=True, slots=True)
class ConcernGroup:
    """Concerns that have the same status and, apart from numbers, the same reason. They are settled in the same way."""

    members: tuple[Concern, ...]

    @property
    def students(self) -> int:
        """The number of students in the group."""
        return len({one.student for one in self.members})

    @property
    def what(self) -> str:
        """The lesson, task or file of the group, or the number of different ones."""
        different = {one.what for one in self.members}
        return self.members[0].what if len(different) == 1 else f"{len(different)} different ones"

    @property
    def command(self) -> str:
        """The command that settles all concerns of the group, or "" if each has a command of its own."""
        return self.members[0].command if len({one.command for one in self.members}) == 1 else ""


def grouped(found: Iterable[Concern]) -> list[ConcernGroup]:
    """Return the concerns in groups of the same kind, in the order of the first concern of each group."""
    alike: dict[tuple[str, str], list[Concern]] = {}
    for one in found:
        alike.setdefault((one.status, _NUMBER.sub("", one.why)), []).append(one)
    return [ConcernGroup(tuple(same)) for same in alike.values()]


def concerns(roll: Roll) -> list[Concern]:
    """Return the problems that the instructor must check, the most important first."""
    return [
        *(one for status in _FIRST for one in _of_status(roll, status)),
        *_late_by_unknown(roll),
        *_of_people(roll),
        *_of_files(roll),
        *_of_status(roll, Status.UNDECIDED),
    ]


def _late_by_unknown(roll: Roll) -> Iterator[Concern]:
    first = {task.lesson: task.task for task in reversed(roll.tasks)}
    for one in roll.standings:
        if one.late_by_unknown:
            command = roll.commands.grade(one.student, first.get(one.lesson, one.lesson))
            to_do = "Look up the time on the platform. Then give the points that count by hand."
            what, status = grade_texts.title(one.lesson), "late by an unknown time"
            yield Concern(one.student, what, status, LATE_BY_UNKNOWN, command=command, to_do=to_do)


def _of_people(roll: Roll) -> Iterator[Concern]:
    again = roll.commands.of("report", "--students", FILE)
    for student, status, why in unclear(roll.roster, roll.senders, roll.students):
        to_do = f"Correct {FILE}. Then write the reports again." if roll.roster.people else ""
        yield Concern(student, "hand-ins", status, why, command=again if to_do else "", to_do=to_do)
    handed_in = {student for student, given in roll.grades().items() if given}
    for student, lessons in roll.missing().items():
        if student not in handed_in:
            what = ", ".join(map(grade_texts.title, lessons))
            others = any(file.student == student for file in roll.left_out)
            why = "Files were handed in, but no exercise: 0 points." if others else "Nothing was handed in: 0 points."
            if any(one.student == student for one in roll.set_aside):
                why = "Attempts were handed in, but none counts by the course rules: 0 points."
            yield Concern(student, what, "missing", why)


def _of_files(roll: Roll) -> Iterator[Concern]:
    def run_in(folder: str) -> str:
        return replace(roll.commands, folder=folder or roll.commands.folder).run()

    for sentence in roll.unmatched:
        to_do = "Correct the course file. Then write the reports again."
        again = roll.commands.of("report", "--course", "course.toml")
        yield Concern("", "course file", "attempt not found", sentence, command=again, to_do=to_do)
    for gone in (one for one in roll.gone if not roll.is_settled(one.student, one.lesson)):
        to_do = "If it must count, put it back into the class folder, and grade it."
        what, why = f"{gone.path} (SHA-256 {gone.sha256[:12]}…)", "Another file replaced this file."
        yield Concern(
            gone.student, what, "replaced before it was graded", why, command=run_in(gone.folder), to_do=to_do
        )
    refused: dict[tuple[str, str], list[str]] = {}  # a zip that was refused for several lessons is listed once
    for given in (report.submission for report in roll.reports if report.submission.refused):
        if not roll.is_settled(given.student, given.lesson):
            refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    for (student, why), lessons in refused.items():
        to_do = "Ask for another file, and run the command of the last run again. Or give the points by hand."
        tasks = (task.task for task in roll.tasks if task.lesson in lessons)
        by_hand = " && ".join(roll.commands.grade(student, task) for task in tasks)
        yield Concern(student, ", ".join(map(grade_texts.title, lessons)), "refused", why, command=by_hand, to_do=to_do)
    for file in roll.left_out:
        if file.misnamed and not roll.is_settled(file.student, file.lesson):
            name, line = file.path.removeprefix(f"{file.student}/"), file.accepting_line
            accept = ", or write this line below [files] in the course file" if line else ""
            to_do = f"Rename the file{accept}. Then grade it."
            yield Concern(
                file.student, name, "misnamed", file.why, command=f"{line}\n{run_in(file.folder)}".strip(), to_do=to_do
            )


def _of_status(roll: Roll, status: Status) -> Iterator[Concern]:
    for report in roll.reports:
        of = report.submission
        for one in () if of.refused else report.verdicts:
            if one.status is not status or roll.is_settled(of.student, of.lesson, one.task):
                continue
            what, why = grade_texts.task_title(one.task), grade_texts.explanation(one)
            command, to_do = roll.commands.run(), "Grade it again."
            if status in {Status.CHEATED, Status.IMPOSSIBLE}:
                command = roll.commands.grade(of.student, one.task)
                to_do = "Read the code. If it is honest, give the points by hand."
            elif status is Status.UNDECIDED:
                why = f"{grade_texts.points(one.points)} of {grade_texts.points(one.max_points)} points. {why}"
                again = roll.commands_for(of.student, of.lesson)
                command = again.run("--regrade", of.student, "--lessons", of.lesson)
                to_do = "The points stand, unless you measure again."
            yield Concern(of.student, what, grade_texts.STATUS[status], why, one.task, command, to_do)
