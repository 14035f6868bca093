"""The path of one submission, on one screen: text in, report out.

For each task of the exercise: run it in a worker (`tensors`, `metered` or `counted`), turn what happened into an
attempt, and score that. A fault of the submission ends that task alone; a fault of ours is never the student's.
The hidden inputs depend on the secret seed, the task and the content of the file, not on the student.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grader import catalogue
from grader.errors import FairclockError, GraderFault, WorkerFault
from grader.hand_ins.notebooks import by_cell
from grader.isolation import forkserver, sandbox
from grader.isolation.pool import Pool
from grader.records import Attempt, Report, Status, Submission, Verdict
from grader.settings import Settings
from grader.task import CountedExam, Task, TensorExam
from grader.trials import counted, metered, tensors
from grader.trials.score import score
from harness.clocks import wall
from harness.environment import Environment

ESTIMATE: Final = "No clock here sees another process's CPU time: ratios are estimates from the wall clock."


def grade(submission: Submission, seed: str, pool: Pool, tasks: Sequence[Task] = ()) -> Report:
    """Grade one hand-in on these tasks of its lesson, else on all, with inputs drawn from a secret seed."""
    began_s = wall()
    tasks = tasks or catalogue.load().tasks(submission.lesson)
    with pool.one_hand_in(tensors=any(task.needs_torch for task in tasks)) as trees:
        settings = Settings(seed, trees)
        verdicts = [grade_task(task, submission, settings) for task in tasks]
    environment = Environment.capture()
    return Report(
        submission=submission,
        verdicts=tuple(verdicts),
        environment=environment,
        sandboxed=pool.sandboxed,
        duration_s=wall() - began_s,
        missing=sandbox.missing() if pool.sandboxed else (),
        notes=notes(environment),
    )


def notes(environment: Environment) -> tuple[str, ...]:
    """Return what reports must say about how times were measured in this environment; empty where nothing is odd."""
    estimate = "" if forkserver.cpu_clock(os.getpid()) else ESTIMATE
    return tuple(filter(None, (estimate, environment.caution())))


def grade_task(task: Task, submission: Submission, settings: Settings) -> Verdict:
    """Grade one task of a hand-in."""
    try:
        attempt = _attempt(task, submission, settings)
    except WorkerFault as fault:
        attempt = Attempt(fault.status, fault.rationale, fault.help, output_tail=fault.printed)
    except (GraderFault, FairclockError) as fault:
        attempt = Attempt(Status.GRADER_ERROR, rationale=f"{fault} This is not the submission's fault.")
    if submission.source is not None and submission.path.endswith(".ipynb"):
        attempt = replace(attempt, rationale=by_cell(attempt.rationale, submission.source))
    return score(task, attempt)


def seed_of(task: Task, submission: Submission, settings: Settings) -> tuple[str, str, str]:
    """Return what a hand-in's inputs are drawn from: the secret, the task and the content, and not who handed it in."""
    return settings.seed, task.full_name, submission.sha256


def _attempt(task: Task, submission: Submission, settings: Settings) -> Attempt:
    if submission.source is None:
        if submission.fault:
            raise GraderFault(f"The grader failed ({submission.fault.kind}) to read the file.")
        return Attempt(Status.RAISED, rationale=submission.refusal)
    seed = seed_of(task, submission, settings)
    if isinstance(task.exam, TensorExam):
        return tensors.examine(task, task.exam, submission.source, settings, seed)
    if isinstance(task.exam, CountedExam):
        return counted.examine(task, task.exam, submission.source, settings, seed)
    return metered.examine(task, task.exam, submission.source, settings, seed)
