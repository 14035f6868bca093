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


@dataclass(frozen=True, slots=True)
class Concern:
    """Something for a human: who, on what, and why."""

    student: str
    link: str
    what: str
    status: str
    why: str


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
    sittings, earlier = course.sittings(roll.spans)
    return templates.render(
        "class.html",
        roll=roll,
        lessons=[(title(lesson), lesson, words.points(roll.possible(lesson))) for lesson in roll.lessons],
        lines=table.lines(roll),
        kinds=table.KINDS,
        concerns=concerns(roll.reports),
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
        seconds=units.seconds(sum(report.duration_s for report in roll.reports)),
        board=links.BOARD if board else "",
    )


def concerns(reports: Sequence[Report]) -> list[Concern]:
    """Return what needs a human, refusals first; a zip refused for several lessons is one concern."""
    refused: dict[tuple[str, str], list[str]] = {}
    for given in (report.submission for report in reports if report.submission.refused):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    found = [
        Concern(student, links.student(student), ", ".join(lessons), "refused", why)
        for (student, why), lessons in refused.items()
    ]
    for status in (Status.GRADER_ERROR, Status.CHEATED):
        for report in reports:
            student = report.submission.student
            found += [
                Concern(
                    student,
                    links.student(student, verdict.task),
                    verdict.task,
                    words.STATUS[status],
                    words.explanation(verdict),
                )
                for verdict in report.verdicts
                if verdict.status is status and not report.submission.refused
            ]
    return found


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
