"""`check`: grade a student's own file at the student's desk, and say what to do next in a few lines."""

import json
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import catalogue, hints
from grader.desk import works
from grader.desk.works import Choice
from grader.errors import UsageError
from grader.grade import grade
from grader.hand_ins.collect import submission_of
from grader.isolation.pool import Pool
from grader.records import Report, Status, Verdict
from grader.reports import words as in_words
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import EARNS
from grader.wrapped import MOST_COLUMNS, say

TREES = 2
"""Process trees that a check of a tensor task needs: the student's and the baseline's. They start side by side."""

MOST_PRINTED = 5
"""Lines of what a submission printed that are shown: the last ones."""

INDENT = 3
COLOURS = {Status.PASSED: "green", Status.UNDECIDED: "green", Status.GRADER_ERROR: "red"}


def targets(target: str | None) -> list[Choice]:
    """Return which file to check for a lesson's name or start of it, for a file, or for every exercise.

    For a lesson's name, that is the file that the student has changed; see `works.choose`.
    """
    lessons = catalogue.load().lessons
    path = Path(target or "")
    if target and (path.suffix in works.SUFFIXES or path.exists() or "/" in target):
        lesson = _lesson_of(path)
        return [Choice(lesson, works.Work(lesson, path, ""))]
    wanted = [catalogue.load().named(target)] if target else list(lessons)
    found = works.found(works.places(), wanted)
    return [works.choose(lesson, found[lesson]) for lesson in wanted]


def chosen(target: str | None) -> tuple[str | None, str | None]:
    """Return the exercise or file to check, and the name of the task where one is meant, as in "02.time_per_call"."""
    if target is None or Path(target).suffix in works.SUFFIXES or Path(target).exists() or "/" in target:
        return target, None
    return catalogue.load().target(target)


def check(lesson: str, path: Path, pool: Pool, only: str | None = None) -> Report:
    """Grade one file, or `only` one of its tasks, unsandboxed: it is the student's own code on their own machine.

    A file that cannot be taken at all is a UsageError: there is nothing to grade.
    """
    submission = submission_of(path, student="you", lesson=lesson)
    if submission.refused:
        raise UsageError(submission.refusal)
    tasks = [task for task in catalogue.load().tasks(lesson) if only in {None, task.name}]
    if any(task.needs_torch for task in tasks):
        pool.warm(TREES)
    return grade(submission, secrets.token_hex(16), pool, tasks)


def show(report: Report, console: Console, *, ask_hint: bool = False, past_hints: bool = False) -> None:
    """Print each task's verdict: what it is, what happened, and the one next step."""
    for task, verdict in _tasks(report):
        for heading in _heading(task, verdict, console.width):
            console.print(heading, soft_wrap=True)
        for line in _lines(task, verdict, ask_hint=ask_hint, past_hints=past_hints):
            say(console, line, INDENT)
        if verdict.points == verdict.max_points:
            say(console, f"How the reference does it: {task.idea}\nRead on: {task.read_on}", INDENT)
    for note in report.notes:
        say(console, note, 1)


def total(reports: Sequence[Report]) -> str:
    """Return the points of several tasks in a line; empty for one task alone."""
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    if len(verdicts) < 2:
        return ""
    earned, possible = (sum(each) for each in zip(*((v.points, v.max_points) for v in verdicts), strict=True))
    return f"Total: {in_words.points(earned)} / {in_words.points(possible)} points in {len(verdicts)} tasks"


def _tasks(report: Report) -> Iterator[tuple[Task, Verdict]]:
    by_name = {task.full_name: task for task in catalogue.load().tasks(report.submission.lesson)}
    return ((by_name[verdict.task], verdict) for verdict in report.verdicts)


def as_json(reports: Sequence[Report]) -> str:
    """All verdicts as JSON: what an editor or a course page shows."""
    told = [
        {
            "task": verdict.task,
            "status": verdict.status.value,
            "points": verdict.points,
            "max_points": verdict.max_points,
            "rationale": verdict.attempt.rationale,
            "help": verdict.attempt.help,
            "ratio": verdict.attempt.speed.ratio if verdict.attempt.speed else None,
            "tier": verdict.attempt.speed.tier if verdict.attempt.speed else None,
            "idea": task.idea if verdict.points == verdict.max_points else "",
        }
        for report in reports
        for task, verdict in _tasks(report)
    ]
    return json.dumps({"environment": reports[0].environment.to_dict(), "tasks": told}, indent=1) + "\n"


def _lesson_of(path: Path) -> str:
    lessons = catalogue.load().lessons
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the exercise file in it, such as {path / lessons[0]}.py.")
    if not path.exists():
        raise UsageError(f"There is no file {path}.")
    if path.suffix not in works.SUFFIXES:
        raise UsageError(f"{path} is neither Python (.py) nor a notebook (.ipynb).")
    lesson = works.lesson_of(path)
    if not lesson:
        raise UsageError(f"{path} is named like no exercise. There are: {', '.join(lessons)}.")
    return lesson


def _heading(task: Task, verdict: Verdict, width: int) -> Iterator[Text]:
    """Yield the heading: on one line, or on two where the terminal is too narrow."""
    earned = f"{in_words.points(verdict.points)} / {in_words.points(verdict.max_points)}"
    left = f" {task.lesson} · {task.name}"
    right = f"{earned}  {state(task, verdict)}"
    colour = COLOURS.get(verdict.status, "yellow")
    gap = min(width, MOST_COLUMNS) - len(left) - len(right) - 1
    if gap >= 2:
        yield Text.assemble((left, "bold"), " " * gap, (right, colour))
    else:
        yield Text(left, "bold")
        yield Text.assemble(" " * INDENT, (right, colour))


def state(task: Task, verdict: Verdict) -> str:
    """Return what became of a task, in a few words."""
    speed = verdict.attempt.speed
    if verdict.status in EARNS and speed and task.tiers:
        return f"right, tier {speed.tier} of {len(task.tiers)}"
    return in_words.ended(verdict)


def _lines(task: Task, verdict: Verdict, *, ask_hint: bool, past_hints: bool) -> Iterator[str]:
    attempt = verdict.attempt
    yield from attempt.rationale.splitlines()
    if attempt.help == NOT_WRITTEN:
        yield f"{task.read.capitalize()} does this by hand.  First hint: python -m grader check {task.lesson} --hint"
    elif attempt.help:
        yield attempt.help
    if attempt.output_tail.strip() and verdict.status not in EARNS:
        yield "It printed:"
        yield from (f"  {line}" for line in attempt.output_tail.strip().splitlines()[-MOST_PRINTED:])
    if past_hints:
        yield from hints.past(task)
    if verdict.points < verdict.max_points:
        if ask_hint:
            yield from hints.following(task)
        elif verdict.status in EARNS and not past_hints:
            yield f"{hints.spoken(task, 1)}  (more with --hint)"
