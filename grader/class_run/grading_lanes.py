"""Choose the lanes that grade a class: threads of this process with a pool of process trees, or a cluster."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from grader.catalogue import Catalogue
from grader.class_run import cluster
from grader.class_run.executors import Lanes, Threads
from grader.class_run.hand_in import Grade
from grader.errors import UsageError
from grader.grade import grade
from grader.isolation.pool import Pool
from grader.records import Report, Submission
from harness.rendering import units


def open_lanes(
    stack: ExitStack,
    known: Catalogue,
    jobs: int,
    scheduler: str,
    workers: int,
    hidden: Sequence[Path],
    *,
    sandboxed: bool,
) -> tuple[Grade, Lanes, str]:
    """Return the function that grades a hand-in, the lanes, and a line that describes the lanes to the instructor.

    `known` are the lessons that may be graded. The lanes are `jobs` threads of this process, or the cluster of
    `scheduler`, or a new cluster of `workers` processes. Closing `stack` ends the lanes. Raise `UsageError` if both a
    scheduler and workers are given.
    """
    if scheduler and workers:
        raise UsageError("Give --scheduler for an existing cluster, or --workers for a new cluster, but not both.")
    if scheduler or workers:
        cluster.require()
        from grader.class_run.remote import grade_here  # noqa: PLC0415 - it needs `distributed`, an extra

        start_or_join = partial(cluster.start, workers) if workers else partial(cluster.join, scheduler)
        lanes, where = stack.enter_context(start_or_join(hidden, sandboxed=sandboxed))
        return grade_here, lanes, where
    pool = stack.enter_context(Pool(sandboxed=sandboxed, hidden=hidden, spare=jobs))

    def grade_one(submission: Submission, seed: str) -> Report:
        return grade(submission, seed, pool, known.tasks(submission.lesson))

    return grade_one, Threads(jobs), units.some(jobs, "lane")
