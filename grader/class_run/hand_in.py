"""Grade one submission of a class, and record the times at which its grading began and ended.

If the grader raises an exception, the report states an internal error, which costs the student no points.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from grader.class_run.journal import Graded
from grader.course.roll import TaskPoints
from grader.isolation import sandbox
from grader.records import Attempt, Fault, Report, Status, Submission, Verdict
from harness.machine.clocks import wall
from harness.machine.environment import Environment

Grade = Callable[[Submission, str], Report]
"""A function that grades one submission with the secret seed of its class. Several threads call it at the same time."""


def graded(submission: Submission, seed: str, grade: Grade, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Grade one submission with the function `grade`. If `grade` fails, return a report of an internal error.

    A submission that could not be read because of an internal error also gets this report, which costs no points.
    `tasks` and `sandboxed` (whether a sandbox is used) are only needed for this report.
    """
    started, began_s = datetime.now(UTC), wall()
    if submission.fault:
        return Graded(_internal_error(submission, submission.fault, tasks, 0.0, sandboxed=sandboxed), started, started)
    try:
        report = grade(submission, seed)
    except Exception as error:  # noqa: BLE001 - any failure is an internal error and ends only this grading
        report = _internal_error(submission, Fault.of(error), tasks, wall() - began_s, sandboxed=sandboxed)
    return Graded(report, started, datetime.now(UTC))


def lost(submission: Submission, error: BaseException, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Return a report of an internal error for all tasks of a submission whose grading failed with `error`."""
    now = datetime.now(UTC)
    return Graded(_internal_error(submission, Fault.of(error), tasks, 0.0, sandboxed=sandboxed), now, now)


def _internal_error(
    submission: Submission, fault: Fault, tasks: Sequence[TaskPoints], duration_s: float, *, sandboxed: bool
) -> Report:
    # Only the exception's type is shown, because its message might quote a hidden case.
    why = f"The grader failed ({fault.kind}); this is not the submission's fault."
    attempt = Attempt(
        Status.GRADER_ERROR, rationale=why, help="The submission will be graded again.", output_tail=fault.trace
    )
    mine = [task for task in tasks if task.lesson == submission.lesson]
    return Report(
        submission=submission,
        verdicts=tuple(Verdict(task.task, 0.0, task.points, None, attempt) for task in mine),
        environment=Environment.capture(),
        sandboxed=sandboxed,
        missing=sandbox.missing_layers() if sandboxed else (),
        duration_s=duration_s,
    )
