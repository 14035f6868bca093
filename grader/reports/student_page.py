"""The page of one student: the result of each task, its measurements, and what to do next.

It has no data of other students, no link to the class page, no output of the submission, and no script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from grader.course.by_hand import in_force
from grader.course.policy import NO_SLIP, DateRule, Slip
from grader.course.roll import Roll
from grader.records import UNGRADED, Cost, Report, Speed, Status, Verdict
from grader.reports import charts, grade_texts, templates
from grader.reports.charts import Chart
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN, failing_case
from grader.trials.score import EARNS, compared, reached_share
from grader.ways import ways_of
from harness.charts.pictures import Mark
from harness.machine.environment import Environment
from harness.paired.rounds import hides_work
from harness.rendering import measured, units

BINS = 24


def render(roll: Roll, infos: Mapping[str, Task] | None = None, *, pseudonym: str = "", home: str = "") -> str:
    """Return the page of the only student of `roll`, with histograms if its reports include single measurements.

    `home` is the address of the lessons on the course's server, to which the page links, or "".
    """
    (student,) = roll.students
    grades = roll.gradebook()[student]
    functions = (measured_speed, failing_case, compared, interval, next_tier, reached_share, ladder, rounds_chart)
    return templates.render(
        "student.html",
        roll=roll,
        student=student,
        pseudonym=pseudonym,
        home=home,
        total=grade_texts.total(sum(filter(None, grades.values())), final=roll.is_final and not roll.sealed)
        if set(grades.values()) - {None}
        else "",
        course_total=grade_texts.totals(roll).get(student),
        possible=sum(roll.possible(lesson) for lesson in roll.lessons),
        reports={report.submission.lesson: report for report in roll.reports},
        grades=grades,
        standings=roll.standings_of(student),
        given=in_force(roll.by_hand),
        steps=next_steps(roll, infos or {}),
        late_rules=late_rules(roll),
        slip_tables=slip_tables(roll),
        spans={span.lesson: span for span in roll.spans},
        infos=infos or {},
        places=places(roll.reports),
        moment=roll.moment,
        ways_of=ways_of,
        lateness=lateness,
        NOT_WRITTEN=NOT_WRITTEN,
        **{function.__name__: function for function in functions},
    )


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that can earn the student more points, at most `points`. `section` is a lesson or task of the page."""

    section: str
    what: str
    points: float


def next_steps(roll: Roll, infos: Mapping[str, Task], most: int = 5) -> list[NextStep]:
    """Return the `most` steps that can earn the only student of `roll` the most points, without closed lessons.

    A lesson is closed if its last grading was after the closing date, because the page must not depend on the clock.
    """
    (student,) = roll.students
    ends = max((span.finished for span in roll.spans), default=None)
    open_ = [one for one in roll.lessons if not roll.course.rule(student, one).is_closed(ends)]
    files = {file.lesson: file.why for file in roll.left_out}
    there = {one.lesson for one in (*roll.waiting, *roll.sealed)} | {
        report.submission.lesson for report in roll.reports
    }
    found = [NextStep(one, files.get(one, "Hand it in."), roll.possible(one)) for one in open_ if one not in there]
    for report in (report for report in roll.reports if report.submission.lesson in open_):
        refused = NextStep(report.submission.lesson, report.submission.refusal, report.max_points)
        each = (NextStep(one.task, _to_improve(one, infos), one.max_points - one.points) for one in report.verdicts)
        found += [refused] if refused.what else each
    parts = ((one, *one.section.partition(".")[:2]) for one in found if one.what)
    open_steps = (one for one, lesson, dot in parts if not roll.is_settled(student, lesson, one.section if dot else ""))
    return sorted(open_steps, key=lambda one: -one.points)[:most]


def _to_improve(verdict: Verdict, infos: Mapping[str, Task]) -> str:
    attempt = verdict.attempt
    if verdict.points >= verdict.max_points or verdict.status in {*UNGRADED, Status.IMPOSSIBLE}:
        return ""
    if verdict.status in EARNS:
        return next_tier(infos.get(verdict.task), attempt.speed) if attempt.speed else ""
    case = failing_case(attempt)
    return f"{grade_texts.ended(verdict)}{f', for example with {case}' if case else ''}"


def late_rules(roll: Roll) -> dict[str, list[str]]:
    """Return the rules on late submissions of the only student, as text, each with its lessons."""
    found: dict[str, list[str]] = {}
    for lesson in roll.lessons:
        rule = roll.course.rule(roll.students[0], lesson)
        lost = f"For each day or part of a day, {units.percent(rule.late.per_day)} of the earned points are taken off"
        most = f", at most {units.percent(rule.late.most)}" if rule.late.most < 1 else ""
        minutes = units.number(rule.late.grace.total_seconds() / 60)
        grace = f" Lateness of up to {minutes} minutes has no penalty." if rule.late.grace else ""
        text = f"{lost}{most}.{grace}" if rule.late.per_day else "A late hand-in loses no points."
        if rule.due:
            found.setdefault(text, []).append(lesson)
    return found


