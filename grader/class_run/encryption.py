"""Encrypted connections of a Dask cluster: the key of one run, and checks of the scheduler's address.

Dask runs the Python code that it receives. Without certificates, every process that can connect to a cluster can
therefore run code on it. This includes the processes of other users of the same machine.
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

README: Final = "grader/class_run/README.md, section 'More than one machine'"

NO_PAGES: Final[dict[str, Any]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Settings that turn off all web pages of Dask, whose web server has neither TLS nor a password."""


@contextmanager
def of_one_run() -> Iterator[Any]:
    """Yield a `distributed.Security` with a new key, which only the processes of this run have.

    The key is valid until the end of the `with` block. It stays in memory: Dask sends it to its workers through a pipe.
    Dask imports modules from its temporary folder, so this folder is made unreadable for other users. Raise
    `MachineError` if the package `cryptography` is not installed.
    """
    if find_spec("cryptography") is None:
        raise MachineError(
            "`--workers` needs the package `cryptography`. Install this package with `pip install -e '.[cluster]'`."
        )
    config = import_module("dask.config")
    with (
        TemporaryDirectory(prefix="fairclock-cluster-", ignore_cleanup_errors=True) as folder,
        config.set({"temporary-directory": folder, **NO_PAGES}),
    ):
        yield import_module("distributed").Security.temporary()


def require_settings(address: str) -> None:
    """Raise `UsageError` if Dask's configuration cannot connect to `address`, for example without certificates."""
    security = import_module("distributed").Security()
    if not _is_encrypted(address):
        if security.require_encryption:
            raise UsageError(
                f"Dask's configuration requires encryption, but {address} is not encrypted. Use a tls:// address."
            )
        return
    try:
        context = security.get_connection_args("client")["ssl_context"]
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"Dask cannot load the certificates of its configuration ({error}). See {README}.") from error
    if context is None:
        raise UsageError(f"{address} needs certificates, but Dask's configuration names no certificates. See {README}.")


def warning(address: str) -> str:
    """Return a warning if the connection to a Dask scheduler on another machine is not encrypted, else ""."""
    if not address or _is_encrypted(address) or _is_loopback(address):
        return ""
    return (
        f"Warning: the connection to {address} is not encrypted. Everyone on that network can read the secret seed and "
        f"the hand-ins, and can run programs on the workers. Use a tls:// address; see {README}."
    )


def _is_encrypted(address: str) -> bool:
    protocol, separator, _ = address.partition("://")
    return (protocol if separator else _default_protocol()) in ENCRYPTED


def _default_protocol() -> str:
    with suppress(ImportError):
        import_module("distributed")  # this loads the default settings of Dask
        return str(import_module("dask.config").get("distributed.comm.default-scheme"))
    return "tcp"


def _is_loopback(address: str) -> bool:
    with suppress(ValueError):
        host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False
