"""Choose where the submissions of a class are graded: in threads of this process, or on a Dask cluster.

A lane grades one submission at a time. It waits for processes in which the timed code runs, so several lanes in one
process do not disturb a measurement.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own

from grader.catalogue import Catalogue
from grader.errors import MachineError
from grader.grade import grade
from grader.isolation.pool import Pool
from grader.records import Report, Submission
from harness.rendering import units

P = ParamSpec("P")
T = TypeVar("T")

Grade = Callable[[Submission, str], Report]
"""A function that grades one submission with the secret seed of its class. Several threads call it at the same time."""


class Lanes(Protocol):
    """Threads that grade several submissions at the same time, here or on other machines."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` when a lane is free, and return the future of its result."""

    def finish(self) -> None:
        """Return when all calls are done."""

    def abandon(self) -> None:
        """Drop the queued calls, and stop the current ones."""


class LocalLanes:
    """`jobs` threads of this process. Calls start in the order in which they were submitted.

    The interpreter does not wait for these threads at exit, so Ctrl-C ends a run at once.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    @cached_property
    def _pool(self) -> ThreadPool:
        return ThreadPool(self._jobs)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Add the call of `fn` to the queue, and return the future of its result."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as fault:  # noqa: BLE001 - the future holds any exception of its call
                future.set_exception(fault)

        self._pool.apply_async(work)
        return future

    def finish(self) -> None:
        """Return when all calls are done."""
        self._pool.close()
        self._pool.join()

    def abandon(self) -> None:
        """Drop the queued calls, and kill every child process of this process, so that running calls end."""
        self._pool.terminate()
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # the process has ended already
                process.kill()


@contextmanager
def opened(
    known: Catalogue,
    jobs: int,
    scheduler: str,
    hidden: Sequence[Path],
    *,
    sandboxed: bool,
    warn: Callable[[str], None],
) -> Iterator[tuple[Grade, Lanes, str]]:
    """Yield the function that grades a submission, the lanes that call it, and a line that describes the lanes.

    The lanes are `jobs` threads of this process, or those of the Dask cluster at the address `scheduler`. `warn` is
    called with a warning if the connection to the cluster is not encrypted. `known` are the lessons that may be graded,
    and `hidden` paths that submissions must not read. Raise `MachineError` if Dask is needed and not installed.
    """
    if scheduler:
        if find_spec("distributed") is None:
            raise MachineError("Grading on a cluster needs Dask. Install Dask with `pip install -e '.[cluster]'`.")
        from grader.class_run import cluster, remote  # noqa: PLC0415 - they need `distributed`, an extra

        if unsafe := cluster.warning(scheduler):
            warn(unsafe)
        with cluster.join(scheduler, hidden, sandboxed=sandboxed) as (lanes, about):
            yield remote.grade_here, lanes, about
        return
    with Pool(sandboxed=sandboxed, hidden=hidden, spare=jobs) as pool:

        def grade_one(submission: Submission, seed: str) -> Report:
            return grade(submission, seed, pool, known.tasks(submission.lesson))

        yield grade_one, LocalLanes(jobs), units.some(jobs, "lane")
