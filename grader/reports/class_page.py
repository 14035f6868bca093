"""The class on one page of HTML for the instructor: what needs a human first, every student last.

Self-contained: no font and no file from elsewhere, and one script of our own that sorts and filters tables. Without
it the page is whole. Names and texts of students are escaped by the template.
"""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.class_run.roll import Roll
from grader.records import Report, Speed, Status
from grader.reports import course, links, spread, table, templates, words
from grader.reports.gradebook import title
from grader.reports.guide import Guide
from harness import units

_SHOWN_FILES = 5


@dataclass(frozen=True, slots=True)
class Concern:
    """Something for a human: who, on what, and why. `student` and `link` are empty where it is no student's."""

    student: str
    link: str
    what: str
    status: str
    why: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What the course's policy made of a student's attempts at a lesson, in words."""

    student: str
    link: str
    lesson: str
    reason: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A verdict that stayed undecided at a tier, and went to the student."""

    student: str
    link: str
    task: str
    ratio: str
    interval: str
    rounds: str
    points: str


def render(roll: Roll, guides: Mapping[str, Guide] | None = None, *, board: bool = False) -> str:
    """Return the page. `guides` may know the tiers of tasks; `board` says that there is a leaderboard to link to."""
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    earned = [[points for points in grades.values() if points is not None] for grades in roll.grades().values()]
    totals = [sum(points) for points in earned if points]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    sittings, earlier = course.sittings([span for _, span in roll.gradings() if span])
    return templates.render(
        "class.html",
        roll=roll,
        lessons=[(title(lesson), lesson, words.points(roll.possible(lesson))) for lesson in roll.lessons],
        lines=table.lines(roll),
        kinds=table.KINDS,
        concerns=concerns(roll),
        copies=[group for group in roll.same_content if not group.untouched],
        untouched=[group for group in roll.same_content if group.untouched],
        decided=decided(roll),
        aside=aside(roll),
        edges=edges(roll.reports),
        tasks=spread.tasks(roll, guides or {}),
        totals=spread.totals(totals, possible),
        hardest=spread.hardest(roll),
        sittings=sittings,
        earlier=earlier,
        noise=course.noise(roll),
        median=words.points(statistics.median(totals)) if totals else units.UNKNOWN,
        possible=words.points(possible),
        unsandboxed=sum(not report.sandboxed for report in roll.reports),
        missing=Counter(layer for report in roll.reports for layer in report.missing).most_common(),
        machines=sorted(f"{text} ({mark})" for mark, text in machines.items()),
        seconds=units.seconds(sum(report.duration_s for report, _ in roll.gradings())),
        board=links.BOARD if board else "",
    )


def concerns(roll: Roll) -> list[Concern]:
    """Return what needs a human: misnamed files, refusals, attempts that are lost or not found, then verdicts."""
    found = [
        _concern(file.student, file.path, f"misnamed: {file.meaning}" if file.meaning else "misnamed", file.why)
        for file in roll.left_out
        if file.misnamed
    ]
    found += _refused(roll.reports)
    found += [_concern(one.student, one.lesson, "replaced before it was graded", words.gone(one)) for one in roll.gone]
    found += [_concern("", "the course's file", "to be struck, and not there", told) for told in roll.unmatched]
    for status in (Status.GRADER_ERROR, Status.CHEATED):
        for report in (report for report in roll.reports if not report.submission.refused):
            student = report.submission.student
            found += [
                _concern(student, verdict.task, words.STATUS[status], words.explanation(verdict), anchor=verdict.task)
                for verdict in report.verdicts
                if verdict.status is status
            ]
    return found


def decided(roll: Roll) -> list[Decided]:
    """Return what the course's policy made of lateness and of several attempts, student by student."""
    return [
        Decided(one.student, links.student(one.student, one.lesson), one.lesson, one.reason)
        for one in roll.standings
        if one.reason
    ]


def aside(roll: Roll) -> list[str]:
    """Return what nobody needs to look at: files that are no exercises, by student, and what collecting noted."""
    others: dict[str, list[str]] = {}
    for file in roll.left_out:
        if not file.misnamed:
            others.setdefault(file.student, []).append(file.path.removeprefix(f"{file.student}/"))
    files = (
        f"{student or 'of no student'}: left aside {', '.join(paths[:_SHOWN_FILES])}"
        + (f" and {len(paths) - _SHOWN_FILES} more" if len(paths) > _SHOWN_FILES else "")
        for student, paths in others.items()
    )
    return [*files, *roll.notes]


def _concern(student: str, what: str, status: str, why: str, *, anchor: str = "") -> Concern:
    return Concern(student, links.student(student, anchor) if student else "", what, status, why)


def _refused(reports: Sequence[Report]) -> list[Concern]:
    """Return the refusals; a zip refused for several lessons is one concern."""
    refused: dict[tuple[str, str], list[str]] = {}
    for given in (report.submission for report in reports if report.submission.refused):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    return [_concern(student, ", ".join(lessons), "refused", why) for (student, why), lessons in refused.items()]


def edges(reports: Sequence[Report]) -> list[Edge]:
    """Return the verdicts that stayed undecided, task by task."""
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
                        ratio=units.ratio(speed.ratio),
                        interval=f"{units.ratio(speed.low)} to {units.ratio(speed.high)}",
                        rounds=units.count(speed.rounds),
                        points=f"{words.points(verdict.points)} of {words.points(verdict.max_points)}",
                    )
                )
    return sorted(found, key=lambda edge: edge.task)
