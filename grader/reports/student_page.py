"""The page of one student: the result of each task, its measurements, and what to do next.

The page can be given to the student. It has no data of other students, no link to the class page, no output of the
submission, and no script.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.course.roll import Roll, Span, Standing
from grader.records import CLOCKED, Control, Cost, Report, Speed, Verdict
from grader.reports import charts, dates, grade_texts, templates
from grader.reports.charts import Chart, Mark
from grader.reports.grade_texts import title
from grader.reports.student_table import Cell, cell, css_class
from grader.reports.task_info import TaskInfo
from grader.trials import failing_case
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import compared, reached_share
from grader.ways import TaskWays
from harness.machine.environment import Environment
from harness.paired.rounds import Round, hides_work
from harness.rendering import measured, units

BINS = 24


@dataclass(frozen=True, slots=True)
class TaskView:
    """The texts and charts of one task on the student's page. `facts` are pairs of a label and a text.

    `rationale` explains the result and may have several lines.
    """

    task: str
    points: str
    status: str
    css_class: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    rationale: str
    help: str
    hints: tuple[str, ...]
    read: str
    idea: str
    ways: TaskWays | None
    references: str
    ladder: Chart | None
    rounds: Chart | None


@dataclass(frozen=True, slots=True)
class LessonView:
    """The texts of one lesson on the student's page. A lesson without a grade has no tasks."""

    title: str
    lesson: str
    cell: Cell
    points: str
    facts: tuple[tuple[str, str], ...]
    refusal: str
    notes: tuple[str, ...]
    tasks: tuple[TaskView, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A machine with or without a sandbox, and the names of the lessons that were graded on it."""

    lessons: str
    machine: str
    fingerprint: str
    details: tuple[tuple[str, str], ...]
    sandboxed: bool


def render(roll: Roll, infos: Mapping[str, TaskInfo] | None = None, *, pseudonym: str = "") -> str:
    """Return the page of the only student of `roll`.

    The page has histograms if the reports in `roll` include single measurements. `infos` has texts and grade thresholds
    of tasks. `pseudonym` is the student's name on the leaderboard.
    """
    (student,) = roll.students
    reports = {report.submission.lesson: report for report in roll.reports}
    possible, grades = sum(roll.possible(lesson) for lesson in roll.lessons), roll.grades()[student]
    return templates.render(
        "student.html",
        roll=roll,
        student=student,
        pseudonym=pseudonym,
        total=grade_texts.total(sum(filter(None, grades.values())), final=roll.is_final) if reports else "",
        possible=grade_texts.points(possible),
        lessons=[
            _lesson(roll, lesson, reports.get(lesson), grades.get(lesson), infos or {}) for lesson in roll.lessons
        ],
        places=places(roll.reports),
        unsandboxed=[report.submission.lesson for report in roll.reports if not report.sandboxed],
    )


def task_view(verdict: Verdict, info: TaskInfo | None) -> TaskView:
    """Return the texts and charts of one task for the student's page."""
    attempt, full = verdict.attempt, verdict.points >= verdict.max_points
    marks = info.marks() if info else ()
    speed = attempt.speed if attempt.speed and _is_measured(attempt.speed, info) else None
    return TaskView(
        task=verdict.task,
        points=f"{grade_texts.points(verdict.points)} of {grade_texts.points(verdict.max_points)} points",
        status=grade_texts.ended(verdict),
        css_class=css_class(verdict),
        summary=info.summary if info else "",
        facts=tuple(_facts(verdict, speed, info)),
        rationale=attempt.rationale,
        help="" if attempt.help == NOT_WRITTEN else attempt.help,
        hints=() if full or info is None else info.hints,
        read=info.read if info and not full else "",
        idea=info.idea if info and full else "",
        ways=info.ways if info and full and info.ways.ways else None,
        references=info.references if info and full else "",
        ladder=_ladder(verdict, speed, marks) if speed else None,
        rounds=_rounds(verdict, speed, marks) if speed and attempt.rounds else None,
    )


def places(reports: Sequence[Report]) -> tuple[Place, ...]:
    """Return the machines on which reports were graded, with the names of their lessons.

    A machine on which some lessons were graded with a sandbox, and some without, is returned twice.
    """
    alike: dict[tuple[Environment, bool], list[str]] = {}
    for report in reports:
        how = (report.environment, report.sandboxed)
        alike.setdefault(how, []).append(report.submission.lesson)
    return tuple(
        Place(
            lessons=", ".join(lessons),
            machine=environment.describe(),
            fingerprint=environment.fingerprint(),
            details=tuple((name.replace("_", " "), _plain(value)) for name, value in environment.to_dict().items()),
            sandboxed=sandboxed,
        )
        for (environment, sandboxed), lessons in alike.items()
    )


def _lesson(
    roll: Roll, lesson: str, report: Report | None, counted: float | None, infos: Mapping[str, TaskInfo]
) -> LessonView:
    waiting = any(hand_in.lesson == lesson for hand_in in roll.waiting)
    span = next((span for span in roll.spans if span.lesson == lesson), None)
    standing = next((one for one in roll.standings if one.lesson == lesson), None)
    possible = grade_texts.points(roll.possible(lesson))
    earned = f"{grade_texts.points(counted or 0.0)} of {possible} points"
    refusal = report.submission.refusal if report else ""
    return LessonView(
        title=title(lesson),
        lesson=lesson,
        cell=cell(report, counted, waiting=waiting),
        points=earned if report else f"this exercise has {possible} points",
        facts=tuple(_handed_in(roll, lesson, report, span, standing)),
        refusal=refusal,
        notes=report.notes if report else (),
        tasks=tuple(task_view(one, infos.get(one.task)) for one in report.verdicts) if report and not refusal else (),
    )


def _handed_in(
    roll: Roll, lesson: str, report: Report | None, span: Span | None, standing: Standing | None
) -> Iterator[tuple[str, str]]:
    """Yield pairs of a label and a text on a student's submission, such as "Due" and the due date."""
    (student,), zone = roll.students, roll.course.zone
    rule = roll.course.rule(student, lesson)
    yield from dates.due(rule, zone)
    yield from (("Not graded", grade_texts.replaced_text(hand_in)) for hand_in in roll.gone if hand_in.lesson == lesson)
    yield from (("Waiting to be graded", hand_in.path) for hand_in in roll.waiting if hand_in.lesson == lesson)
    if report is None:
        return
    yield from dates.handed_in(standing.handed_in if standing else report.submission.handed_in, rule, zone)
    if standing and standing.reason:
        yield "Points that count", standing.reason
    yield "File", report.submission.path
    yield "SHA-256", report.submission.sha256
    if span:
        lasted = units.seconds(max(report.duration_s, 0.001), 2)
        again = ". The file was graded again, and the newest grade counts" if span.regraded else ""
        yield "Graded", f"{dates.moment(span.finished, zone)}, in {lasted}{again}"


def _facts(verdict: Verdict, speed: Speed | None, info: TaskInfo | None) -> Iterator[tuple[str, str]]:
    attempt = verdict.attempt
    if attempt.cases:
        yield "Right cases", f"{units.count(attempt.cases_passed)} of {units.count(attempt.cases)}"
    if case := failing_case.named_in(attempt):
        yield "Smallest failing case", case
    if speed is None:
        return
    yield "Measured", f"{compared(verdict.cost, speed)}{_interval(verdict.cost, speed)}"
    if attempt.rounds:
        yield (
            "Rounds",
            f"{units.count(len(attempt.rounds))} in {len({r.pair for r in attempt.rounds})} pairs of processes",
        )
    if info and (coming := info.next_tier(speed)):
        yield "Next tier", coming
    if attempt.control:
        yield from _limit(speed, attempt.control)
        yield "Control", _control(attempt.control)


def _interval(cost: Cost | None, speed: Speed) -> str:
    if speed.low == speed.high:
        return "" if cost in CLOCKED else " (exact count)"
    low, high = measured.interval(speed.ratio, speed.low, speed.high)
    return f" (interval: {low} to {high})"


def _limit(speed: Speed, control: Control) -> Iterator[tuple[str, str]]:
    if control.most_ratio and (share := reached_share(speed, control)):
        most = units.ratio(control.most_ratio, 2)
        yield "Physical limit", f"{most} on this core. The submission reaches {share} of this limit."


def _control(control: Control) -> str:
    expected = units.ratio(1 + control.planted)
    found = (
        f"The baseline compared with itself: {units.ratio(control.same, 4)}, expected 1×. The baseline compared with a "
        f"copy slowed by {units.percent(control.planted)}: {units.ratio(control.slowed, 4)}, expected {expected}. The "
        "control passed."
    )
    if not control.voided:
        return found
    times = "once" if control.voided == 1 else f"{control.voided} times"
    return f"{found} Before that, the duel was repeated {times} because the control failed."


def _is_measured(speed: Speed, info: TaskInfo | None) -> bool:
    """Return whether the page shows the ratio: the task gives points for speed, and the ratio is a finite number."""
    counts = bool(info.steps) if info else not speed.ratio == speed.low == speed.high == 1.0
    return counts and all(0 < value < math.inf for value in (speed.ratio, speed.low, speed.high))


def _ladder(verdict: Verdict, speed: Speed, marks: Sequence[Mark]) -> Chart:
    tiers = ", ".join(units.ratio(mark.value) for mark in marks)
    known = f" Tiers at {tiers}." if tiers else ""
    label = f"{verdict.task}: {compared(verdict.cost, speed)}{_interval(verdict.cost, speed)}.{known}"
    return charts.ladder(speed.ratio, speed.low, speed.high, marks or [Mark(1.0, "baseline", "tier")], label=label)


def _rounds(verdict: Verdict, speed: Speed, marks: Sequence[Mark]) -> Chart:
    """Return a histogram of the ratios of single measurements, with the grade thresholds in its range.

    The first and last bar include the outliers.
    """
    ratios = ratios_of(verdict.attempt.rounds, verdict.cost)
    axis = charts.ratio_axis([*charts.central_range(ratios), speed.low, speed.high])
    near = [mark for mark in marks if axis.low < mark.value < axis.high]
    spread = (speed.high - speed.low) / 2
    return charts.histogram(
        ratios,
        axis,
        label=f"Ratio of each round of {verdict.task}",
        bins=BINS,
        unit=lambda ratio: measured.ratio(ratio, ratio - spread, ratio + spread),
        marks=near,
        band=(speed.low, speed.high),
    )


def ratios_of(rounds: Sequence[Round], cost: Cost | None) -> list[float]:
    """Return the ratio of each round: of wall times if the task's cost is wall time, else of CPU times.

    A round times the baseline and the submission once each. Wall times are also used if the CPU clock missed work in
    more than half of the rounds.
    """
    by_wall = cost is Cost.WALL_TIME or hides_work(rounds)
    return [one.wall_ratio if by_wall else one.ratio for one in rounds]


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={setting}" for name, setting in value.items()) or "none"
    return "none" if value is None else str(value)
