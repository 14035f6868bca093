"""The command `check`: grade a student's own file on the student's machine, and print the result and the next step."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import catalogue, seeds
from grader.desk import exercise_files, student_state
from grader.desk.check_screen import ScreenLine, tasks_with_verdicts
from grader.desk.class_differences import class_differences
from grader.desk.exercise_files import FileChoice
from grader.desk.file_watch import LOOK_S, FileWatch
from grader.errors import FairclockError, UsageError
from grader.grade import grade
from grader.hand_ins.collect import submission_of
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.records import UNGRADED, Report
from grader.ways import ways_of
from harness.rendering.texts import shown
from harness.rendering.wrapping import columns, say, waiting, wrapped


def selected(target: str | None, task: str | None) -> tuple[list[FileChoice], str | None]:
    """Return the file to check for each exercise, and the name of one task, or None to check all tasks.

    `target` is a file, a lesson or a task, such as "02.time_per_call". `task` is a task of its lesson.
    """
    known, path = catalogue.load(), Path(target or "")
    if target and exercise_files.is_path(target):
        files, named = exercise_files.read_named(path), None
        lesson = files[0].lesson
        choices = [FileChoice(file.lesson, replace(file, code="")) for file in files]
    else:
        lesson, named = known.target(target) if target else ("", None)
        wanted = [lesson] if lesson else known.lessons
        found = exercise_files.find_files(wanted)
        choices = [exercise_files.choose(each, found[each]) for each in wanted]
    return choices, known.target(f"{lesson}.{task}")[1] if lesson and task else named


def check(lesson: str, path: Path, pool: Pool, only: str | None = None) -> Report:
    """Grade the file of a lesson, or only its task `only`, in processes of `pool`. Keep the points of a whole lesson.

    The first remarks of the report are on imports that the graded class may lack. Raise `UsageError` if the file cannot
    be graded at all.
    """
    submission = submission_of(path, student="you", lesson=lesson)
    if submission.refused:
        raise UsageError(submission.refusal)
    tasks = [task for task in catalogue.load().tasks(lesson) if only in {None, task.name}]
    if any(task.needs_torch for task in tasks):
        pool.warm(2)  # processes: for the submission and for the baseline
    with waiting(f"Checking {path.name} …"):
        report = grade(submission, seeds.new(), pool, tasks)
    differences = class_differences(path, str(submission.source or ""))
    report = replace(report, remarks=(*differences, *report.remarks))
    if only is None:
        student_state.keep_points(report)
    return report


def as_json(reports: Sequence[Report]) -> str:
    """Return all results and a description of the machine as JSON, for an editor or a course page."""
    tasks = []
    for task, verdict in (each for report in reports for each in tasks_with_verdicts(report)):
        attempt, is_full = verdict.attempt, verdict.points == verdict.max_points
        tasks.append(
            {
                "task": verdict.task,
                "status": verdict.status.value,
                "points": verdict.points,
                "max_points": verdict.max_points,
                "rationale": shown(attempt.rationale),
                "help": shown(attempt.help),
                "ratio": attempt.speed and attempt.speed.ratio,
                "tier": attempt.speed and attempt.speed.tier,
                "idea": task.idea if is_full else "",
                "ways": [asdict(way) for way in ways_of(task).ways if is_full],
            }
        )
    remarks = [remark for report in reports for remark in report.remarks]
    made = {"environment": reports[0].environment.to_dict(), "remarks": remarks, "tasks": tasks}
    return json.dumps(made, indent=1) + "\n"


def own_pool() -> Pool:
    """Return processes for the student's own code, in the sandbox of a graded class if this machine has one."""
    return Pool(sandboxed=sandbox.problem() is None)


def watch(
    check_files: Callable[[Sequence[Path]], int],
    files: Sequence[Path],
    watched: Sequence[Path],
    console: Console,
    find: Callable[[], Iterable[Path]],
) -> int:
    """Check `files`, and then each of the files `watched` that is saved, until Ctrl-C. Return the last exit code.

    If a folder in `watched` changes, the new files that `find` returns are watched and checked, too. If a file cannot
    be checked, for example because it is half-written, print the error and wait for the next save.
    """

    def run(some: Sequence[Path]) -> int:
        try:
            return check_files(some)
        except FairclockError as error:
            say(console, str(error))
            return error.exit_code

    prompt = f" Watching {', '.join(path.name for path in files)}: save to check again, Ctrl-C to stop."
    files_watch, code = FileWatch(watched), run(files)
    say(console, prompt)
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(LOOK_S)
            if saved := files_watch.saved(find):
                console.rule(f"{datetime.now().astimezone():%H:%M:%S}")
                code = run(saved)
                say(console, prompt)
    return code


def print_lines(lines: Iterable[ScreenLine], console: Console) -> None:
    """Print the lines of a screen, wrapped at the width of the terminal."""
    for line in lines:
        for row in wrapped(shown(line.text), columns(console), line.indent):
            console.print(Text(row, style=line.colour), soft_wrap=True)


def hint_lines(report: Report, *, ask_hint: bool, past_hints: bool) -> dict[str, list[str]]:
    """Return the lines on hints for each unfinished task, by its full name.

    With `ask_hint`, they are the next hint, if only one task is unfinished. With `past_hints`, they are the hints that
    the student has read. Else they name the command for the next hint.
    """
    unfinished = [pair for pair in tasks_with_verdicts(report) if pair[1].points < pair[1].max_points]
    found = {}
    for task, verdict in unfinished:
        if past_hints:
            found[verdict.task] = list(student_state.hints_again(task))
        elif verdict.status in UNGRADED:
            continue
        elif ask_hint and len(unfinished) == 1:
            found[verdict.task] = list(student_state.next_hint(task))
        else:
            found[verdict.task] = [student_state.hint_offer(task)]
    return found
