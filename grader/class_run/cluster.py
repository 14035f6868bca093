"""Grade the submissions of a class on a Dask cluster.

This process collects the submissions, stores the grades and writes the reports. It sends submissions and the secret
seed to the Dask workers, and receives the graded reports. Each thread of a worker grades one submission at a time. If a
worker is lost, Dask sends its submissions to another worker.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from grader.class_run import encryption
from grader.class_run.executors import Lanes
from grader.errors import MachineError, UsageError
from harness.rendering import units

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_S: Final = 10
"""Seconds within which the Dask scheduler must answer."""

START_S: Final = 60
"""Seconds within which the first worker must join the cluster."""

PRELOAD: Final = "grader.class_run.openssl_errors"
"""The module that each process of a cluster imports first. It needs Dask, an extra."""

HOW: Final = "run `dask worker ADDRESS --nthreads LANES` in an environment in which this kit is installed"


class Cluster(Lanes):
    """The threads of all Dask workers that may grade, because their versions and files equal those of this machine."""

    def __init__(self, client: Any) -> None:
        from grader.class_run.remote import LANE  # noqa: PLC0415 - it needs `distributed`, an extra

        self._executor = client.get_executor(pure=False, resources={LANE: 1})

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` in a free thread of a worker, and return the future of its result.

        `fn` and its arguments must be picklable.
        """
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no further calls. With `wait`, return when all accepted calls are done."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    def abandon(self) -> None:
        """Cancel all calls. A worker finishes a call that it has begun, but the result is ignored."""
        self._executor.shutdown(wait=False)


@contextmanager
def join(address: str, hidden: Sequence[Path], *, sandboxed: bool) -> Iterator[tuple[Cluster, str]]:
    """Connect to the Dask scheduler at `address`, and disconnect at the end of the `with` block.

    Yield the cluster, and a line with the number of workers and the reasons why some of them do not grade. `hidden` are
    paths that submissions must not read. Raise `UsageError` if Dask's configuration does not fit the address. Raise
    `MachineError` if no scheduler answers or no worker may grade.
    """
    dask = _dask()
    encryption.require_settings(address)
    from grader.class_run.remote import NAME  # noqa: PLC0415 - it needs `distributed`, an extra

    try:
        client = dask.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise MachineError(
            f"No Dask scheduler answers at {address}. Start one with `dask scheduler`. For a scheduler with TLS, the "
            "address must begin with tls://, and both machines need certificates of the same authority."
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{address!r} is not the address of a scheduler. Give an address such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        enlisted = _enlist(client, hidden, sandboxed=sandboxed)
        try:
            yield enlisted
        finally:
            with suppress(Exception):  # if the scheduler is gone, so are its workers' process trees
                client.unregister_worker_plugin(NAME)  # ends the process trees for this class


@contextmanager
def start(workers: int, hidden: Sequence[Path], *, sandboxed: bool) -> Iterator[tuple[Cluster, str]]:
    """Start a Dask cluster of `workers` processes on this machine, and stop it after the `with` block.

    Yield the cluster and a line that describes its workers. `hidden` are paths that submissions must not read. The
    processes accept connections only from each other, because each connection needs the key of this run. Dask's own log
    is off, because a worker's heartbeat at the end of the run would print a traceback.
    """
    dask = _dask()
    one_lane_each = {"threads_per_worker": 1, "processes": True, "memory_limit": 0, "preload": [PRELOAD]}
    unseen = {"silence_logs": logging.CRITICAL + 1, "scheduler_kwargs": {"dashboard": False}}
    with ExitStack() as stack:
        stack.enter_context(_environment_kept())
        security = stack.enter_context(encryption.of_one_run())
        private = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "security": security}
        cluster = stack.enter_context(dask.LocalCluster(n_workers=workers, **private, **one_lane_each, **unseen))
        client = stack.enter_context(dask.Client(cluster, set_as_default=False))
        with suppress(TimeoutError):  # a worker that connects later grades too, but the line does not count it
            client.wait_for_workers(workers, timeout=START_S)
        yield _enlist(client, hidden, sandboxed=sandboxed)


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Restore the environment variables of this process after the `with` block, because Dask changes some of them."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _enlist(client: Any, hidden: Sequence[Path], *, sandboxed: bool) -> tuple[Cluster, str]:
    """Return the cluster with all workers that may grade, and a line that describes the workers.

    Workers that join later are checked in the same way. Raise `MachineError` if no worker may grade.
    """
    from grader.class_run.remote import GradingPlugin, Standard, standing  # noqa: PLC0415 - this needs the optional package `distributed`

    try:
        client.wait_for_workers(1, timeout=START_S)
    except TimeoutError as error:
        raise MachineError(f"This cluster has no worker. To add workers, {HOW}.") from error
    trouble = ""
    try:
        client.register_plugin(GradingPlugin(Standard.here(), hidden, sandboxed=sandboxed))
    except Exception as error:  # noqa: BLE001 - a worker without the kit may raise anything while it unpickles
        trouble = f"{type(error).__name__}: {error}"
    answered = client.run(standing, on_error="return")
    found = {name: one if isinstance(one, tuple) else (0, str(one)) for name, one in answered.items()}
    lanes = {name: number for name, (number, _) in found.items() if number}
    reasons = {name: why or trouble or "it did not answer" for name, (_, why) in found.items() if name not in lanes}
    left = "; ".join(f"the Dask worker {name} does not grade: {why}" for name, why in sorted(reasons.items()))
    if not lanes:
        raise MachineError(
            f"No worker of this cluster can grade ({left or trouble or 'none answered'}). To add workers, {HOW}."
        )
    about = f"{units.some(len(lanes), 'worker')} of a cluster, {units.some(sum(lanes.values()), 'lane')}"
    return Cluster(client), f"{about}; {left}" if left else about


def require() -> None:
    """Raise `MachineError` if Dask is not installed."""
    if find_spec("distributed") is None:
        raise MachineError("Grading on a cluster needs Dask. Install Dask with `pip install -e '.[cluster]'`.")


def _dask() -> Any:
    """Return the package `distributed`, with repaired TLS connections in this process."""
    require()
    import_module(PRELOAD).repair()
    return import_module("distributed")
