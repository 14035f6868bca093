"""Lanes of more than one machine: a Dask cluster that grades a class, with timing lanes as Dask resources.

The supervisor of the run stays here: collecting, the journal and the reports. Hand-ins and the secret seed travel to
the workers, reports come back. When a worker is lost, Dask gives its hand-ins to another.
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
from harness import units

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_S: Final = 10
"""How long a scheduler may take to answer."""

START_S: Final = 60
"""How long the first worker may take to come and be checked."""

HOW: Final = (
    "start workers with `dask worker ADDRESS --nthreads LANES`, in an environment in which this kit is installed"
)


class Cluster(Lanes):
    """The lanes of all workers of one cluster that passed the check."""

    def __init__(self, client: Any) -> None:
        from grader.class_run.remote import LANE  # noqa: PLC0415 - it needs `distributed`, an extra

        self._executor = client.get_executor(pure=False, resources={LANE: 1})

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call, which must be picklable, to a free lane and return its future."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work. With `wait`, return when all that was taken is done."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    def abandon(self) -> None:
        """Cancel everything; what a worker has begun it ends, and nobody asks for it."""
        self._executor.shutdown(wait=False)


@contextmanager
def join(address: str, hidden: Sequence[Path], *, sandboxed: bool) -> Iterator[tuple[Cluster, str]]:
    """Grade on the cluster of the scheduler at `address`; also a line on who takes part, and who does not and why.

    Raises `UsageError` when Dask's configuration does not fit the address, and `MachineError` when no scheduler
    answers there or no worker passes the check.
    """
    dask = _dask()
    encryption.require_settings(address)
    from grader.class_run.remote import NAME  # noqa: PLC0415 - it needs `distributed`, an extra

    try:
        client = dask.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise MachineError(
            f"No Dask scheduler answers at {address}; start one with `dask scheduler`. If one runs there, the address "
            f"must begin with tls:// where the scheduler uses TLS, and both need certificates of the same authority."
        ) from error
    except ValueError as error:
        raise UsageError(f"{address!r} is no address of a scheduler; give one like tcp://10.0.0.1:8786.") from error
    with client:
        enlisted = _enlist(client, hidden, sandboxed=sandboxed)
        try:
            yield enlisted
        finally:
            with suppress(Exception):  # where the scheduler is gone, its workers keep nothing ready either
                client.unregister_worker_plugin(NAME)  # workers live on; what they keep ready for this class does not


@contextmanager
def start(workers: int, hidden: Sequence[Path], *, sandboxed: bool) -> Iterator[tuple[Cluster, str]]:
    """Grade on a cluster of `workers` processes on this machine, of one lane each, that ends with the block.

    Its processes take connections from each other alone: each connection needs the key of this run.
    Dask's own log is off: where a worker's heartbeat meets the end of the run, it would print a traceback. What goes
    wrong with a hand-in is in that hand-in's verdict.
    """
    dask = _dask()
    one_lane_each = {"threads_per_worker": 1, "processes": True, "memory_limit": 0}
    unseen = {"silence_logs": logging.CRITICAL + 1, "scheduler_kwargs": {"dashboard": False}}
    with ExitStack() as stack:
        stack.enter_context(_environment_kept())
        security = stack.enter_context(encryption.of_one_run())
        private = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "security": security}
        cluster = stack.enter_context(dask.LocalCluster(n_workers=workers, **private, **one_lane_each, **unseen))
        client = stack.enter_context(dask.Client(cluster, set_as_default=False))
        yield _enlist(client, hidden, sandboxed=sandboxed)


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Put the variables of this process back as they were: Dask sets some for its workers, and leaves them set here."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _enlist(client: Any, hidden: Sequence[Path], *, sandboxed: bool) -> tuple[Cluster, str]:
    """Set every worker up; those that join later are set up alike."""
    from grader.class_run.remote import LANE, Post, Standard, refusal  # noqa: PLC0415 - they need `distributed`, an extra

    try:
        client.wait_for_workers(1, timeout=START_S)
    except TimeoutError as error:
        raise MachineError(f"This cluster has no worker; {HOW}.") from error
    trouble = ""
    try:
        client.register_plugin(Post(Standard.here(), hidden, sandboxed=sandboxed))
    except Exception as error:  # noqa: BLE001 - a worker without the kit raises whatever unpickling does
        trouble = f"{type(error).__name__}: {error}"
    known = client.scheduler_info(n_workers=-1)["workers"]
    lanes = {name: int(worker["resources"].get(LANE, 0)) for name, worker in known.items()}
    refusals = {name: str(why) for name, why in client.run(refusal, on_error="return").items() if not lanes.get(name)}
    left = "; ".join(f"{name} grades nothing: {why}" for name, why in sorted(refusals.items()))
    if not any(lanes.values()):
        raise MachineError(f"No worker of this cluster can grade ({left or trouble or 'none answered'}); {HOW}.")
    taking_part = sum(map(bool, lanes.values()))
    about = f"{units.some(taking_part, 'worker')} of a cluster, {units.some(sum(lanes.values()), 'lane')}"
    return Cluster(client), f"{about}; {left}" if left else about


def require() -> None:
    """Raise `MachineError` where Dask is not installed."""
    if find_spec("distributed") is None:
        raise MachineError("Grading on a cluster needs Dask: install it with `pip install -e '.[cluster]'`.")


def _dask() -> Any:
    """Dask's `distributed`, which is an extra and has no types."""
    require()
    return import_module("distributed")
