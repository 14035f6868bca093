"""Grade the submissions of a class in parallel, and store each grade in the database of grades (the journal).

A lane grades one submission at a time: a thread of this process, or of a Dask worker. The timed code runs in other
processes, so several lanes in one process do not disturb a measurement.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, as_completed
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import ParamSpec, TypeVar

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader import catalogue
from grader.class_run.journal import Journal
from grader.class_run.standing import Graded
from grader.course.results import TaskPoints
from grader.course.roll import is_too_noisy
from grader.errors import FairclockError, MachineError
from grader.grade import grade
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.records import Attempt, Fault, Report, Status, Submission, Verdict
from harness.machine.environment import Environment
from harness.rendering import units

P = ParamSpec("P")
T = TypeVar("T")

Grade = Callable[[Submission, str], Report]
"""A function that grades one submission with the secret seed of its class. Several threads call it at the same time."""

Key = tuple[str, str]
"""A lesson, and a digest of the submitted file. Equal files of several students have one key and are graded once."""


def key(submission: Submission) -> Key:
    """Return the key of a submission's grade."""
    return submission.lesson, submission.content


class LocalLanes(Executor):
    """`jobs` threads of this process. The interpreter does not wait for them at exit, so Ctrl-C ends a run at once."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    @cached_property
    def _pool(self) -> ThreadPool:
        return ThreadPool(self._jobs)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Add the call of `fn` to the queue, and return the future of its result."""
        future: Future[T] = Future()
        self._pool.apply_async(fn, args, kwargs, future.set_result, future.set_exception)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return when all calls are done, or end them: drop the queue, and kill every child process of this process."""
        if wait and not cancel_futures:
            self._pool.close()
            self._pool.join()
            return
        self._pool.terminate()
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # the process has ended already
                process.kill()


@contextmanager
def lanes(
    jobs: int, scheduler: str, hidden: Sequence[Path], *, sandboxed: bool, warn: Callable[[str], None]
) -> Iterator[tuple[Grade, Executor, str]]:
    """Yield the function that grades a submission, the executor that calls it, and a line that describes its lanes.

    The lanes are `jobs` threads of this process, or those of the Dask cluster at the address `scheduler`. `warn` is
    called with a warning if the connection to the cluster is not encrypted. Submissions must not read the paths
    `hidden`. Raise `MachineError` if Dask is needed and not installed.
    """
    if scheduler:
        if find_spec("distributed") is None:
            raise MachineError("Grading on a cluster needs Dask. Install Dask with `pip install -e '.[cluster]'`.")
        from grader.class_run import cluster  # noqa: PLC0415 - it needs `distributed`, an extra

        if unsafe := cluster.warning(scheduler):
            warn(unsafe)
        with cluster.join(scheduler, hidden, sandboxed=sandboxed) as (executor, about):
            yield cluster.grade_here, executor, about
        return
    with Pool(sandboxed=sandboxed, hidden=hidden, spare=jobs) as pool:

        def grade_one(submission: Submission, seed: str) -> Report:
            return grade(submission, seed, pool, catalogue.load().tasks(submission.lesson))

        yield grade_one, LocalLanes(jobs), units.some(jobs, "lane")


@dataclass(frozen=True, slots=True)
class HandInGrader:
    """Grades submissions of a class with the function `grade` and the secret `seed`. Dask sends it to its workers."""

    grade: Grade
    seed: str
    tasks: tuple[TaskPoints, ...]
    sandboxed: bool

    def graded(self, submission: Submission) -> Graded:
        """Grade one submission. If it could not be read, or `grade` fails, return a report of an internal error."""
        started = datetime.now(UTC)
        if submission.fault:
            return self.lost(submission, submission.fault, started)
        try:
            report = self.grade(submission, self.seed)
        except BaseException as error:  # noqa: BLE001 - any failure is an internal error and ends only this grading
            return self.lost(submission, Fault.of(error), started)
        return Graded(report, started, datetime.now(UTC))

    def lost(self, submission: Submission, fault: Fault, started: datetime | None = None) -> Graded:
        """Return a report of an internal error for all tasks of a submission whose grading failed with `fault`."""
        finished = datetime.now(UTC)
        started = started or finished
        # Only the exception's type is shown, because its message might quote a hidden case.
        why = f"The grader failed ({fault.kind}); this is not the submission's fault."
        attempt = Attempt(
            Status.GRADER_ERROR, rationale=why, help="The submission will be graded again.", output_tail=fault.trace
        )
        mine = [task for task in self.tasks if task.lesson == submission.lesson]
        report = Report(
            submission=submission,
            verdicts=tuple(Verdict(task.task, 0.0, task.points, None, attempt) for task in mine),
            environment=Environment.capture(),
            sandboxed=self.sandboxed,
            missing=sandbox.missing_layers() if self.sandboxed else (),
            duration_s=(finished - started).total_seconds(),
        )
        return Graded(report, started, finished)


def grade_all(
    pending: Sequence[Submission],
    grader: HandInGrader,
    book: Journal,
    again: Collection[Key],
    executor: Executor,
    progress: AbstractContextManager[Callable[[Report], None]],
) -> int:
    """Grade the submissions in `pending`, store the grades in `book`, and return the number of stored grades.

    A file whose key is in `again` is graded although it may have a grade. Submissions for which the machine was too
    noisy are graded once more after all others, because the noise may be over by then. After Ctrl-C, the returned
    number may be less than the number of submissions.
    """
    kept = 0
    noisy: list[Submission] = []
    try:
        with progress as tell:
            for graded in _round(pending, grader, executor):
                report = keep(graded, book, grader, again=key(graded.report.submission) in again)
                tell(report)
                kept += 1
                noisy += [report.submission] if is_too_noisy(report) else []
            for graded in _round(noisy, grader, executor):
                tell(keep(graded, book, grader, again=key(graded.report.submission) in again))
    except BaseException as error:
        executor.shutdown(wait=False)
        if not isinstance(error, KeyboardInterrupt):
            raise
    else:
        executor.shutdown()
    return kept


def keep(graded: Graded, book: Journal, grader: HandInGrader, *, again: bool, held: bool = False) -> Report:
    """Store a grade, or an internal error in its place. Return the report that was stored.

    `again` and `held` are those of `Journal.add`.
    """
    try:
        book.add(graded, again=again, held=held)
    except FairclockError:
        raise
    except Exception as error:  # noqa: BLE001 - any failure concerns only this grade
        graded = grader.lost(graded.report.submission, Fault.of(error))
        with suppress(Exception):
            book.add(graded)
    return graded.report


def _round(pending: Sequence[Submission], grader: HandInGrader, executor: Executor) -> Iterator[Graded]:
    futures: dict[Future[Graded], Submission] = {}
    for submission in pending:
        try:
            futures[executor.submit(grader.graded, submission)] = submission
        except Exception as error:  # noqa: BLE001 - any failure ends only this submission
            yield grader.lost(submission, Fault.of(error))
    for future in as_completed(futures):
        failure = CancelledError() if future.cancelled() else future.exception()
        yield grader.lost(futures[future], Fault.of(failure)) if failure else future.result()
