"""One student's grades on a page of their own: what happened, on what evidence, and what comes next.

It may be given to the student: it says nothing of anybody else, has no link to the class, and quotes nothing that a
submission printed. It runs no script at all.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.class_run.roll import Roll, Span, Standing
from grader.records import Control, Cost, Report, Speed, Verdict
from grader.reports import charts, dates, templates, words
from grader.reports.charts import Chart, Mark
from grader.reports.gradebook import title
from grader.reports.guide import Guide
from grader.reports.table import Cell, cell, look
from grader.trials import failing
from grader.trials.faults import NOT_WRITTEN
from harness import units
from harness.environment import Environment
from harness.rounds import HIDDEN_WORK, Round

BINS = 24


@dataclass(frozen=True, slots=True)
class TaskView:
    """One verdict. `facts` are pairs of a word and what is so; `said` is what the student reads, line by line."""

    task: str
    points: str
    status: str
    look: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    said: str
    help: str
    hints: tuple[str, ...]
    read: str
    idea: str
    read_on: str
    ladder: Chart | None
    rounds: Chart | None


@dataclass(frozen=True, slots=True)
class LessonView:
    """One lesson of the class for this student; without tasks where there is no grade."""

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
    """Where and how some of the lessons were graded."""

    lessons: str
    machine: str
    fingerprint: str
    details: tuple[tuple[str, str], ...]
    sandboxed: bool


def render(roll: Roll, guides: Mapping[str, Guide] | None = None, *, pseudonym: str = "") -> str:
    """Return the page of the one student of `roll`. Rounds are drawn where its reports carry them."""
    (student,) = roll.students
    reports = {report.submission.lesson: report for report in roll.reports}
    possible, grades = sum(roll.possible(lesson) for lesson in roll.lessons), roll.grades()[student]
    return templates.render(
        "student.html",
        roll=roll,
        student=student,
        pseudonym=pseudonym,
        total=words.total(sum(filter(None, grades.values())), final=roll.is_final) if reports else "",
        possible=words.points(possible),
        lessons=[
            _lesson(roll, lesson, reports.get(lesson), grades.get(lesson), guides or {}) for lesson in roll.lessons
        ],
        places=places(roll.reports),
        unsandboxed=[report.submission.lesson for report in roll.reports if not report.sandboxed],
    )


def task_view(verdict: Verdict, guide: Guide | None) -> TaskView:
    """Return one verdict as the page shows it."""
    attempt, full = verdict.attempt, verdict.points >= verdict.max_points
    marks = guide.marks() if guide else ()
    speed = attempt.speed if attempt.speed and _is_measured(attempt.speed, guide) else None
    return TaskView(
        task=verdict.task,
        points=f"{words.points(verdict.points)} of {words.points(verdict.max_points)} points",
        status=words.ended(verdict),
        look=look(verdict),
        summary=guide.summary if guide else "",
        facts=tuple(_facts(verdict, speed, guide)),
        said=attempt.rationale,
        help="" if attempt.help == NOT_WRITTEN else attempt.help,
        hints=() if full or guide is None else guide.hints,
        read=guide.read if guide and not full else "",
        idea=guide.idea if guide and full else "",
        read_on=guide.read_on if guide and full else "",
        ladder=_ladder(verdict, speed, marks) if speed else None,
        rounds=_rounds(verdict, speed, marks) if speed and attempt.rounds else None,
    )


def places(reports: Sequence[Report]) -> tuple[Place, ...]:
    """Return where and how these were graded; what was graded alike is one place."""
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
    roll: Roll, lesson: str, report: Report | None, counted: float | None, guides: Mapping[str, Guide]
) -> LessonView:
    waiting = any(hand_in.lesson == lesson for hand_in in roll.waiting)
    span = next((span for span in roll.spans if span.lesson == lesson), None)
    standing = next((one for one in roll.standings if one.lesson == lesson), None)
    possible = words.points(roll.possible(lesson))
    earned = f"{words.points(counted or 0.0)} of {possible} points"
    refusal = report.submission.refusal if report else ""
    return LessonView(
        title=title(lesson),
        lesson=lesson,
        cell=cell(report, counted, waiting=waiting),
        points=earned if report else f"the exercise is worth {possible} points",
        facts=tuple(_handed_in(roll, lesson, report, span, standing)),
        refusal=refusal,
        notes=report.notes if report else (),
        tasks=tuple(task_view(one, guides.get(one.task)) for one in report.verdicts) if report and not refusal else (),
    )


def _handed_in(
    roll: Roll, lesson: str, report: Report | None, span: Span | None, standing: Standing | None
) -> Iterator[tuple[str, str]]:
    """Yield when and what was handed in for a lesson, what counts of it and why, and when it was graded."""
    (student,), zone = roll.students, roll.course.zone
    rule = roll.course.rule(student, lesson)
    yield from dates.due(rule, zone)
    yield from (("Not graded", words.lost(hand_in)) for hand_in in roll.gone if hand_in.lesson == lesson)
    yield from (("Waits for its grade", hand_in.path) for hand_in in roll.waiting if hand_in.lesson == lesson)
    if report is None:
        return
    yield from dates.handed_in(standing.handed_in if standing else report.submission.handed_in, rule, zone)
    if standing and standing.reason:
        yield "What counts", standing.reason
    yield "File", report.submission.path
    yield "SHA-256", report.submission.sha256
    if span:
        lasted = units.seconds(max(report.duration_s, 0.001), 2)
        again = "; graded again, and this newest grade holds" if span.regraded else ""
        yield "Graded", f"{dates.moment(span.finished, zone)}, in {lasted}{again}"


def _facts(verdict: Verdict, speed: Speed | None, guide: Guide | None) -> Iterator[tuple[str, str]]:
    attempt = verdict.attempt
    if attempt.cases:
        yield "Cases", f"{units.count(attempt.cases_passed)} of {units.count(attempt.cases)} right"
    if case := failing.case(attempt):
        yield "Smallest failing case", case
    if speed is None:
        return
    yield "Ratio", f"{units.ratio(speed.ratio)} the baseline{_interval(speed)}"
    if attempt.rounds:
        yield (
            "Rounds",
            f"{units.count(len(attempt.rounds))} on {len({r.pair for r in attempt.rounds})} pairs of workers",
        )
    if guide and (coming := guide.next_tier(speed)):
        yield "Next tier", coming
    if attempt.control:
        yield "Control", _control(attempt.control)


def _interval(speed: Speed) -> str:
    if speed.low == speed.high:
        return ", exactly"
    return f", between {units.ratio(speed.low)} and {units.ratio(speed.high)}"


def _control(control: Control) -> str:
    measured = (
        f"the baseline against itself {units.ratio(control.same, 4)}, slowed by {units.percent(control.planted)} "
        f"{units.ratio(control.slowed, 4)}"
    )
    if not control.voided:
        return f"{measured}: it holds"
    times = "once" if control.voided == 1 else f"{control.voided} times"
    return f"{measured}: it holds, after the duel was void {times} and fought again"


def _is_measured(speed: Speed, guide: Guide | None) -> bool:
    """Whether a ratio says anything: not where no cost counts, and not where it is no number."""
    counts = bool(guide.steps) if guide else not speed.ratio == speed.low == speed.high == 1.0
    return counts and all(0 < value < math.inf for value in (speed.ratio, speed.low, speed.high))


def _ladder(verdict: Verdict, speed: Speed, marks: Sequence[Mark]) -> Chart:
    tiers = ", ".join(units.ratio(mark.value) for mark in marks)
    known = f" Tiers at {tiers}." if tiers else ""
    label = f"{verdict.task}: {units.ratio(speed.ratio)} the baseline{_interval(speed)}.{known}"
    return charts.ladder(speed.ratio, speed.low, speed.high, marks or [Mark(1.0, "baseline", "tier")], label=label)


def _rounds(verdict: Verdict, speed: Speed, marks: Sequence[Mark]) -> Chart:
    """All rounds by their ratio, those far out in the bars at the ends; tiers that lie near are marked."""
    ratios = ratios_of(verdict.attempt.rounds, verdict.cost)
    axis = charts.ratio_axis([*charts.bulk(ratios), speed.low, speed.high])
    near = [mark for mark in marks if axis.low < mark.value < axis.high]
    return charts.histogram(
        ratios,
        axis,
        label=f"Ratios of the rounds of {verdict.task}",
        bins=BINS,
        unit=units.ratio,
        marks=near,
        band=(speed.low, speed.high),
    )


def ratios_of(rounds: Sequence[Round], cost: Cost | None) -> list[float]:
    """Return what each round says, on the clock that counted: by the wall also where the CPU clock missed work."""
    hidden = 2 * sum(one.ratio > HIDDEN_WORK * one.wall_ratio for one in rounds) > len(rounds)
    by_wall = cost is Cost.WALL_TIME or hidden
    return [one.wall_ratio if by_wall else one.ratio for one in rounds]


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={setting}" for name, setting in value.items()) or "none"
    return "none" if value is None else str(value)
