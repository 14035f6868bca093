"""Roll → the table of students: points and status by lesson, to be sorted and filtered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.class_run.roll import Roll, is_faulted
from grader.records import Report, Status, Verdict
from grader.reports import links, words
from grader.trials.faults import NOT_WRITTEN

NEEDS_A_HUMAN = (Status.GRADER_ERROR, Status.CHEATED, Status.UNDECIDED)
"""What a task can end in that somebody should look at."""

KINDS = {
    "human": "something for a human",
    "refused": "a hand-in refused",
    "wrong": "a task not right",
    "short": "less than full marks",
    "stub": "a function not written yet",
    "syntax": "a syntax error",
    "misnamed": "a file left out for its name",
    "absent": "something not handed in",
    "waiting": "something not graded yet",
}
"""What a table can be narrowed to: students with …"""

_LOOK = {
    Status.PASSED: "good",
    Status.UNDECIDED: "edge",
    Status.CHEATED: "alarm",
    Status.GRADER_ERROR: "alarm",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One hand-in in the table; `look` names its colour, which says nothing that the words do not."""

    points: str
    status: str
    look: str


@dataclass(frozen=True, slots=True)
class Line:
    """One student in the table; `kinds` are those of `KINDS` that hold."""

    student: str
    link: str
    cells: tuple[Cell, ...]
    total: str
    kinds: tuple[str, ...]


def lines(roll: Roll) -> tuple[Line, ...]:
    """Return a line for each student of the class, in its order."""
    waiting = {(hand_in.student, hand_in.lesson) for hand_in in roll.waiting}
    possible, grades = sum(roll.possible(lesson) for lesson in roll.lessons), roll.grades()
    misnamed = {file.student for file in roll.left_out if file.misnamed}
    gone = {hand_in.student for hand_in in roll.gone}
    return tuple(
        _line(
            roll,
            student,
            reports,
            [kind for kind, named in (("human", misnamed | gone), ("misnamed", misnamed)) if student in named],
            {lesson for lesson in roll.lessons if (student, lesson) in waiting},
            grades[student],
            possible,
        )
        for student, reports in roll.by_student().items()
    )


def cell(report: Report | None, points: float | None, *, waiting: bool) -> Cell:
    """Return how one hand-in went, and the points that count."""
    if report is None:
        return Cell("", "not graded yet" if waiting else "nothing handed in", "none")
    if is_faulted(report):
        return Cell("", words.status(report), "alarm")
    looks = {look(verdict) for verdict in report.verdicts}
    worst = next((one for one in ("alarm", "poor", "edge", "part", "good") if one in looks), "none")
    return Cell(words.points(points or 0.0), words.status(report), worst)


def look(verdict: Verdict) -> str:
    """Return the name of a verdict's colour."""
    known = _LOOK.get(verdict.status, "poor")
    return "part" if known == "good" and verdict.points < verdict.max_points else known


def _line(
    roll: Roll,
    student: str,
    reports: dict[str, Report],
    kinds: Sequence[str],
    waiting: set[str],
    grades: dict[str, float | None],
    possible: float,
) -> Line:
    total = sum(filter(None, grades.values()))
    return Line(
        student=student,
        link=links.student(student),
        cells=tuple(
            cell(reports.get(lesson), grades.get(lesson), waiting=lesson in waiting) for lesson in roll.lessons
        ),
        total=words.total(total, final=not waiting) if reports else "",
        kinds=tuple(dict.fromkeys((*kinds, *_kinds(roll, reports, waiting, short=total < possible)))),
    )


def _kinds(roll: Roll, reports: dict[str, Report], waiting: set[str], *, short: bool) -> Iterator[str]:
    ends = {verdict.status for report in reports.values() for verdict in report.verdicts}
    told = {words.ended(verdict) for report in reports.values() for verdict in report.verdicts}
    refused = any(report.submission.refused for report in reports.values())
    if refused or ends & set(NEEDS_A_HUMAN):
        yield "human"
    if NOT_WRITTEN in told:
        yield "stub"
    if words.SYNTAX_ERROR in told:
        yield "syntax"
    if refused:
        yield "refused"
    if ends - {Status.PASSED, Status.UNDECIDED, Status.GRADER_ERROR}:
        yield "wrong"
    if short:
        yield "short"
    if set(roll.lessons) - set(reports) - waiting:
        yield "absent"
    if waiting:
        yield "waiting"
