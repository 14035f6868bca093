"""Points, results and lesson titles as text. All reports use these texts."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from grader.course.by_hand import HandEntry
from grader.course.results import HandIn
from grader.course.roll import Roll, folder_name, is_faulted
from grader.course.totals import CourseTotal, course_total
from grader.records import UNGRADED, Cost, Report, Speed, Status, Verdict
from grader.trials.faults import NOT_PYTHON, NOT_WRITTEN
from grader.trials.score import EARNS
from harness.rendering import measured, units

BOARD = "leaderboard.html"
PAGE = "report.html"
"""The file name of the class page in the output folder, and of a student's page in the student's folder."""
RESULTS = "results.json"
NO_ATTEMPT = "no attempt was handed in"
SYNTAX_ERROR = "syntax error"

STATUS = {status: status.value for status in Status} | {
    Status.PASSED: "right",
    Status.RAISED: "raised an error",
    Status.CHEATED: "broke the rules",
    Status.IMPOSSIBLE: "right, in an impossible time",
    Status.UNDECIDED: "right, close to a tier",
    Status.TOO_NOISY: "not graded (machine too noisy)",
    Status.GRADER_ERROR: "not graded (grader error)",
}
"""The text that reports show for each status of a graded task."""

PERCENT = 100.0
"""The maximum of a total that the course weights, because students may have different lessons dropped."""

_CSS_CLASS = {
    **dict.fromkeys((*UNGRADED, Status.CHEATED, Status.IMPOSSIBLE), "alarm"),
    Status.PASSED: "good",
    Status.UNDECIDED: "edge",
}

_NUMBERS: Final = {1: "one", 2: "two", 3: "three", 4: "four"}

_SPELLED = {"ab": "A/B", "cprofile": "cProfile", "cuda": "CUDA", "jit": "JIT", "timeit": "timeit"}
_SPELLED |= {"timer": "Timer", "torch": "PyTorch"}
"""Words of lesson names that are spelled differently in a title."""


def title(lesson: str) -> str:
    """Return a lesson's name as a title: "04_autorange" → "Autorange", "03_cuda_sync" → "CUDA sync"."""
    first, *others = lesson.partition("_")[2].split("_")
    if not first:
        return lesson
    return " ".join([_SPELLED.get(first, first.capitalize()), *(_SPELLED.get(word, word) for word in others)])


def task_title(task: str) -> str:
    """Return a task's full name with its lesson's title: "04_autorange.fold" → "Autorange: fold"."""
    lesson, _, name = task.partition(".")
    return f"{title(lesson)}: {name}"


def link(student: str, section: str = "") -> str:
    """Return the relative address of a student's page or, if `section` is given, of a task or lesson on that page."""
    return f"{quote(folder_name(student))}/{PAGE}{'#' + quote(section) if section else ''}"


def points(value: float) -> str:
    """Return points without trailing zeros: 6.0 → "6", 4.5 → "4.5"."""
    return format(round(value, 2) + 0.0, ".15g")


def set_aside(roll: Roll, lesson: str = "") -> list[str]:
    """Return a sentence on each attempt of a lesson, or of all lessons, that does not count by the course rules."""
    return [str(one) for one in roll.set_aside if lesson in {"", one.lesson}]


def sealed(roll: Roll, hand_in: HandIn) -> str:
    """Return a sentence on a hand-in whose result is hidden from students."""
    when = roll.moment(hand_in.at) if hand_in.at else "at an unknown time"
    return f"Handed in {when}: {hand_in.path} (SHA-256 {hand_in.sha256[:12]}…). The result is hidden at present."


def totals(roll: Roll) -> dict[str, CourseTotal]:
    """Return each student's total of the course, or {} if the course file has no rule on totals.

    Such a rule is a weight, extra credit, or the number of lessons that are dropped. A total is not final before the
    due date of a lesson that was not handed in.
    """
    course = roll.course
    if not (course.weights or course.drop_lowest or course.extra_credit):
        return {}
    possible = {lesson: roll.possible(lesson) for lesson in roll.lessons}
    found = {}
    for student, given in roll.grades().items():
        due = (course.rule(student, lesson).due_utc for lesson in roll.lessons if lesson not in given)
        is_open = any(roll.at and at and roll.at <= at for at in due)
        one = course_total(given, possible, course, title)
        found[student] = replace(one, is_final=one.is_final and not is_open)
    return found


def percent(total: CourseTotal | None) -> str:
    """Return a total of the course as text, with "so far" unless it is final, or "" without a total."""
    if total is None or total.percent is None:
        return ""
    return f"{points(total.percent)} %{'' if total.is_final else ' so far'}"


def total(value: float, *, final: bool) -> str:
    """Return a student's total points as text, with "so far" unless every lesson is graded."""
    return points(value) if final else f"{points(value)} so far"


