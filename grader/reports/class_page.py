"""The class page for the instructor. It begins with what the class can do, and ends with the table of students.

Without its only script, which sorts and filters tables, the page is complete.
"""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import starmap

from grader.course.by_hand import in_force
from grader.course.roll import Roll
from grader.records import UNGRADED
from grader.reports import class_statistics, grade_texts, templates
from grader.reports.concerns import concerns, grouped
from grader.reports.grade_texts import LessonResult
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import RIGHT
from harness.rendering import units

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
class StudentRow:
    """The row of one student in the table. `kinds` are the filters (keys of `KINDS`) that show this row."""

    student: str
    results: tuple[LessonResult, ...]
    total: str
    course_total: str
    kinds: tuple[str, ...]


def render(roll: Roll, infos: Mapping[str, Task] | None = None, *, board: bool = False) -> str:
    """Return the page on the whole class as HTML. `infos` are the known tasks. `board`: link to the leaderboard."""
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    earned = [[points for points in grades.values() if points is not None] for grades in roll.grades().values()]
    totals = [sum(points) for points in earned if points]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    found, tasks = concerns(roll), class_statistics.tasks(roll, infos or {})
    return templates.render(
        "class.html",
        roll=roll,
        lines=list(starmap(student_row, roll.one_by_one())),
        kinds=KINDS,
        concerns=found,
        not_started=class_statistics.not_started(roll),
        in_force=in_force(roll.by_hand),
        groups=grouped(found),
        set_aside=[f"{one.student}, {one}" for one in roll.set_aside],
        ignored=ignored(roll),
        tasks=tasks,
        weak=class_statistics.weakest(tasks),
        totals=class_statistics.totals(totals, possible),
        mistakes=class_statistics.mistakes(roll),
        noise=class_statistics.control_line(roll),
        median=grade_texts.points(statistics.median(totals)) if totals else units.UNKNOWN,
        possible=grade_texts.points(possible),
        missing=Counter(layer for report in roll.reports for layer in report.missing).most_common(),
        machines=sorted(f"{text} (fingerprint {mark})" for mark, text in machines.items()),
        seconds=units.seconds(sum(report.duration_s for report in roll.gradings())),
        board=grade_texts.BOARD if board else "",
    )


def ignored(roll: Roll) -> list[str]:
    """Return one line on the ignored files of each student, then the notes on collecting the submissions."""
    others: dict[str, list[str]] = {}
    for file in roll.left_out:
        if not file.misnamed:
            others.setdefault(file.student, []).append(file.path.removeprefix(f"{file.student}/"))
    files = (
        f"{student or 'no student'}: files that were not graded: {units.few(paths)}"
        for student, paths in others.items()
    )
    return [*files, *roll.notes]


def student_row(student: str, alone: Roll) -> StudentRow:
    """Return the table row of the only student of `alone`."""
    reports = {report.submission.lesson: report for report in alone.reports}
    grades, waiting = alone.gradebook()[student], {hand_in.lesson for hand_in in alone.waiting}
    total = sum(filter(None, grades.values()))
    verdicts = [verdict for report in alone.reports for verdict in report.verdicts]
    ends, endings = {verdict.status for verdict in verdicts}, set(map(grade_texts.ended, verdicts))
    kinds = {
        "human": any(one.student for one in concerns(alone)),
        "misnamed": any(file.misnamed for file in alone.left_out),
        "stub": NOT_WRITTEN in endings or any(file.is_unchanged for file in alone.left_out),
        "syntax": grade_texts.SYNTAX_ERROR in endings,
        "refused": any(report.submission.refused for report in alone.reports),
        "wrong": ends - RIGHT - UNGRADED,
        "short": total < sum(map(alone.possible, alone.lessons)),
        "absent": set(alone.lessons) - set(reports) - waiting,
        "waiting": waiting,
    }
    return StudentRow(
        student,
        tuple(grade_texts.lesson_result(alone, lesson) for lesson in alone.lessons),
        grade_texts.total(total, final=not waiting) if set(grades.values()) - {None} else "",
        grade_texts.percent(grade_texts.totals(alone).get(student)),
        tuple(kind for kind, holds in kinds.items() if holds),
    )
