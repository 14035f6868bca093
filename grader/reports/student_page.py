"""The page of one student: the result of each task, its measurements, and what to do next.

The page can be given to the student. It has no data of other students, no link to the class page, no output of the
submission, and no script.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from grader.course.policy import DateRule, LatePenalty, days_late
from grader.course.roll import Roll
from grader.records import Control, Cost, Report, Speed, Verdict
from grader.reports import charts, grade_texts, task_info, templates
from grader.reports.charts import Chart
from grader.reports.student_table import Cell, cell
from grader.task import Task
from grader.trials import failing_case
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import compared, reached_share
from grader.ways import TaskWays, ways_of
from harness.charts.pictures import Mark
from harness.machine.environment import Environment
from harness.paired.rounds import Round, hides_work
from harness.rendering import measured, units

BINS = 24


@dataclass(frozen=True, slots=True)
class TaskView:
    """One task on the student's page: its result, its texts, its charts, and pairs of a label and a text (`facts`)."""

    verdict: Verdict
    info: Task | None
    ways: TaskWays | None
    facts: tuple[tuple[str, str], ...]
    ladder: Chart | None
    rounds: Chart | None


@dataclass(frozen=True, slots=True)
class LessonView:
    """One lesson on the student's page: its cell in the table of students, its points, its facts and its tasks."""

    lesson: str
    report: Report | None
    cell: Cell
    points: str
    facts: tuple[tuple[str, str], ...]
    tasks: tuple[TaskView, ...]


def render(roll: Roll, infos: Mapping[str, Task] | None = None, *, pseudonym: str = "") -> str:
    """Return the page of the only student of `roll`.

    The page has histograms if the reports in `roll` include single measurements. `infos` are the tasks that are known.
    `pseudonym` is the student's name on the leaderboard.
    """
    (student,) = roll.students
    reports = {report.submission.lesson: report for report in roll.reports}
    grades = roll.grades()[student]
    return templates.render(
        "student.html",
        roll=roll,
        student=student,
        pseudonym=pseudonym,
        total=grade_texts.total(sum(filter(None, grades.values())), final=roll.is_final) if reports else "",
        possible=sum(roll.possible(lesson) for lesson in roll.lessons),
        lessons=[
            _lesson(roll, lesson, reports.get(lesson), grades.get(lesson), infos or {}) for lesson in roll.lessons
        ],
        places=places(roll.reports),
        NOT_WRITTEN=NOT_WRITTEN,
    )


def places(reports: Sequence[Report]) -> dict[tuple[Environment, bool], list[str]]:
    """Return the lessons that were graded on each machine, with and without a sandbox."""
    alike: dict[tuple[Environment, bool], list[str]] = {}
    for report in reports:
        alike.setdefault((report.environment, report.sandboxed), []).append(report.submission.lesson)
    return alike


def _lesson(
    roll: Roll, lesson: str, report: Report | None, counted: float | None, infos: Mapping[str, Task]
) -> LessonView:
    possible = grade_texts.points(roll.possible(lesson))
    graded = report.verdicts if report and not report.submission.refusal else ()
    return LessonView(
        lesson=lesson,
        report=report,
        cell=cell(report, counted, waiting=any(hand_in.lesson == lesson for hand_in in roll.waiting)),
        points=f"{grade_texts.points(counted or 0.0)} of {possible} points"
        if report
        else f"this exercise has {possible} points",
        facts=tuple(_handed_in(roll, lesson, report)),
        tasks=tuple(_task(verdict, infos.get(verdict.task)) for verdict in graded),
    )


def _task(verdict: Verdict, info: Task | None) -> TaskView:
    attempt, marks = verdict.attempt, task_info.marks(info)
    speed = attempt.speed if attempt.speed and _is_measured(attempt.speed, info) else None
    return TaskView(
        verdict,
        info,
        ways_of(info) if info and verdict.points >= verdict.max_points else None,
        tuple(_facts(verdict, speed, info)),
        _ladder(verdict, speed, marks) if speed else None,
        _rounds(verdict, speed, marks) if speed and attempt.rounds else None,
    )


