"""Give points and comments by hand, list them, and write the reports that they change."""

import getpass
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grader import reports
from grader.class_run import journal
from grader.class_run.journal import Journal
from grader.class_run.summary import leaderboard_names
from grader.course.by_hand import HandEntry, in_force
from grader.course.results import TaskPoints
from grader.course.roster import student_named
from grader.errors import UsageError
from grader.reports import grade_texts
from harness.command_line import matches, named, one_of

MOST_POINTS: Final = 10_000.0
MOST_CHARACTERS: Final = 10_000
"""The maximum points of a task with bonus points, and the maximum length of a comment."""


def give(
    out: Path,
    student: str,
    task: str,
    points: float | None,
    *,
    comment: str = "",
    by: str = "",
    over: bool = False,
    undo: bool = False,
) -> tuple[str, ...]:
    """Give a student points for a task, or with `points=None` a comment. Return the lines that the command prints.

    `task` can be "" for a comment on everything. `by` is the person, by default the user who runs the command. With
    `over`, the points may be more than the task has. With `undo`, take back the last points of the task instead, or
    the last comment. Raise `UsageError` for an unknown student or task, and for wrong points or comments.
    """
    with journal.change(out) as book:
        new = entry(book, student, task, points, comment=comment, by=by.strip() or _user(), over=over, undo=undo)
        book.give(new)
        who, lesson = new.student, new.lesson
        roll = book.roll()
        files = reports.write(roll, book.out, whole=book.reports, name_of=leaderboard_names(book, roll), changed={who})
    lines = [grade_texts.hand_entry(roll, roll.by_hand[-1], student=True)]
    if lesson:
        counted = roll.grades().get(who, {}).get(lesson)
        got = "still has no" if counted is None else f"now has {grade_texts.points(counted)}"
        uncounted = "" if lesson in roll.lessons else " This lesson does not count at present."
        lines.append(f"{who} {got} points for {lesson}.{uncounted}")
    return (*lines, f"Wrote {files.changed} files in {out}.", *files.lines())


def entry(
    book: Journal,
    student: str,
    task: str,
    points: float | None,
    *,
    comment: str = "",
    by: str,
    over: bool = False,
    undo: bool = False,
) -> HandEntry:
    """Return the entry in the history for points or a comment by hand, made now. The arguments are those of `give`.

    Raise `UsageError` for an unknown student or task, for wrong points or comments, and if there is nothing to undo.
    """
    who, tasks = student_of(book, student), book.tasks(counting=False)
    which = task_named(task, tasks) if task else None
    if not which and not undo and comment.strip() in {one.task for one in tasks}:
        raise UsageError(f'Write the comment after the task: comment {book.out} {student} {comment} "TEXT"')
    full, most = (which.task, which.points) if which else ("", 0.0)
    if len(comment) > MOST_CHARACTERS:
        raise UsageError(f"The comment is longer than {MOST_CHARACTERS:,} characters. Write a shorter one.")
    if undo:
        _require_entry(book, who, full, comment=points is None)
    elif points is not None:
        points = _checked(points, most, full, over=over)
    return HandEntry(who, full, points, comment.strip(), by, datetime.now(UTC), undo)


def history(out: Path, student: str = "", task: str = "") -> tuple[str, ...]:
    """Return a line for each entry of points or comments by hand, of all students or of one. The oldest is first."""
    with journal.read(out) as book:
        who = student_of(book, student) if student else ""
        full = task_named(task, book.tasks(counting=False)).task if task else ""
        roll = book.roll()
    holds = {id(one) for one in in_force(roll.by_hand)}
    lines = tuple(
        grade_texts.hand_entry(roll, one, student=True, holds=id(one) in holds)
        for one in roll.by_hand
        if who in {"", one.student} and full in {"", one.task}
    )
    return lines or ("No points or comments were given by hand.",)


def student_of(book: Journal, text: str) -> str:
    """Return the student of the class whom a text names. Raise `UsageError` if it names nobody or several."""
    roster = book.roster()
    return student_named(text, sorted({*book.students(), *book.course().students, *roster.students}), roster)


def task_named(text: str, tasks: Sequence[TaskPoints]) -> TaskPoints:
    """Return the task that a text names, such as "04.autorange", "autorange", or "04" if the lesson has only one task.

    Raise `UsageError`, with the names of the tasks, if the text names none or several.
    """
    lesson, dot, name = text.strip().partition(".")
    by_name = {one.task: one for one in tasks}
    names = {one.task: (one.task.partition(".")[2],) for one in tasks}
    if not dot and (found := [task for task, short in names.items() if short == (lesson,)]):
        return by_name[one_of(lesson, names, found, "task")]
    full = named(lesson, dict.fromkeys(one.lesson for one in tasks))
    names = {task: short for task, short in names.items() if task.startswith(f"{full}.")}
    part = name.strip().casefold()
    # Most people write the name of the lesson's subject, such as 04.autorange for 04_autorange.blocked_autorange.
    near = [task for task, (short,) in names.items() if part and (part in short or part == full.partition("_")[2])]
    found = (matches(name, names) or near) if dot else list(names)
    return by_name[one_of(text, names, found, f"task of {full}")]


def _checked(points: float, most: float, task: str, *, over: bool) -> float:
    limit = MOST_POINTS if over else most
    if math.isfinite(points) and 0 <= points <= limit:
        return round(points, 2)
    bonus = "" if over or not most < points <= MOST_POINTS else " For bonus points, add --over."
    raise UsageError(f"{points:g} is not a number of points from 0 to {limit:g}, the maximum of {task}.{bonus}")


def _require_entry(book: Journal, student: str, task: str, *, comment: bool) -> None:
    there = (one for one in in_force(book.given()) if (one.student, one.task) == (student, task))
    if not any((one.points is None) == comment for one in there):
        what = "comment" if comment else "points by hand"
        raise UsageError(
            f"{student} has no {what}{' for ' * bool(task)}{task}, so there is nothing to take back. To see what there "
            f"is, run: python -m grader grade {book.out} --history"
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "unknown"
