"""The class page for the instructor. It begins with the problems to check by hand and ends with the table of students.

The page loads no other file and no font. Its only script sorts and filters tables. Without the script, the page is
complete. The template escapes the names and texts of students.
"""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.roll import Roll
from grader.records import Report, Speed, Status
from grader.reports import class_statistics, grade_texts, links, student_table, templates, timeline
from grader.reports.grade_texts import title
from grader.reports.task_info import TaskInfo
from harness.rendering import measured, units

_SHOWN_FILES = 5


@dataclass(frozen=True, slots=True)
class Concern:
    """A problem that the instructor must check. `student` and `link` are empty if it does not concern a student."""

    student: str
    link: str
    what: str
    status: str
    why: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The reason why lateness or the choice of an attempt changed a student's points in a lesson."""

    student: str
    link: str
    lesson: str
    reason: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An undecided grade: the ratio's confidence interval contained a grade threshold at the end of the time limit."""

    student: str
    link: str
    task: str
    ratio: str
    interval: str
    rounds: str
    points: str


def render(roll: Roll, infos: Mapping[str, TaskInfo] | None = None, *, board: bool = False) -> str:
    """Return the page on the whole class as HTML.

    `infos` has texts and grade thresholds of tasks. With `board`, the page links to the leaderboard.
    """
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    earned = [[points for points in grades.values() if points is not None] for grades in roll.grades().values()]
    totals = [sum(points) for points in earned if points]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    sessions, earlier = timeline.sessions([span for _, span in roll.gradings() if span])
    return templates.render(
        "class.html",
        roll=roll,
        lessons=[(title(lesson), lesson, grade_texts.points(roll.possible(lesson))) for lesson in roll.lessons],
        lines=student_table.student_rows(roll),
        kinds=student_table.KINDS,
        concerns=concerns(roll),
        copies=[group for group in roll.same_content if not group.untouched],
        untouched=[group for group in roll.same_content if group.untouched],
        decided=decided(roll),
        ignored=ignored(roll),
        edges=edges(roll.reports),
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
        board=links.BOARD if board else "",
    )


def concerns(roll: Roll) -> list[Concern]:
    """Return the problems that the instructor must check.

    Misnamed files are first. Refused files, attempts that were replaced before grading, attempts that the course file
    excludes but that were not found, and results of tasks follow.
    """
    found = [
        _concern(file.student, file.path, f"misnamed: {file.meaning}" if file.meaning else "misnamed", file.why)
        for file in roll.left_out
        if file.misnamed
    ]
    found += _refused(roll.reports)
    found += [
        _concern(
            one.student, one.lesson, "the file was replaced before it was graded", grade_texts.replaced_advice(one)
        )
        for one in roll.gone
    ]
    found += [_concern("", "course file", "excluded attempt not found", sentence) for sentence in roll.unmatched]
    for status in (Status.GRADER_ERROR, Status.TOO_NOISY, Status.CHEATED, Status.IMPOSSIBLE, Status.IMPLAUSIBLE):
        for report in (report for report in roll.reports if not report.submission.refused):
            student = report.submission.student
            found += [
                _concern(
                    student,
                    verdict.task,
                    grade_texts.STATUS[status],
                    grade_texts.explanation(verdict),
                    anchor=verdict.task,
                )
                for verdict in report.verdicts
                if verdict.status is status
            ]
    return found


def decided(roll: Roll) -> list[Decided]:
    """Return the reasons why lateness or the choice of an attempt changed the points, for all students."""
    return [
        Decided(one.student, links.student(one.student, one.lesson), one.lesson, one.reason)
        for one in roll.standings
        if one.reason
    ]


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


def _concern(student: str, what: str, status: str, why: str, *, anchor: str = "") -> Concern:
    return Concern(student, links.student(student, anchor) if student else "", what, status, why)


def _refused(reports: Sequence[Report]) -> list[Concern]:
    """Return the problems of refused submissions. A zip that was refused for several lessons is listed once."""
    refused: dict[tuple[str, str], list[str]] = {}
    for given in (report.submission for report in reports if report.submission.refused):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    return [_concern(student, ", ".join(lessons), "refused", why) for (student, why), lessons in refused.items()]


def edges(reports: Sequence[Report]) -> list[Edge]:
    """Return the undecided grades of these reports, sorted by the names of their tasks."""
    found = []
    for report in reports:
        student = report.submission.student
        for verdict in report.verdicts:
            if verdict.status is Status.UNDECIDED:
                speed = verdict.attempt.speed or Speed(float("nan"), float("nan"), float("nan"), 0, 0)
                found.append(
                    Edge(
                        student=student,
                        link=links.student(student, verdict.task),
                        task=verdict.task,
                        ratio=measured.ratio(speed.ratio, speed.low, speed.high),
                        interval=" to ".join(measured.interval(speed.ratio, speed.low, speed.high)),
                        rounds=units.count(speed.rounds),
                        points=f"{grade_texts.points(verdict.points)} of {grade_texts.points(verdict.max_points)}",
                    )
                )
    return sorted(found, key=lambda edge: edge.task)
