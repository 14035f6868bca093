"""Grade the submissions of a class on a running Dask cluster.

A Dask worker may grade if its files and versions equal those of the machine that started the grading. It then gets one
unit of the Dask resource `LANE` per thread, and every grading takes one unit. Other workers get no unit, so they grade
nothing. This module needs the package `distributed`, an extra.
"""

import asyncio
import hashlib
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from distributed import Client, Security, Status, WorkerPlugin, get_worker
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import connect

from grader import catalogue
from grader.class_run import openssl_errors
from grader.errors import MachineError
from grader.grade import grade
from grader.isolation import sandbox
from grader.isolation.pool import Pool
from grader.paths import GRADER, KIT
from grader.records import Report, Submission
from harness.machine.environment import Environment
from harness.rendering import units

if TYPE_CHECKING:
    from distributed.worker import Worker

LANE: Final = "fairclock-lane"  # a Dask resource, of which each grading takes one unit
NAME: Final = "fairclock"
KINDS: Final = frozenset({".py", ".json", ".c"})  # suffixes of the files on which a grade depends
CONNECT_S: Final = 10  # within which the Dask scheduler must answer
START_S: Final = 60  # within which the first worker must join the cluster
HOW: Final = "run `dask worker ADDRESS --nthreads LANES` in an environment in which this kit is installed"
README: Final = "grader/class_run/CLUSTER.md, section 'Security'"


@contextmanager
def join(address: str, hidden: Sequence[Path], *, sandboxed: bool) -> Iterator[tuple[Executor, str]]:
    """Connect to the Dask scheduler at `address`, and disconnect at the end of the `with` block.

    Yield the lanes of all workers that may grade, and a line with the number of workers and the reasons why some of
    them do not grade. `hidden` are paths that submissions must not read. Raise `MachineError` if no scheduler answers
    or no worker may grade.
    """
    openssl_errors.dask_setup()
    try:
        asyncio.run(_greet(address))
        connected = Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # another program may answer there, and its bytes may raise anything
        why = str(error).rstrip(".") or type(error).__name__
        raise MachineError(
            f"No Dask scheduler answers at {address} ({why}). Start one with `dask scheduler`. Give an address such as "
            "tcp://10.0.0.1:8786. For a scheduler with TLS, the address must begin with tls://, and Dask's settings "
            f"must name certificates of the same authority. See {README}."
        ) from error
    with connected as client:
        try:
            about = _enlist(client, hidden, sandboxed=sandboxed)
            yield client.get_executor(pure=False, resources={LANE: 1}), about
        finally:
            with suppress(Exception):  # if the scheduler is gone, so are its workers' process trees
                client.unregister_worker_plugin(NAME)  # ends the process trees for this class


async def _greet(address: str) -> None:
    """Raise an exception if another program answers at `address`. A `Client` might wait for it without end."""
    arguments = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_S, **arguments), CONNECT_S)
    comm.abort()


def warning(address: str) -> str:
    """Return a warning if the connection to a Dask scheduler on another machine is not encrypted, else ""."""
    with suppress(ValueError):
        protocol, place = parse_address(address)
        if protocol in {"tls", "wss"} or _is_loopback(place):
            return ""
    return (
        f"Warning: the connection to {address} is not encrypted. Everyone on that network can read the secret seed and "
        f"the hand-ins, and can run programs on the workers. Use a tls:// address; see {README}."
    )


def _is_loopback(place: str) -> bool:
    with suppress(ValueError):
        host, _ = parse_host_port(place, 0)
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False


