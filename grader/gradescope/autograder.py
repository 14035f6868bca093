"""Grade one submission on Gradescope: `python -m grader.gradescope.autograder /autograder` writes results.json.

    /autograder/source/bundle.json           the lessons to grade, and whether a sandbox is needed
    /autograder/submission/                  the student's files, the folder with them, or a copy of the course
    /autograder/submission_metadata.json     the student's name and the time of the submission
    /autograder/results/results.json         the result, which Gradescope reads

Without a sandbox, or after an internal error, no results.json is written. Gradescope then shows a failed autograder
instead of points. The reason is printed on standard output, which instructors can read. With `--check`, the command
only prints whether grading works. Exit codes: 0 graded, 2 refused, 3 internal error.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from grader import catalogue, seeds
from grader.course.dates import read_time
from grader.course.results import TaskPoints
from grader.course.roll import Roll, is_faulted
from grader.errors import FairclockError, UsageError
from grader.files import storable, write_atomically
from grader.grade import grade
from grader.hand_ins.collect import collect_one
from grader.hand_ins.refusal import digest
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.records import LeftOut, Report, Submission
from grader.reports import gradescope
from grader.task import Task
from grader.trials import native
from harness.machine.environment import Environment
from harness.rendering.texts import shown

REFUSED = (
    "The submission has no grade, but the student loses no points. To grade without a sandbox, make the bundle with "
    "`python -m grader release --gradescope ZIP --no-sandbox`. Every report then has a warning. You can also grade on "
    "another machine with `python -m grader run`."
)


def main(arguments: Sequence[str]) -> int:
    """Grade the submission in the folder that is the last argument, and return the exit code of the command."""
    root = Path(arguments[-1])
    try:
        lessons, needs_sandbox = _settings(root / "source" / "bundle.json")
        if any(task.exam.in_c for lesson in lessons for task in catalogue.load().tasks(lesson)):
            native.require()
        trouble = sandbox.problem()
        if trouble and needs_sandbox:
            print(f"Nothing was graded: students' code needs a sandbox, and {trouble}.\n{REFUSED}")
            return 0 if "--check" in arguments else 2
        if trouble:
            print(f"NO SANDBOX: {trouble}. Submissions can read and write all files in this container.")
        if "--check" in arguments:
            print(f"Sandbox: {'none' if trouble else sandbox.summary()}.\nReady to grade {', '.join(lessons)}.")
            return 0
        return _grade(root, lessons, sandboxed=not trouble)
    except FairclockError as error:
        print(shown(str(error)))
        return error.exit_code


def _settings(path: Path) -> tuple[tuple[str, ...], bool]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return tuple(read["lessons"]), read["sandbox"] == "needed"
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise UsageError(f"{path} cannot be read ({fault}); make the bundle again.") from None


def _grade(root: Path, lessons: Sequence[str], *, sandboxed: bool) -> int:
    known = catalogue.load()
    student, at = _student_and_time(root / "submission_metadata.json")
    found = collect_one(root / "submission", student, lessons, kit=Environment.capture().kit, known=known.functions)
    given = {one.lesson: one for one in found.submissions}
    reports: list[Report] = []
    with Pool(sandboxed=sandboxed, hidden=(root.resolve(),)) as pool:
        for lesson in lessons:
            report = _report(given.get(lesson) or _nothing(student, lesson, found.left_out), pool, known.tasks(lesson))
            if is_faulted(report):
                told = "; ".join(verdict.attempt.rationale for verdict in report.verdicts)
                print(f"{lesson} could not be graded; this is the grader's fault, not the submission's: {shown(told)}")
                return 3
            reports.append(report)
    of_lessons = [task for lesson in lessons for task in known.tasks(lesson)]
    tasks = tuple(TaskPoints(task.lesson, task.full_name, task.points) for task in of_lessons)
    roll = Roll(
        "Gradescope", Environment.capture().kit, (student,), tasks, tuple(reports), (), (), left_out=found.left_out
    )
    write_atomically(root / "results" / "results.json", gradescope.render(roll).encode())
    when = at.isoformat() if at else "at an unknown time"
    print(f"{sum(report.points for report in reports):g} points; handed in {when}.")
    return 0


def _report(submission: Submission, pool: Pool, tasks: Sequence[Task]) -> Report:
    for _ in range(2):
        report = grade(submission, seeds.new(), pool, tasks)
        if not is_faulted(report):
            break
    return report


def _nothing(student: str, lesson: str, left_out: Sequence[LeftOut]) -> Submission:
    others = any(one.lesson in {lesson, ""} for one in left_out)
    what = f"Only other files were handed in, and not {lesson}" if others else f"Nothing was handed in for {lesson}"
    why = f"{what}; hand in {lesson}.py or {lesson}.ipynb."
    return Submission(student, lesson, "", digest(why.encode()), None, why)


def _student_and_time(path: Path) -> tuple[str, datetime | None]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        given = (user.get("email") or user.get("name") or user.get("id") for user in read.get("users", []))
        names = [storable(str(name)) for name in given]
        at = read_time(str(read.get("created_at")), UTC)
    except (OSError, ValueError, AttributeError, TypeError):
        return "student", None
    return " and ".join(names) or "student", at


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
