"""The command `check`: grade a student's own file on the student's machine, and print the result and the next step."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import catalogue, seeds
from grader.desk import exercise_files, hints
from grader.desk.exercise_files import FileChoice
from grader.errors import UsageError
from grader.grade import grade
from grader.hand_ins.collect import submission_of
from grader.isolation.pool import Pool
from grader.records import UNGRADED, Report, Status, Verdict
from grader.reports import grade_texts
from grader.task import Task
from grader.trials.faults import NOT_WRITTEN
from grader.trials.score import EARNS
from grader.ways import ways_of
from harness.rendering.wrapping import MOST_COLUMNS, say

TREES = 2
"""The number of processes to start early for a task with tensors: one for the submission and one for the baseline."""

MOST_PRINTED = 5
"""The maximum number of lines that are shown of what a submission printed. The last lines are shown."""

INDENT = 3
COLOURS = {Status.PASSED: "green", Status.UNDECIDED: "green", **dict.fromkeys(UNGRADED, "red")}


def split_target(target: str | None, task: str | None) -> tuple[str | None, str | None]:
    """Return the exercise or file to check, and the full name of one task, or None to check all tasks.

    The student writes the task as part of the target, as in "02.time_per_call", or as the argument after the target.
    """
    if target is None or _is_file(target):
        lesson = exercise_files.require_lesson(Path(target)) if target and task else None
        return target, _named_task(lesson, task) if lesson and task else None
    lesson, named = catalogue.load().target(target)
    return lesson, _named_task(lesson, task) if task else named


def files_to_check(target: str | None) -> list[FileChoice]:
    """Return the file to check for each exercise, by default for all exercises. `target` is an exercise or a file."""
    lessons = catalogue.load().lessons
    path = Path(target or "")
    if target and _is_file(target):
        lesson = exercise_files.require_lesson(path)
        return [FileChoice(lesson, exercise_files.ExerciseFile(lesson, path, ""))]
    wanted = [catalogue.load().named(target)] if target else list(lessons)
    found = exercise_files.find_files(exercise_files.exercise_folders(), wanted)
    return [exercise_files.choose(lesson, found[lesson]) for lesson in wanted]


def check(lesson: str, path: Path, pool: Pool, only: str | None = None) -> Report:
    """Grade the file of a lesson, or only its task `only`, and return the report. The file runs without a sandbox.

    No sandbox is needed, because the code is the student's own. `pool` provides the processes that run it. Raise
    `UsageError` if the file cannot be graded at all.
    """
    submission = submission_of(path, student="you", lesson=lesson)
    if submission.refused:
        raise UsageError(submission.refusal)
    tasks = [task for task in catalogue.load().tasks(lesson) if only in {None, task.name}]
    if any(task.needs_torch for task in tasks):
        pool.warm(TREES)
    return grade(submission, seeds.new(), pool, tasks)


def print_report(report: Report, console: Console, *, ask_hint: bool = False, past_hints: bool = False) -> None:
    """Print the result and the next step of each task. With `ask_hint`, print a hint if only one task is unfinished.

    With `past_hints`, print the hints that the student has read.
    """
    unfinished = sum(verdict.points < verdict.max_points for verdict in report.verdicts)
    for task, verdict in _tasks(report):
        for heading in _heading(task, verdict, console.width):
            console.print(heading, soft_wrap=True)
        for line in _lines(task, verdict, show_hint=ask_hint and unfinished == 1, past_hints=past_hints):
            say(console, line, INDENT)
        if verdict.points == verdict.max_points:
            say(console, f"How the reference solution works: {task.idea}", INDENT)
            say(console, "\n".join((*ways_of(task).lines(), f"More to read: {task.references}")), INDENT)
    if ask_hint and unfinished > 1:
        say(
            console, f"{unfinished} tasks are unfinished. To get a hint, run the hint command of one of these tasks.", 1
        )
    for note in report.notes:
        say(console, note, 1)


def total_line(reports: Sequence[Report]) -> str:
    """Return the sum of the points of several tasks as one line, or "" for a single task."""
    verdicts = [verdict for report in reports for verdict in report.verdicts]
    if len(verdicts) < 2:
        return ""
    earned, possible = (sum(each) for each in zip(*((v.points, v.max_points) for v in verdicts), strict=True))
    return f"Total: {grade_texts.points(earned)} / {grade_texts.points(possible)} points in {len(verdicts)} tasks"


def as_json(reports: Sequence[Report]) -> str:
    """Return all results and a description of the machine as JSON, for an editor or a course page."""
    tasks = [
        {
            "task": verdict.task,
            "status": verdict.status.value,
            "points": verdict.points,
            "max_points": verdict.max_points,
            "rationale": verdict.attempt.rationale,
            "help": verdict.attempt.help,
            "ratio": verdict.attempt.speed.ratio if verdict.attempt.speed else None,
            "tier": verdict.attempt.speed.tier if verdict.attempt.speed else None,
            "most_ratio": verdict.attempt.control.most_ratio if verdict.attempt.control else None,
            "idea": task.idea if verdict.points == verdict.max_points else "",
            "ways": [asdict(way) for way in ways_of(task).ways] if verdict.points == verdict.max_points else [],
        }
        for report in reports
        for task, verdict in _tasks(report)
    ]
    return json.dumps({"environment": reports[0].environment.to_dict(), "tasks": tasks}, indent=1) + "\n"


def task_state(task: Task, verdict: Verdict) -> str:
    """Return the result of a task in a few words, such as "right, tier 2 of 3"."""
    speed = verdict.attempt.speed
    if verdict.status in EARNS and speed and task.tiers:
        return f"right, tier {speed.tier} of {len(task.tiers)}"
    return grade_texts.ended(verdict)


def _is_file(target: str) -> bool:
    """Return whether `target` is a file's path and not the name of a lesson or a task."""
    return Path(target).suffix in exercise_files.SUFFIXES or Path(target).exists() or "/" in target