def _enlist(client: Client, hidden: Sequence[Path], *, sandboxed: bool) -> str:
    try:
        client.wait_for_workers(1, timeout=START_S)
    except TimeoutError as error:
        raise MachineError(f"This cluster has no worker. To add workers, {HOW}.") from error
    trouble = ""
    try:
        client.register_plugin(GradingPlugin(standard(), hidden, sandboxed=sandboxed))
    except Exception as error:  # noqa: BLE001 - a worker without the kit may raise anything while it unpickles
        trouble = f"{type(error).__name__}: {error}"
    answered = client.run(standing, on_error="return")
    found = {name: one if isinstance(one, tuple) else (0, str(one)) for name, one in answered.items()}
    lanes = [number for number, _ in found.values() if number]
    idle = [(name, why) for name, (number, why) in sorted(found.items()) if not number]
    otherwise = trouble or "it did not answer"
    left = "; ".join(f"the Dask worker {name} does not grade: {why or otherwise}" for name, why in idle)
    if not lanes:
        none = left or trouble or "none answered"
        raise MachineError(f"No worker of this cluster can grade ({none}). To add workers, {HOW}.")
    about = f"{units.some(len(lanes), 'worker')} of a cluster, {units.some(sum(lanes), 'lane')}"
    return f"{about}; {left}" if left else about


@cache
def standard() -> dict[str, str]:
    """Return what must be equal on all machines that grade a class: versions, and a hash of all relevant files."""
    found = Environment.capture(ask_cuda=False)
    versions = {"kit": found.kit, "python": found.python, "torch": found.torch, "numpy": found.numpy}
    digest = hashlib.sha256()
    files = (path for room in (GRADER, KIT / "harness") for path in room.rglob("*") if path.suffix in KINDS)
    for path in sorted(files):
        digest.update(f"{path.relative_to(KIT)}\0".encode() + path.read_bytes())
    return {**versions, "files of grader and harness": digest.hexdigest()[:12]}


class GradingPlugin(WorkerPlugin):
    """A plugin that Dask runs on each worker. It lets the worker grade if its files and versions are right."""

    name = NAME

    def __init__(self, standard: Mapping[str, str], hidden: Sequence[Path], *, sandboxed: bool) -> None:
        self.standard, self.hidden, self.sandboxed = standard, tuple(hidden), sandboxed
        self.refusal, self.lanes = "", 0
        self.pool: Pool | None = None

    async def setup(self, worker: "Worker") -> None:
        """Check this worker. If it passes the check, let it grade one submission per thread, else none."""
        openssl_errors.dask_setup()
        self.refusal = self._trouble()
        if self.refusal:
            await worker.set_resources(**{LANE: 0})
            return
        self.pool = Pool(sandboxed=self.sandboxed, hidden=self.hidden, spare=worker.state.nthreads)
        # The scheduler assigns waiting calls when a worker's status becomes running, but not when its resources change.
        worker.status = Status.paused
        await worker.set_resources(**{LANE: worker.state.nthreads})
        worker.status = Status.running
        self.lanes = worker.state.nthreads

    def teardown(self, worker: "Worker") -> None:
        """End the processes that this worker has started for submissions."""
        del worker
        if self.pool:
            self.pool.close()

    def _trouble(self) -> str:
        mine = {**dict.fromkeys(self.standard, "unknown"), **standard()}
        differs = [f"{name} {mine[name]} instead of {one}" for name, one in self.standard.items() if one != mine[name]]
        try:
            if self.sandboxed and not differs:
                sandbox.require()
        except MachineError as error:
            return str(error)
        return ", ".join(differs)


def standing(dask_worker: "Worker") -> tuple[int, str]:
    """Return how many submissions this worker grades at a time, and if none, the reason. Dask passes `dask_worker`."""
    plugin = dask_worker.plugins.get(NAME)
    return (plugin.lanes, plugin.refusal) if isinstance(plugin, GradingPlugin) else (0, "the worker was not set up")


def grade_here(submission: Submission, seed: str) -> Report:
    """Grade one submission on the Dask worker that runs this function. `seed` is the secret seed of the class."""
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, GradingPlugin)
    assert plugin.pool is not None
    return grade(submission, seed, plugin.pool, catalogue.load().tasks(submission.lesson))
