"""One hand-in on its way through a run: graded, with the times at which that began and ended.

Whatever grading raises is a fault of ours: the hand-in gets verdicts of GRADER_ERROR, which cost its student nothing.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from grader.class_run.journal import Graded
from grader.class_run.roll import TaskPoints
from grader.isolation import sandbox
from grader.records import Attempt, Fault, Report, Status, Submission, Verdict
from harness.clocks import wall
from harness.environment import Environment

Grade = Callable[[Submission, str], Report]
"""Grades one submission with the secret seed of its class; called from several threads at once."""


def graded(submission: Submission, seed: str, grade: Grade, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Grade one submission; what `grade` raises becomes GRADER_ERROR. `sandboxed` stamps that verdict.

    A submission that the grader failed to read is not graded: it gets GRADER_ERROR, too.
    """
    started, began_s = datetime.now(UTC), wall()
    if submission.fault:
        return Graded(_ours(submission, submission.fault, tasks, 0.0, sandboxed=sandboxed), started, started)
    try:
        report = grade(submission, seed)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is ours and ends this grading alone
        report = _ours(submission, Fault.of(error), tasks, wall() - began_s, sandboxed=sandboxed)
    return Graded(report, started, datetime.now(UTC))


def lost(submission: Submission, error: BaseException, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Return GRADER_ERROR for a submission whose report did not come back, or could not be kept."""
    now = datetime.now(UTC)
    return Graded(_ours(submission, Fault.of(error), tasks, 0.0, sandboxed=sandboxed), now, now)


def _ours(
    submission: Submission, fault: Fault, tasks: Sequence[TaskPoints], duration_s: float, *, sandboxed: bool
) -> Report:
    # The type alone: a message might quote a hidden case.
    why = f"The grader failed ({fault.kind}); this is not the submission's fault."
    attempt = Attempt(Status.GRADER_ERROR, rationale=why, help="It will be graded again.", output_tail=fault.trace)
    mine = [task for task in tasks if task.lesson == submission.lesson]
    return Report(
        submission=submission,
        verdicts=tuple(Verdict(task.task, 0.0, task.points, None, attempt) for task in mine),
        environment=Environment.capture(),
        sandboxed=sandboxed,
        missing=sandbox.missing() if sandboxed else (),
        duration_s=duration_s,
    )
