"""Encrypted connections of a Dask cluster: the keys of one run, and checks of an address that the instructor gives.

Dask runs the Python code that it receives. So a cluster without certificates obeys every process that reaches its
ports, also a process of another user of the same machine.
"""

import ipaddress
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from grader.errors import MachineError, UsageError

ENCRYPTED: Final = frozenset({"tls", "wss"})
"""The protocols of Dask that use TLS."""

README: Final = "README.md, section 'More than one machine', shows how"

NO_PAGES: Final[dict[str, Any]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Dask always starts a web server, without TLS and without a password. It has no pages with these settings."""


@contextmanager
def of_one_run() -> Iterator[Any]:
    """Give `distributed.Security` with a new key, which only the processes of this run have, until the block ends.

    The key stays in the memory of these processes: Dask sends it to its workers through a pipe. Meanwhile Dask keeps
    its files in a folder that other users can neither read nor change: Dask imports modules from there.
    """
    if find_spec("cryptography") is None:
        raise MachineError("`--workers` encrypts with `cryptography`: install it with `pip install -e '.[cluster]'`.")
    config = import_module("dask.config")
    with (
        TemporaryDirectory(prefix="fairclock-cluster-", ignore_cleanup_errors=True) as folder,
        config.set({"temporary-directory": folder, **NO_PAGES}),
    ):
        yield import_module("distributed").Security.temporary()


def require_settings(address: str) -> None:
    """Raise `UsageError` when Dask's configuration cannot connect to `address`: no certificates, or none allowed."""
    security = import_module("distributed").Security()
    if not _is_encrypted(address):
        if security.require_encryption:
            raise UsageError(f"Dask's configuration requires encryption, and {address} has none: use a tls:// address.")
        return
    try:
        context = security.get_connection_args("client")["ssl_context"]
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"Dask cannot load the certificates of its configuration ({error}): {README}.") from error
    if context is None:
        raise UsageError(f"{address} needs certificates, and Dask's configuration names none: {README}.")


def warning(address: str) -> str:
    """Return what is unsafe about the address of a scheduler; empty for TLS, this machine alone, or no address."""
    if not address or _is_encrypted(address) or _is_loopback(address):
        return ""
    return (
        f"Warning: the connection to {address} is not encrypted. Everyone on that network can read the secret seed and "
        f"the hand-ins, and can run programs on the workers. Use a tls:// address: {README}."
    )


def _is_encrypted(address: str) -> bool:
    protocol, separator, _ = address.partition("://")
    return (protocol if separator else _default_protocol()) in ENCRYPTED


def _default_protocol() -> str:
    with suppress(ImportError):
        import_module("distributed")  # it loads the default settings
        return str(import_module("dask.config").get("distributed.comm.default-scheme"))
    return "tcp"


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False