def _named_task(lesson: str, given: str) -> str:
    """Return the full name of a task of a lesson from a shorter name that the student typed."""
    return catalogue.load().target(f"{lesson}.{given}")[1] or given


def _tasks(report: Report) -> Iterator[tuple[Task, Verdict]]:
    by_name = {task.full_name: task for task in catalogue.load().tasks(report.submission.lesson)}
    return ((by_name[verdict.task], verdict) for verdict in report.verdicts)


def _heading(task: Task, verdict: Verdict, width: int) -> Iterator[Text]:
    """Yield the heading of a task as one line, or as two lines on a narrow terminal."""
    earned = f"{grade_texts.points(verdict.points)} / {grade_texts.points(verdict.max_points)}"
    left = f" {task.lesson} · {task.name}"
    right = f"{earned}  {task_state(task, verdict)}"
    colour = COLOURS.get(verdict.status, "yellow")
    gap = min(width, MOST_COLUMNS) - len(left) - len(right) - 1
    if gap >= 2:
        yield Text.assemble((left, "bold"), " " * gap, (right, colour))
    else:
        yield Text(left, "bold")
        yield Text.assemble(" " * INDENT, (right, colour))


def _lines(task: Task, verdict: Verdict, *, show_hint: bool, past_hints: bool) -> Iterator[str]:
    attempt = verdict.attempt
    yield from attempt.rationale.splitlines()
    if attempt.help == NOT_WRITTEN:
        yield f"{task.read[:1].upper()}{task.read[1:]} explains it."
    elif attempt.help:
        yield attempt.help
    if attempt.output_tail.strip() and verdict.status not in EARNS:
        yield "Your code printed:"
        yield from (f"  {line}" for line in attempt.output_tail.strip().splitlines()[-MOST_PRINTED:])
    if past_hints:
        yield from hints.hints_read(task)
    if verdict.points < verdict.max_points and verdict.status not in UNGRADED:
        if show_hint:
            yield from hints.next_hint(task)
        elif not past_hints:
            yield hints.offer(task)
