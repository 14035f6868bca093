"""Choose where the submissions of a class are graded: in threads of this process, or on a Dask cluster."""

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
    """Return the function that grades a submission, the executor that calls it, and a line for the instructor.

    The line describes the executor. It has `jobs` threads of this process, or uses the Dask cluster at the address
    `scheduler`, or starts a Dask cluster of `workers` processes. Closing `stack` stops it. `known` are the lessons that
    may be graded, and `hidden` paths that submissions must not read. Raise `UsageError` if both a scheduler and workers
    are given.
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
