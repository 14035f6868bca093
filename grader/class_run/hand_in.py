"""One hand-in on its way through a run: graded, with the times at which that began and ended.

Whatever grading raises is a fault of ours: the hand-in gets verdicts of GRADER_ERROR, which cost its student nothing.
"""

import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from grader.class_run.journal import Graded
from grader.class_run.roll import TaskPoints
from grader.isolation import sandbox
from grader.records import Attempt, Report, Status, Submission, Verdict
from harness.clocks import wall
from harness.environment import Environment

Grade = Callable[[Submission, str], Report]
"""Grades one submission with the secret seed of its class; called from several threads at once."""

_TAIL_CHARACTERS = 4_000


def graded(submission: Submission, seed: str, grade: Grade, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Grade one submission; what `grade` raises becomes a verdict on us. `sandboxed` stamps that one."""
    started, began_s = datetime.now(UTC), wall()
    try:
        report = grade(submission, seed)
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is ours and ends this grading alone
        report = _ours(submission, fault, tasks, wall() - began_s, sandboxed=sandboxed)
    return Graded(report, started, datetime.now(UTC))


def lost(submission: Submission, fault: Exception, tasks: Sequence[TaskPoints], *, sandboxed: bool) -> Graded:
    """Return the verdict on us for a submission of which nothing came back."""
    now = datetime.now(UTC)
    return Graded(_ours(submission, fault, tasks, 0.0, sandboxed=sandboxed), now, now)


def _ours(
    submission: Submission, fault: Exception, tasks: Sequence[TaskPoints], duration_s: float, *, sandboxed: bool
) -> Report:
    # The type alone: a message might quote a hidden case.
    why = f"The grader failed ({type(fault).__name__}); this is not the submission's fault."
    attempt = Attempt(Status.GRADER_ERROR, rationale=why, help="It will be graded again.", output_tail=_tail(fault))
    mine = [task for task in tasks if task.lesson == submission.lesson]
    return Report(
        submission=submission,
        verdicts=tuple(Verdict(task.task, 0.0, task.points, None, attempt) for task in mine),
        environment=Environment.capture(),
        sandboxed=sandboxed,
        missing=sandbox.missing() if sandboxed else (),
        duration_s=duration_s,
    )


def _tail(fault: Exception) -> str:
    """Return the traceback, kept in the journal for whoever mends the grader and shown in no report."""
    return "".join(traceback.format_exception(fault))[-_TAIL_CHARACTERS:]
