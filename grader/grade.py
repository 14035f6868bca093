"""Grade one submission: take its source text, and return a report with the result of each task.

The hidden inputs depend on the secret seed, the task and the content of the file, not on the student.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grader import kinds
from grader.errors import FairclockError, GraderFault, NoisyMachineError, WorkerFault
from grader.isolation import forkserver, sandbox
from grader.isolation.pool import Pool
from grader.records import Attempt, Report, Status, Submission, Verdict
from grader.session import Session
from grader.source import Notebook
from grader.task import Task
from grader.trials.faults import MISSING
from grader.trials.score import score
from harness.machine.clocks import wall
from harness.machine.environment import Environment

ESTIMATE: Final = "This machine has no clock for another process's CPU time: ratios are estimates from the wall clock."


def grade(submission: Submission, seed: str, pool: Pool, tasks: Sequence[Task]) -> Report:
    """Grade a submission on some tasks of its lesson, and return the report."""
    began_s = wall()
    with pool.one_hand_in(tensors=any(task.needs_torch for task in tasks)) as trees:
        session = Session(seed, trees)
        verdicts = tuple(grade_task(task, submission, session) for task in tasks)
        remarks = trees.remarks
    environment = Environment.capture()
    return Report(
        submission=submission,
        verdicts=verdicts,
        environment=environment,
        sandboxed=pool.sandboxed,
        duration_s=wall() - began_s,
        missing=sandbox.missing_layers() if pool.sandboxed else (),
        notes=notes(environment),
        remarks=remarks,
    )


def notes(environment: Environment) -> tuple[str, ...]:
    """Return warnings about time measurements on this machine that reports must show. Usually there are none."""
    estimate = "" if forkserver.cpu_clock(os.getpid()) else ESTIMATE
    return tuple(filter(None, (estimate, environment.caution())))


def grade_task(task: Task, submission: Submission, session: Session) -> Verdict:
    """Grade a submission on one task, and return the result. An internal error becomes a result too."""
    try:
        attempt = _attempt(task, submission, session)
    except WorkerFault as fault:
        attempt = Attempt(fault.status, fault.rationale, fault.help, output_tail=fault.printed)
    except NoisyMachineError as error:
        attempt = Attempt(Status.TOO_NOISY, rationale=f"{error} This is not the submission's fault.")
    except (GraderFault, FairclockError) as fault:
        attempt = Attempt(Status.GRADER_ERROR, rationale=f"{fault} This is not the submission's fault.")
    if isinstance(submission.source, Notebook):
        said = submission.source.with_cell_lines(attempt.rationale)
        why = session.pool.remarks if said.startswith(MISSING) else ()
        attempt = replace(attempt, rationale="\n".join((said, *why)))
    return score(task, attempt)


def _attempt(task: Task, submission: Submission, session: Session) -> Attempt:
    if submission.source is None:
        if submission.fault:
            raise GraderFault(f"The grader failed ({submission.fault.kind}) to read the file.")
        return Attempt(Status.REFUSED, rationale=submission.refusal)
    # The student's name is not in the seed, so students with equal files get equal inputs.
    examiner = kinds.examiner(task, session.seed, task.full_name, submission.sha256)
    return examiner.examine(submission.source, session)