@dataclass(frozen=True, slots=True)
class SlipTable:
    """The slip days of a student, or of a `team`: days late, and slip days spent, of each lesson that was late."""

    team: str
    budget: int
    left: int
    rows: tuple[tuple[str, int, int], ...]


def slip_tables(roll: Roll) -> list[SlipTable]:
    """Return the table of slip days of the only student of `roll`, and one for each team with slip days of its own."""
    (student,), course = roll.students, roll.course
    own = Slip(left=course.slip_days.budget, budget=course.slip_days.budget) if course.slip_days else NO_SLIP
    last, rows = {"": own}, dict[str, list[tuple[str, int, int]]]()
    for team in course.teams.values():
        if student in team.students and team.slip_days:
            last[team.name] = Slip(left=team.slip_days, budget=team.slip_days, team=team.name)
    for one in roll.standings:
        days, slip = course.rule(student, one.lesson).days_late(one.handed_in), one.slip
        if slip.budget:
            last[slip.team] = slip
        if slip.budget and (days or slip.days):
            rows.setdefault(slip.team, []).append((one.lesson, days, slip.days))
    return [
        SlipTable(team, slip.budget, slip.left, tuple(rows.get(team, ()))) for team, slip in last.items() if slip.budget
    ]


def places(reports: Sequence[Report]) -> dict[tuple[Environment, bool], list[str]]:
    """Return the lessons that were graded on each machine, with and without a sandbox."""
    alike: dict[tuple[Environment, bool], list[str]] = {}
    for report in reports:
        alike.setdefault((report.environment, report.sandboxed), []).append(report.submission.lesson)
    return alike


def measured_speed(speed: Speed | None, info: Task | None) -> Speed | None:
    """Return the speed if the page shows it: the task gives points for speed, and the ratio is a finite number."""
    if speed is None or not grade_texts.speed_is_finite(speed):
        return None
    counts = bool(info.tiers) if info else not speed.ratio == speed.low == speed.high == 1.0
    return speed if counts else None


def interval(cost: Cost | None, speed: Speed) -> str:
    """Return in parentheses how exactly a ratio is known, or ""."""
    known = grade_texts.precision(cost, speed)
    return f" ({'interval: ' if speed.low < speed.high else ''}{known})" if known else ""


def next_tier(task: Task | None, speed: Speed) -> str:
    """Return a sentence on the next grade threshold and its points, or "" for a task without thresholds."""
    if not (task and task.tiers):
        return ""
    if speed.tier >= len(task.tiers):
        return "There is no next tier: you reached the top tier."
    tier = task.tiers[speed.tier]
    worth = f"{units.ratio(tier.ratio)} gives {grade_texts.points(task.points * tier.share)} points."
    if not 0 < speed.low <= speed.ratio < tier.ratio:
        return worth
    left = measured.number(*(tier.ratio / ratio for ratio in (speed.ratio, speed.high, speed.low)))
    return f"{worth} That is {left} times the measured ratio."


def ladder(verdict: Verdict, speed: Speed, info: Task | None) -> Chart:
    """Return a chart of the measured ratio among the grade thresholds."""
    marks = charts.tier_marks(info)
    known = f" Tiers at {', '.join(units.ratio(mark.value) for mark in marks)}." if marks else ""
    label = f"{verdict.task}: {compared(verdict.cost, speed)}{interval(verdict.cost, speed)}.{known}"
    return charts.ladder(speed.ratio, speed.low, speed.high, marks or [Mark(1.0, "baseline", "tier")], label=label)


def rounds_chart(verdict: Verdict, speed: Speed, info: Task | None) -> Chart:
    """Return a histogram of the ratios of single measurements, with the grade thresholds in its range.

    The ratios are those of wall times if the task's cost is wall time, or if the CPU clock missed work in more than
    half of the rounds, else of CPU times.
    """
    rounds = verdict.attempt.rounds
    by_wall = (verdict.cost is not None and verdict.cost.clock == "wall") or hides_work(rounds)
    ratios = [one.wall_ratio if by_wall else one.ratio for one in rounds]
    axis = charts.ratio_axis([*charts.central_range(ratios), speed.low, speed.high])
    spread = (speed.high - speed.low) / 2
    return charts.histogram(
        ratios,
        axis,
        label=f"Ratio of each round of {verdict.task}",
        bins=BINS,
        unit=lambda ratio: measured.ratio(ratio, ratio - spread, ratio + spread),
        marks=[mark for mark in charts.tier_marks(info) if axis.low < mark.value < axis.high],
        band=(speed.low, speed.high),
    )


def lateness(at: datetime, rule: DateRule) -> str:
    """Return how late an attempt was handed in, as the end of a sentence, or "" without a due date."""
    if not rule.due:
        return ""
    days = rule.days_late(at)
    if not days and at > rule.due.utc:
        return ", after the due date but within the minutes without penalty"
    closed = ", after the closing date" if rule.is_closed(at) else ""
    return f", {units.some(days, 'day')} late{closed}" if days else f", on time{closed}"
