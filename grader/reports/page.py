"""The class on one page of HTML for the instructor: what needs a human first, then every student.

Self-contained: no script, no font, no file from elsewhere. Names and texts of students are escaped by the
template.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from grader.records import Report, Status, Verdict
from grader.reports import words
from grader.reports.gradebook import title
from grader.roll import Roll, folder_name, is_faulted
from harness import units

NEEDS_A_HUMAN = (Status.GRADER_ERROR, Status.CHEATED, Status.UNDECIDED)
"""What a task can end in that somebody should look at."""

_LOOK = {
    "passed": "good",
    "undecided": "edge",
    "cheated": "alarm",
    "grader error": "alarm",
}
_BARS = 10

_SIGNS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: "\N{SYMBOL FOR DELETE}"}
_SIGNS |= dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}")
"""Each control character as what is written for it: U+2400 and the following are their pictures."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One hand-in in the big table; `look` names its colour, which says nothing that the words do not."""

    points: str
    status: str
    look: str


@dataclass(frozen=True, slots=True)
class Line:
    """One student in the big table; `link` is the student's folder beside the page, as a URL."""

    student: str
    link: str
    cells: tuple[Cell, ...]
    total: str


@dataclass(frozen=True, slots=True)
class Concern:
    """Something for a human: who, on what, and why."""

    student: str
    what: str
    status: str
    why: str


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task over the class: how many were right, what they earned, how fast they were."""

    task: str
    graded: int
    right: str
    points: str
    ratio: str
    ends: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the distribution of points, `share` of the tallest one."""

    label: str
    students: int
    share: float


def render(roll: Roll) -> str:
    """Return the page."""
    table = roll.by_student()
    possible = sum(roll.possible(lesson) for lesson in roll.lessons)
    totals = [sum(report.points for report in reports.values()) for reports in table.values() if reports]
    machines = {report.environment.fingerprint(): report.environment.describe() for report in roll.reports}
    open_cells = sum(not report.sandboxed for report in roll.reports)
    return _template().render(
        roll=roll,
        lessons=[(title(lesson), lesson, words.points(roll.possible(lesson))) for lesson in roll.lessons],
        lines=[_line(roll, student, reports) for student, reports in table.items()],
        concerns=_concerns(roll.reports),
        tasks=[_task_row(roll, task.task, task.points) for task in roll.tasks],
        bars=_bars(totals, possible),
        median=words.points(statistics.median(totals)) if totals else units.UNKNOWN,
        possible=words.points(possible),
        unsandboxed=open_cells,
        missing=Counter(layer for report in roll.reports for layer in report.missing).most_common(),
        machines=sorted(f"{text} ({mark})" for mark, text in machines.items()),
        seconds=units.seconds(sum(report.duration_s for report in roll.reports)),
        count=units.count,
    )


@cache
def _template() -> Template:
    rooms = Environment(
        loader=PackageLoader("grader", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return rooms.get_template("page.html")


def _shown(value: object) -> object:
    """Show control characters by their signs: HTML forbids them, and a terminal that is shown the file obeys them."""
    return value.translate(_SIGNS) if isinstance(value, str) else value


def _line(roll: Roll, student: str, reports: dict[str, Report]) -> Line:
    waiting = {hand_in.lesson for hand_in in roll.waiting if hand_in.student == student}
    total = sum(report.points for report in reports.values())
    return Line(
        student=student,
        link=quote(folder_name(student)),
        cells=tuple(_cell(reports.get(lesson), lesson in waiting) for lesson in roll.lessons),
        total=words.points(total) if reports else "",
    )


def _cell(report: Report | None, waiting: bool) -> Cell:
    if report is None:
        return Cell("", "not graded yet" if waiting else "nothing handed in", "none")
    if is_faulted(report):
        return Cell("", words.status(report), "alarm")
    full = report.points >= report.max_points
    looks: set[str] = {_LOOK.get(verdict.status, "poor") for verdict in report.verdicts}
    look = next((look for look in ("alarm", "poor", "edge", "good") if look in looks), "none")
    if look == "good" and not full:
        look = "part"
    return Cell(words.points(report.points), words.status(report), look)


def _concerns(reports: Sequence[Report]) -> list[Concern]:
    """Return what needs a human, refusals first; a zip refused for several lessons is one concern."""
    refused: dict[tuple[str, str], list[str]] = {}
    for given in (report.submission for report in reports if report.submission.source is None):
        refused.setdefault((given.student, given.refusal), []).append(given.lesson)
    return [
        *(Concern(student, ", ".join(lessons), "refused", why) for (student, why), lessons in refused.items()),
        *(
            Concern(report.submission.student, verdict.task, words.STATUS[status], words.explanation(verdict))
            for status in NEEDS_A_HUMAN
            for report in reports
            for verdict in report.verdicts
            if verdict.status is status and report.submission.source is not None
        ),
    ]


def _task_row(roll: Roll, task: str, points: float) -> TaskRow:
    verdicts: list[Verdict] = [
        verdict
        for report in roll.reports
        if report.submission.source is not None
        for verdict in report.verdicts
        if verdict.task == task
    ]
    graded = sum(verdict.status is not Status.GRADER_ERROR for verdict in verdicts)
    right = sum(verdict.status in {Status.PASSED, Status.UNDECIDED} for verdict in verdicts)
    ratios = [verdict.attempt.speed.ratio for verdict in verdicts if verdict.attempt.speed]
    ends = Counter(words.STATUS[verdict.status] for verdict in verdicts)
    earned = words.points(statistics.median(verdict.points for verdict in verdicts)) if verdicts else "0"
    return TaskRow(
        task=task,
        graded=graded,
        right=units.percent(right / graded) if graded else units.UNKNOWN,
        points=f"{earned} of {words.points(points)}",
        ratio=units.ratio(statistics.median(ratios)) if ratios else units.UNKNOWN,
        ends=", ".join(f"{number} {end}" for end, number in ends.most_common()) or "none graded",
    )


def _bars(totals: list[float], possible: float) -> tuple[Bar, ...]:
    """Return how many students have how many of all points, in tenths; full marks belong to the last."""
    if not totals or possible <= 0:
        return ()
    bins = Counter(min(int(total / possible * _BARS), _BARS - 1) for total in totals)
    tallest = max(bins.values())
    edges = [words.points(possible * tenth / _BARS) for tenth in range(_BARS + 1)]
    return tuple(
        Bar(f"{edges[tenth]} to {edges[tenth + 1]}", bins[tenth], bins[tenth] / tallest) for tenth in range(_BARS)
    )
