"""The table of students on the class page, with points and results in each lesson. It can be sorted and filtered."""

from dataclasses import dataclass

from grader.course.roll import Roll, is_faulted
from grader.records import UNGRADED, Report, Status
from grader.reports import grade_texts
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import RIGHT

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
class Cell:
    """The cell of one submission in the table of students. `css_class` sets its colour, which repeats the text."""

    points: str
    status: str
    css_class: str


@dataclass(frozen=True, slots=True)
class StudentRow:
    """The row of one student in the table. `kinds` are the filters (keys of `KINDS`) that show this row."""

    student: str
    cells: tuple[Cell, ...]
    total: str
    kinds: tuple[str, ...]


def student_rows(roll: Roll) -> tuple[StudentRow, ...]:
    """Return a table row for each student, in the order of the class."""
    all_grades = roll.grades()
    return tuple(_row(roll, student, reports, all_grades[student]) for student, reports in roll.by_student().items())


def cell(report: Report | None, points: float | None, *, waiting: bool) -> Cell:
    """Return the table cell of one submission. `points` are the points that count."""
    if report is None:
        return Cell("", "not graded yet" if waiting else "nothing handed in", "none")
    if is_faulted(report):
        return Cell("", grade_texts.status(report), "alarm")
    classes = {grade_texts.css_class(verdict) for verdict in report.verdicts}
    worst = next((one for one in ("alarm", "poor", "edge", "part", "good") if one in classes), "none")
    return Cell(grade_texts.points(points or 0.0), grade_texts.status(report), worst)


def _row(roll: Roll, student: str, reports: dict[str, Report], grades: dict[str, float | None]) -> StudentRow:
    waiting = {hand_in.lesson for hand_in in roll.waiting if hand_in.student == student}
    total = sum(filter(None, grades.values()))
    short = total < sum(map(roll.possible, roll.lessons))
    return StudentRow(
        student=student,
        cells=tuple(
            cell(reports.get(lesson), grades.get(lesson), waiting=lesson in waiting) for lesson in roll.lessons
        ),
        total=grade_texts.total(total, final=not waiting) if reports else "",
        kinds=tuple(kind for kind, holds in _kinds(roll, student, reports, waiting, short=short).items() if holds),
    )


def _kinds(roll: Roll, student: str, reports: dict[str, Report], waiting: set[str], *, short: bool) -> dict[str, bool]:
    """Return, for each filter of the table, whether it shows the row of this student."""
    verdicts = [verdict for report in reports.values() for verdict in report.verdicts]
    ends, endings = {verdict.status for verdict in verdicts}, set(map(grade_texts.ended, verdicts))
    refused = any(report.submission.refused for report in reports.values())
    misnamed = any(file.misnamed for file in roll.left_out if file.student == student)
    gone = any(hand_in.student == student for hand_in in roll.gone)
    return {
        "human": refused or misnamed or gone or bool(ends & set(NEEDS_A_HUMAN)),
        "misnamed": misnamed,
        "stub": NOT_WRITTEN in endings,
        "syntax": grade_texts.SYNTAX_ERROR in endings,
        "refused": refused,
        "wrong": bool(ends - RIGHT - UNGRADED),
        "short": short,
        "absent": bool(set(roll.lessons) - set(reports) - waiting),
        "waiting": bool(waiting),
    }
