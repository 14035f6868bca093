"""Grade the submissions of a class on a running Dask cluster.

This process collects the submissions, stores the grades and writes the reports. It sends submissions and the secret
seed to the Dask workers, and receives the graded reports. Each thread of a worker grades one submission at a time. If a
worker is lost, Dask sends its submissions to another worker.

This module needs the package `distributed`, an extra.
"""

import asyncio
import ipaddress
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from distributed import Client, Security
from distributed.comm.addressing import get_address_host_port, parse_address, parse_host_port
from distributed.comm.core import connect

from grader.class_run import openssl_errors
from grader.class_run.remote import LANE, NAME, GradingPlugin, standard, standing
from grader.errors import MachineError, UsageError
from harness.rendering import units

P = ParamSpec("P")
T = TypeVar("T")

CONNECT_S: Final = 10
"""Seconds within which the Dask scheduler must answer."""

START_S: Final = 60
"""Seconds within which the first worker must join the cluster."""

HOW: Final = "run `dask worker ADDRESS --nthreads LANES` in an environment in which this kit is installed"
README: Final = "grader/class_run/README.md, section 'More than one machine'"


class Cluster:
    """The lanes of all Dask workers that may grade, because their versions and files equal those of this machine."""

    def __init__(self, client: Client) -> None:
        self._executor = client.get_executor(pure=False, resources={LANE: 1})

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` in a free thread of a worker, and return the future of its result.

        `fn` and its arguments must be picklable.
        """
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def finish(self) -> None:
        """Return when all calls are done."""
        self._executor.shutdown()

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
    openssl_errors.repair()
    require_settings(address)
    with _connected(address) as client:
        try:
            yield Cluster(client), _enlist(client, hidden, sandboxed=sandboxed)
        finally:
            with suppress(Exception):  # if the scheduler is gone, so are its workers' process trees
                client.unregister_worker_plugin(NAME)  # ends the process trees for this class


def _connected(address: str) -> Client:
    try:
        get_address_host_port(address)
    except ValueError as error:
        raise UsageError(
            f"{address!r} is not the address of a scheduler. Give an address such as tcp://10.0.0.1:8786."
        ) from error
    try:
        asyncio.run(_greet(address))
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # another program may answer there, and its bytes may raise anything
        raise MachineError(
            f"No Dask scheduler answers at {address}. Start one with `dask scheduler`. For a scheduler with TLS, the "
            "address must begin with tls://, and both machines need certificates of the same authority."
        ) from error


async def _greet(address: str) -> None:
    """Connect to the Dask scheduler at `address`, and disconnect. Raise an exception if another program answers there.

    A `Client` would wait without end for such a program, or would not close after its answer.
    """
    arguments = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_S, **arguments), CONNECT_S)
    comm.abort()


def require_settings(address: str) -> None:
    """Raise `UsageError` if Dask's configuration cannot connect to `address`, for example without certificates."""
    security = Security()
    try:
        has_certificates = security.get_connection_args("client")["ssl_context"] is not None
    except OSError as error:
        raise UsageError(f"Dask cannot load the certificates of its configuration ({error}). See {README}.") from error
    if _is_encrypted(address) and not has_certificates:
        raise UsageError(f"{address} needs certificates, but Dask's configuration names no certificates. See {README}.")
    if security.require_encryption and not _is_encrypted(address):
        raise UsageError(
            f"Dask's configuration requires encryption, but {address} is not encrypted. Use a tls:// address."
        )


def warning(address: str) -> str:
    """Return a warning if the connection to a Dask scheduler on another machine is not encrypted, else ""."""
    if _is_encrypted(address) or _is_loopback(address):
        return ""
    return (
        f"Warning: the connection to {address} is not encrypted. Everyone on that network can read the secret seed and "
        f"the hand-ins, and can run programs on the workers. Use a tls:// address; see {README}."
    )


def _is_encrypted(address: str) -> bool:
    with suppress(ValueError):
        return parse_address(address)[0] in {"tls", "wss"}
    return False


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        host, _ = parse_host_port(parse_address(address)[1], 0)
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False


def _enlist(client: Client, hidden: Sequence[Path], *, sandboxed: bool) -> str:
    """Let all workers grade whose versions and files are right, and return a line that describes the workers.

    Workers that join later are checked in the same way. Raise `MachineError` if no worker may grade.
    """
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
    left = "; ".join(
        f"the Dask worker {name} does not grade: {why or trouble or 'it did not answer'}"
        for name, (number, why) in sorted(found.items())
        if not number
    )
    if not lanes:
        raise MachineError(
            f"No worker of this cluster can grade ({left or trouble or 'none answered'}). To add workers, {HOW}."
        )
    about = f"{units.some(len(lanes), 'worker')} of a cluster, {units.some(sum(lanes), 'lane')}"
    return f"{about}; {left}" if left else about