def status(report: Report) -> str:
    """Return the results of a submission in a few words, such as "refused", "right", or "one right, one wrong"."""
    if report.submission.refused:
        return "refused"
    ends = {verdict.status for verdict in report.verdicts}
    for missing in (Status.GRADER_ERROR, Status.TOO_NOISY):
        if missing in ends:
            return STATUS[missing]
    right_first = sorted(report.verdicts, key=lambda verdict: verdict.status not in EARNS)
    texts = Counter(map(ended, right_first))
    if len(texts) == 1:
        return next(iter(texts))
    return ", ".join(f"{_NUMBERS.get(number, number)} {text}" for text, number in texts.items())


def ended(verdict: Verdict) -> str:
    """Return the result of one task in a few words."""
    if verdict.attempt.help == NOT_WRITTEN:
        return NOT_WRITTEN
    if verdict.status is Status.REFUSED and verdict.attempt.rationale.startswith(NOT_PYTHON):
        return SYNTAX_ERROR
    return STATUS[verdict.status]


def explanation(verdict: Verdict) -> str:
    """Return a text that explains the result of a task to the student. It is never empty."""
    attempt = verdict.attempt
    return "\n".join(line for line in (attempt.rationale, attempt.help) if line) or f"{STATUS[attempt.status]}."


def speed_is_finite(speed: Speed) -> bool:
    """Return whether a measured ratio and its interval are positive numbers, so that they can be drawn."""
    return all(0 < value < math.inf for value in (speed.ratio, speed.low, speed.high))


def precision(cost: Cost | None, speed: Speed) -> str:
    """Return how exactly a ratio is known as text: its interval, or how it was found. Return "" if that is unknown."""
    if speed.low < speed.high:
        return " to ".join(measured.interval(speed.ratio, speed.low, speed.high))
    if cost is None or cost.clock:
        return ""
    return f"within {units.percent(cost.spread)}" if cost.spread else "counted in a simulation"


def css_class(verdict: Verdict) -> str:
    """Return the CSS class that sets the colour of a task's result."""
    known = _CSS_CLASS.get(verdict.status, "poor")
    return "part" if known == "good" and verdict.points < verdict.max_points else known


@dataclass(frozen=True, slots=True)
class LessonResult:
    """A student's result in a lesson: points and status as text, and the CSS class that sets the colour of the text."""

    points: str
    status: str
    css_class: str


def hand_entry(roll: Roll, entry: HandEntry, *, student: bool = False, holds: bool = True) -> str:
    """Return a line on points or a comment by hand: what, who, when, the comment, and the measured points.

    With `student`, the line names the student. `holds` is False if a later entry replaced or took back this entry.
    """
    said = "comment" if entry.points is None else "points by hand"
    most = next((points(one.points) for one in roll.tasks if one.task == entry.task), "")
    if entry.undo:
        said = f"the last {said} taken back"
    elif entry.points is not None:
        verdict = roll.verdict(entry.student, entry.task)
        measured = f"measured: {points(verdict.points)}, {ended(verdict)}" if verdict else "nothing measured"
        said = f"{points(entry.points)}{f' of {most}' if most else ''} {said} ({measured})"
    where = ", ".join(filter(None, (entry.student if student else "", entry.task)))
    begin = f"{where}: {said}" if where else said[:1].upper() + said[1:]
    end = "" if holds or entry.undo else " A later entry replaced it or took it back."
    comment = f" Comment: {entry.comment}" if entry.comment else ""
    return f"{begin}. Given by {entry.by}, {roll.moment(entry.at)}.{end}{comment}"


def _left_out(roll: Roll, lesson: str) -> str:
    """Return what the only student of `roll` handed in for a lesson without an attempt, or "" for nothing.

    A file that resembles no lesson can belong to each lesson of a student without any attempt.
    """
    mine = [file for file in roll.left_out if file.lesson == lesson or not (file.lesson or roll.reports)]
    if any(file.is_unchanged for file in mine):
        return "not changed"
    return "handed in, but not an exercise" if mine else ""


def lesson_result(roll: Roll, lesson: str) -> LessonResult:
    """Return the result of the only student of `roll` in a lesson."""
    (student,) = roll.students
    report = next((one for one in roll.reports if one.submission.lesson == lesson), None)
    counted = roll.gradebook()[student].get(lesson)
    by_hand = any(one.by_hand for one in roll.standings if one.lesson == lesson)
    if report is None or (by_hand and counted is not None):
        waiting = any(one.lesson == lesson for one in roll.waiting)
        nothing = _left_out(roll, lesson) or "nothing handed in"
        if any(one.lesson == lesson for one in roll.set_aside):
            nothing = "handed in, does not count"
        if any(one.lesson == lesson for one in roll.sealed) and not waiting:
            nothing = "handed in, result hidden"
        shown = ("points by hand", "part") if by_hand else ("not graded yet" if waiting else nothing, "none")
        return LessonResult("" if counted is None else points(counted), *shown)
    if is_faulted(report):
        return LessonResult("", status(report), "alarm")
    classes = {css_class(verdict) for verdict in report.verdicts}
    worst = next((one for one in ("alarm", "poor", "edge", "part", "good") if one in classes), "none")
    return LessonResult(points(counted or 0.0), status(report), worst)