def _handed_in(roll: Roll, lesson: str, report: Report | None) -> Iterator[tuple[str, str]]:
    """Yield pairs of a label and a text on a student's submission, such as "Due" and the due date."""
    (student,), zone = roll.students, roll.course.zone
    span = next((span for span in roll.spans if span.lesson == lesson), None)
    standing = next((one for one in roll.standings if one.lesson == lesson), None)
    rule = roll.course.rule(student, lesson)
    yield from _due(rule, zone)
    yield from (("Not graded", grade_texts.replaced_text(hand_in)) for hand_in in roll.gone if hand_in.lesson == lesson)
    yield from (("Waiting to be graded", hand_in.path) for hand_in in roll.waiting if hand_in.lesson == lesson)
    if report is None:
        return
    yield from _when(standing.handed_in if standing else report.submission.handed_in, rule, zone)
    if standing and standing.reason:
        yield "Points that count", standing.reason
    yield "File", report.submission.path
    yield "SHA-256", report.submission.sha256
    if span:
        lasted = units.seconds(max(report.duration_s, 0.001), 2)
        again = ". The file was graded again, and the newest grade counts" if span.regraded else ""
        yield "Graded", f"{_moment(span.finished, zone)}, in {lasted}{again}"


def _facts(verdict: Verdict, speed: Speed | None, info: Task | None) -> Iterator[tuple[str, str]]:
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
    if info and (coming := task_info.next_tier(info, speed)):
        yield "Next tier", coming
    if attempt.control:
        yield from _limit(speed, attempt.control)
        yield "Control", _control(attempt.control)


def _interval(cost: Cost | None, speed: Speed) -> str:
    if speed.low == speed.high:
        return "" if cost and cost.clocked else " (exact count)"
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


def _is_measured(speed: Speed, info: Task | None) -> bool:
    """Return whether the page shows the ratio: the task gives points for speed, and the ratio is a finite number."""
    counts = bool(info.tiers) if info else not speed.ratio == speed.low == speed.high == 1.0
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


def _moment(at: datetime, zone: tzinfo) -> str:
    """Return a time as text in the given time zone."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def _due(rule: DateRule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield the due date and the penalty for lateness, each as a label and a text. Yield nothing without a due date."""
    if rule.due is None:
        return
    usual = f" (your own due date; the class has {_moment(rule.usual_due, zone)})" if rule.usual_due else ""
    yield "Due", f"{_moment(rule.due, zone)}{usual}"
    closing = f" Submissions after {_moment(rule.closes, zone)} do not count." if rule.closes else ""
    yield "Late submissions", f"{_lateness(rule.late)}{closing}"


def _when(at: datetime | None, rule: DateRule, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield when an attempt was handed in, and how many days after the due date, each as a label and a text."""
    if at is None:
        if rule.due:
            yield "Handed in", "at an unknown time, so the hand-in counts as on time"
        return
    late = ""
    if rule.due:
        days = days_late(at, rule)
        late = f", {units.some(days, 'day')} late" if days else ", on time"
        late = f"{late}, after the closing date" if rule.closes and at > rule.closes else late
        late = ", after the due date but within the minutes without penalty" if not days and at > rule.due else late
    yield "Handed in", f"{_moment(at, zone)}{late}"


def _lateness(late: LatePenalty) -> str:
    if not late.per_day:
        return "A late hand-in loses no points."
    most = f", at most {units.percent(late.most)}" if late.most < 1 else ""
    text = f"For each day or part of a day, {units.percent(late.per_day)} of the earned points are taken off{most}."
    minutes = late.grace.total_seconds() / 60
    return f"{text} Lateness of up to {units.number(minutes)} minutes has no penalty." if minutes else text
