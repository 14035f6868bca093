"""The class page for the instructor. It begins with the problems to check by hand and ends with the table of students.

Without its only script, which sorts and filters tables, the page is complete.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap

from grader.course.roll import Roll
from grader.records import UNGRADED, Speed, Status, Verdict
from grader.reports import class_statistics, grade_texts, templates
from grader.reports.grade_texts import LessonResult
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import RIGHT
from harness.rendering import units

_SHOWN_FILES = 5

NEEDS_A_HUMAN = (*UNGRADED, Status.CHEATED, Status.IMPOSSIBLE, Status.UNDECIDED)
"""The instructor should check results with these statuses."""

KINDS = {
    "human": "something to check by hand",
    "refused": "a refused submission",
    "wrong": "a wrong answer to a task",
    "short": "less than full points",
    "stub": "a function that is not written yet",
    "syntax": "a syntax error",
    "misnamed": "a file with a wrong name",
    "absent": "a lesson that was not handed in",
    "waiting": "a submission that is not graded yet",
}
"""The filters of the table of students. Each text completes the sentence "Show only students with …"."""


@dataclass(frozen=True, slots=True)
class Concern:
    """A problem that the instructor must check. `student` is empty if it does not concern a student.

    `task` is the task's section on the student's page, or "" for the whole page.
    """

    student: str
    what: str
    status: str
    why: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class StudentRow:
    """The row of one student in the table. `kinds` are the filters (keys of `KINDS`) that show this row."""

    student: str
    results: tuple[LessonResult, ...]
    total: str
    kinds: tuple[str, ...]


def render(roll: Roll, infos: Mapping[str, Task] | None = None, *, board: bool = False) -> str:
    """Return the page on the whole class as HTML. `infos` are the known tasks. `board`: link to the leaderboard."""
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    earned = [[points for points in grades.values() if points is not None] for grades in roll.grades().values()]
    totals = [sum(points) for points in earned if points]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    sessions, earlier = class_statistics.sessions([span for _, span in roll.gradings() if span])
    return templates.render(
        "class.html",
        roll=roll,
        lines=list(starmap(student_row, roll.one_by_one())),
        kinds=KINDS,
        concerns=concerns(roll),
        ignored=ignored(roll),
        edges=undecided(roll),
        tasks=class_statistics.tasks(roll, infos or {}),
        totals=class_statistics.totals(totals, possible),
        hardest=class_statistics.hardest(roll),
        sessions=sessions,
        earlier=earlier,
        noise=class_statistics.noise(roll),
        median=grade_texts.points(statistics.median(totals)) if totals else units.UNKNOWN,
        possible=grade_texts.points(possible),
        missing=Counter(layer for report in roll.reports for layer in report.missing).most_common(),
        machines=sorted(f"{text} (fingerprint {mark})" for mark, text in machines.items()),
        seconds=units.seconds(sum(report.duration_s for report, _ in roll.gradings())),
        board=grade_texts.BOARD if board else "",
    )


def concerns(roll: Roll) -> list[Concern]:
    """Return the problems that the instructor must check: first those of files, then the results of tasks."""
    found = [
        Concern(file.student, file.path, f"misnamed: {file.meaning}" if file.meaning else "misnamed", file.why)
        for file in roll.left_out
        if file.misnamed
    ]
    refused: dict[tuple[str, str], list[str]] = {}  # a zip that was refused for several lessons is listed once
    for given in (report.submission for report in roll.reports if report.submission.refused):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    found += [Concern(student, ", ".join(lessons), "refused", why) for (student, why), lessons in refused.items()]
    found += [
        Concern(one.student, one.lesson, "the file was replaced before it was graded", grade_texts.replaced_advice(one))
        for one in roll.gone
    ]
    found += [Concern("", "course file", "excluded attempt not found", sentence) for sentence in roll.unmatched]
    for status in (Status.GRADER_ERROR, Status.TOO_NOISY, Status.CHEATED, Status.IMPOSSIBLE):
        found += [
            Concern(student, one.task, grade_texts.STATUS[status], grade_texts.explanation(one), one.task)
            for student, one in _with_status(roll, status)
        ]
    return found


def ignored(roll: Roll) -> list[str]:
    """Return one line on the ignored files of each student, then the notes on collecting the submissions."""
    others: dict[str, list[str]] = {}
    for file in roll.left_out:
        if not file.misnamed:
            others.setdefault(file.student, []).append(file.path.removeprefix(f"{file.student}/"))
    files = (
        f"{student or 'no student'}: files that were not graded: {', '.join(paths[:_SHOWN_FILES])}"
        + (f" and {len(paths) - _SHOWN_FILES} more" if len(paths) > _SHOWN_FILES else "")
        for student, paths in others.items()
    )
    return [*files, *roll.notes]


def undecided(roll: Roll) -> list[tuple[str, Verdict, Speed]]:
    """Return the students and their undecided grades, sorted by the names of the tasks.

    The ratio's confidence interval contained a grade threshold at the end of the time limit.
    """
    unknown = Speed(math.nan, math.nan, math.nan, 0, 0)
    found = [(student, one, one.attempt.speed or unknown) for student, one in _with_status(roll, Status.UNDECIDED)]
    return sorted(found, key=lambda one: one[1].task)


def _with_status(roll: Roll, status: Status) -> Iterator[tuple[str, Verdict]]:
    """Yield the results with this status, each with its student. Refused submissions are left out."""
    for report in roll.reports:
        if not report.submission.refused:
            yield from ((report.submission.student, one) for one in report.verdicts if one.status is status)


def student_row(student: str, alone: Roll) -> StudentRow:
    """Return the table row of the only student of `alone`."""
    reports = {report.submission.lesson: report for report in alone.reports}
    grades, waiting = alone.grades()[student], {hand_in.lesson for hand_in in alone.waiting}
    total = sum(filter(None, grades.values()))
    verdicts = [verdict for report in alone.reports for verdict in report.verdicts]
    ends, endings = {verdict.status for verdict in verdicts}, set(map(grade_texts.ended, verdicts))
    refused = any(report.submission.refused for report in alone.reports)
    misnamed = any(file.misnamed for file in alone.left_out)
    kinds = {
        "human": refused or misnamed or alone.gone or ends & set(NEEDS_A_HUMAN),
        "misnamed": misnamed,
        "stub": NOT_WRITTEN in endings,
        "syntax": grade_texts.SYNTAX_ERROR in endings,
        "refused": refused,
        "wrong": ends - RIGHT - UNGRADED,
        "short": total < sum(map(alone.possible, alone.lessons)),
        "absent": set(alone.lessons) - set(reports) - waiting,
        "waiting": waiting,
    }
    return StudentRow(
        student,
        tuple(
            grade_texts.lesson_result(reports.get(lesson), grades.get(lesson), waiting=lesson in waiting)
            for lesson in alone.lessons
        ),
        grade_texts.total(total, final=not waiting) if reports else "",
        tuple(kind for kind, holds in kinds.items() if holds),
    )
