"""Who grades a class, and where: threads of this process with a pool of their own, or the workers of a cluster."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from grader.class_run import cluster
from grader.class_run.executors import Lanes, Threads
from grader.class_run.hand_in import Grade
from grader.errors import UsageError
from grader.grade import grade
from grader.isolation.pool import Pool
from harness import units


def crew(
    stack: ExitStack, jobs: int, scheduler: str, workers: int, hidden: Sequence[Path], *, sandboxed: bool
) -> tuple[Grade, Lanes, str]:
    """How a hand-in is graded, in which lanes, and a line on these for the instructor. All is ended with the stack.

    `jobs` threads here, unless there is the address of a `scheduler`, or a number of `workers` to start here.
    """
    if scheduler and workers:
        raise UsageError("Give --scheduler for a cluster that is there, or --workers for one to start here, not both.")
    if scheduler or workers:
        cluster.require()
        from grader.class_run.remote import grade_here  # noqa: PLC0415 - it needs `distributed`, an extra

        start_or_join = partial(cluster.start, workers) if workers else partial(cluster.join, scheduler)
        lanes, where = stack.enter_context(start_or_join(hidden, sandboxed=sandboxed))
        return grade_here, lanes, where
    pool = stack.enter_context(Pool(sandboxed=sandboxed, hidden=hidden, spare=jobs))
    return (lambda submission, seed: grade(submission, seed, pool)), Threads(jobs), units.some(jobs, "lane")
