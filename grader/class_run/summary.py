"""Write the reports of a class, and the lines that the instructor reads afterwards."""

import json
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from grader import reports
from grader.class_run.journal import Journal
from grader.course.roll import Roll, folder_name, is_too_noisy
from grader.course.roster import unclear
from grader.reports import class_statistics, grade_texts, leaderboard
from grader.reports.concerns import concerns
from harness.rendering import units

EXIT_DONE, EXIT_FAULTS, EXIT_INTERRUPTED = 0, 3, 130
"""Exit codes. DONE: every submission has its grade. FAULTS: a grade or a report is missing, for example after an
internal error. INTERRUPTED: stopped with Ctrl-C; shells use the same code.
"""

_SHOWN: Final = 10


def publish(book: Journal) -> tuple[Roll, reports.Written]:
    """Write all reports of the class into the folder of its database. Return the class and the result of writing.

    The pages of students who are not in the class any more, or have another name now, are removed. Raise `UsageError`
    if the names on the leaderboard cannot be used, and `WriteError` if a report cannot be written.
    """
    roll = book.roll()
    folders = set(map(folder_name, roll.students))
    old = {*json.loads(book.meta.get("pages", "[]"))} - folders
    book.keep({"pages": json.dumps(sorted(old | folders))})  # also if writing is stopped
    files = reports.write(roll, book.out, whole=book.reports, name_of=leaderboard_names(book, roll))
    for folder in old:
        files.remove_pages(book.out / folder)
    book.keep({"pages": json.dumps(sorted(folders))})
    return roll, files


def leaderboard_names(book: Journal, roll: Roll) -> leaderboard.NameOf | None:
    """Return the function that gives each student's name on the leaderboard, or None if there is no leaderboard."""
    board = book.meta.get("leaderboard", "")
    if board == leaderboard.PSEUDONYMS:
        return leaderboard.pseudonyms(book.pseudonym_key(), roll.students).__getitem__
    return str if board else None


def ungraded_lines(roll: Roll, out: Path) -> Iterator[str]:
    """Yield lines that tell the instructor which points are not final yet. Yield nothing if all points are final."""
    found = [f"{one.student}, {one.lesson} ({one.path})" for one in roll.waiting]
    for report in roll.faulted:
        given, why = report.submission, "the machine was too noisy" if is_too_noisy(report) else "an internal error"
        found.append(f"{given.student}, {given.lesson} ({given.path}: {why})")
    if found:
        listed = units.few(found, _SHOWN, "; ")
        yield f"Hand-ins that may count but have no grade ({units.count(len(found))}): {listed}."
        yield "The points for these lessons are not final yet. This command grades the hand-ins:"
        yield f"  {replace(roll.commands, out=str(out)).run()}"  # the database stores the course rules and the lessons
    yield from roll.unmatched
    for one in roll.gone[:_SHOWN]:
        file = f"{one.student}, {one.lesson}: {one.path} (SHA-256 {one.sha256[:12]}…)"
        yield (
            f"{file} was replaced before it was graded, so it cannot count. If this file must count, "
            "put it back into the class folder and run the command again."
        )


def people_lines(roll: Roll) -> Iterator[str]:
    """Yield lines on students who may be other people, and on students who handed in nothing."""
    for student, what, why in unclear(roll.roster, roll.senders, roll.students)[:_SHOWN]:
        yield f"{student}: {what}. {why}"
    given = roll.grades()
    if missing := [student for student in roll.missing() if not given[student]]:
        names = units.few(missing, _SHOWN)
        yield f"{units.some(len(missing), 'student')} handed in no attempt and got 0 points: {names}."


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of grading a class. `graded` is the number of different files that were graded in this run.

    `roll` has all students with their grades. `board` is True if a leaderboard was written. `told` has sentences on
    added or removed lessons, and on students who share a new grade. `read_as` tells which layout the class folder has.
    `unmade` names reports that could not be written.
    """

    roll: Roll
    out: Path
    graded: int
    duration_s: float
    interrupted: bool
    board: bool = False
    unmade: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    read_as: str = ""

    @property
    def faults(self) -> int:
        """The number of submissions that have no grade, because of an internal error or a noisy machine."""
        return len(self.roll.faulted)

    @property
    def exit_code(self) -> int:
        """The exit code of the command, one of `EXIT_DONE`, `EXIT_FAULTS` and `EXIT_INTERRUPTED`."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return EXIT_DONE if self.roll.is_final and not self.unmade else EXIT_FAULTS

    def lines(self) -> tuple[str, ...]:
        """Return the lines that the instructor reads after the class was graded."""
        n_all = len(self.roll.reports) + len(self.roll.waiting)
        if self.interrupted:
            kept = f"{units.count(len(self.roll.reports))} of {units.count(n_all)} hand-ins have their grades"
            end = f"Stopped: {kept}, and these grades are kept. Run the same command again to grade the rest."
        elif not self.graded:
            end = f"There is nothing to grade: all {units.count(n_all)} hand-ins were graded before."
        else:
            end = f"Done in {units.seconds(self.duration_s)}."
        said = " ".join(filter(None, (end, self._median(), self._look_at())))
        told = filter(None, (said, class_statistics.control_line(self.roll) if self.graded else ""))
        return (*told, *people_lines(self.roll), *self._ungraded(), *self.told, *self.unmade, *self._next())

    def _next(self) -> Iterator[str]:
        commands = replace(self.roll.commands, out=str(self.out))
        yield "Next:"
        if self.exit_code != EXIT_DONE:
            yield f"  grade the rest       {commands.run()}"
        yield f"  read the results     {self.out / reports.PAGE}"
        canvas = commands.of("export", "--canvas", "EXPORT.csv")
        yield f"  export the points    {canvas}   (or --moodle, --nbgrader, --junit)"
        yield f"  return the pages     {commands.of('return', '--for', 'folder')}   (or canvas, moodle)"
        if self.board:
            yield f"  show the class       {self.out / reports.BOARD}"

    def _ungraded(self) -> Iterator[str]:
        noisy = sum(map(is_too_noisy, self.roll.faulted))
        if failed := self.faults - noisy:
            yield f"{units.some(failed, 'hand-in')} had an internal error. Run the same command again to retry."
        if noisy:
            yield (
                f"{units.some(noisy, 'hand-in')} could not be timed, because other programs disturbed this machine too "
                f"much. To time {'it' if noisy == 1 else 'them'}, run the same command again when fewer programs run."
            )

    def _median(self) -> str:
        grades = [[*of.values()] for of in self.roll.grades().values()]
        earned = [sum(points or 0.0 for points in of) for of in grades if {*of} - {None}]
        if not earned:
            return ""
        possible = sum(self.roll.possible(lesson) for lesson in self.roll.lessons)
        return f"Points: median {grade_texts.points(statistics.median(earned))} of {grade_texts.points(possible)}."

    def _look_at(self) -> str:
        found = Counter(one.status for one in concerns(self.roll)) + Counter({"not graded yet": len(self.roll.waiting)})
        listed = "; ".join(f"{units.count(number)} {what}" for what, number in found.items())
        return f"To check by hand: {listed}." if listed else "There is nothing that you must check by hand."
