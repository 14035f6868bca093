"""The class page for the instructor. It begins with the problems to check by hand and ends with the table of students.

The page loads no other file and no font. Its only script sorts and filters tables. Without the script, the page is
complete. The template escapes the names and texts of students.
"""

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.roll import Roll
from grader.records import Report, Speed, Status, Verdict
from grader.reports import class_statistics, grade_texts, student_table, templates, timeline
from grader.task import Task
from harness.rendering import units

_SHOWN_FILES = 5


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


def render(roll: Roll, infos: Mapping[str, Task] | None = None, *, board: bool = False) -> str:
    """Return the page on the whole class as HTML.

    `infos` are the tasks that are known. With `board`, the page links to the leaderboard.
    """
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    earned = [[points for points in grades.values() if points is not None] for grades in roll.grades().values()]
    totals = [sum(points) for points in earned if points]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    sessions, earlier = timeline.sessions([span for _, span in roll.gradings() if span])
    return templates.render(
        "class.html",
        roll=roll,
        lines=student_table.student_rows(roll),
        kinds=student_table.KINDS,
        concerns=concerns(roll),
        copies=[group for group in roll.same_content if not group.untouched],
        untouched=[group for group in roll.same_content if group.untouched],
        ignored=ignored(roll),
        edges=undecided(roll.reports),
        tasks=class_statistics.tasks(roll, infos or {}),
        totals=class_statistics.totals(totals, possible),
        hardest=class_statistics.hardest(roll),
        sessions=sessions,
        earlier=earlier,
        noise=timeline.noise(roll),
        median=grade_texts.points(statistics.median(totals)) if totals else units.UNKNOWN,
        possible=grade_texts.points(possible),
        unsandboxed=sum(not report.sandboxed for report in roll.reports),
        missing=Counter(layer for report in roll.reports for layer in report.missing).most_common(),
        machines=sorted(f"{text} (fingerprint {mark})" for mark, text in machines.items()),
        seconds=units.seconds(sum(report.duration_s for report, _ in roll.gradings())),
        board=grade_texts.BOARD if board else "",
    )


def concerns(roll: Roll) -> list[Concern]:
    """Return the problems that the instructor must check.

    Misnamed files are first. Refused files, attempts that were replaced before grading, attempts that the course file
    excludes but that were not found, and results of tasks follow.
    """
    found = [
        Concern(file.student, file.path, f"misnamed: {file.meaning}" if file.meaning else "misnamed", file.why)
        for file in roll.left_out
        if file.misnamed
    ]
    found += _refused(roll.reports)
    found += [
        Concern(one.student, one.lesson, "the file was replaced before it was graded", grade_texts.replaced_advice(one))
        for one in roll.gone
    ]
    found += [Concern("", "course file", "excluded attempt not found", sentence) for sentence in roll.unmatched]
    for status in (Status.GRADER_ERROR, Status.TOO_NOISY, Status.CHEATED, Status.IMPOSSIBLE):
        for report in (report for report in roll.reports if not report.submission.refused):
            student = report.submission.student
            found += [
                Concern(
                    student,
                    verdict.task,
                    grade_texts.STATUS[status],
                    grade_texts.explanation(verdict),
                    task=verdict.task,
                )
                for verdict in report.verdicts
                if verdict.status is status
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


def _refused(reports: Sequence[Report]) -> list[Concern]:
    """Return the problems of refused submissions. A zip that was refused for several lessons is listed once."""
    refused: dict[tuple[str, str], list[str]] = {}
    for given in (report.submission for report in reports if report.submission.refused):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    return [Concern(student, ", ".join(lessons), "refused", why) for (student, why), lessons in refused.items()]


def undecided(reports: Sequence[Report]) -> list[tuple[str, Verdict, Speed]]:
    """Return the students and their undecided grades, sorted by the names of the tasks.

    In an undecided grade, the ratio's confidence interval contained a grade threshold at the end of the time limit.
    """
    unknown = Speed(math.nan, math.nan, math.nan, 0, 0)
    found = [
        (report.submission.student, verdict, verdict.attempt.speed or unknown)
        for report in reports
        for verdict in report.verdicts
        if verdict.status is Status.UNDECIDED
    ]
    return sorted(found, key=lambda one: one[1].task)
