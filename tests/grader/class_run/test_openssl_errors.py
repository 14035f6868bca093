"""The list of OpenSSL's errors: an error of one TLS connection must not close another one in the same thread."""

import ctypes
import errno
import ssl
from contextlib import suppress
from importlib import import_module

import pytest

from grader.class_run import openssl_errors

OPENSSL = ctypes.CDLL(import_module("_ssl").__file__)
ERR_LIB_SYS = 2  # openssl/err.h


def leave_an_error() -> None:
    """Add a broken pipe to OpenSSL's list of errors, as a closed connection does."""
    OPENSSL.ERR_new()
    OPENSSL.ERR_set_error(ERR_LIB_SYS, errno.EPIPE, None)


@pytest.fixture
def connected() -> ssl.SSLObject:
    """Return a side of a TLS connection to which the other side has written nothing."""
    from distributed import Security

    security, here, there = Security.temporary(), ssl.MemoryBIO(), ssl.MemoryBIO()
    server = security.get_listen_args("scheduler")["ssl_context"].wrap_bio(here, there, server_side=True)
    client = security.get_connection_args("client")["ssl_context"].wrap_bio(there, here)
    for side in (client, server, client, server):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    with pytest.raises(ssl.SSLWantReadError):
        client.read(1)
    connection: ssl.SSLObject = client
    return connection


def test_an_old_error_breaks_a_connection_unless_it_is_cleared(connected: ssl.SSLObject) -> None:
    leave_an_error()
    openssl_errors.clear()
    with pytest.raises(ssl.SSLWantReadError):
        connected.read(1)
    leave_an_error()
    with pytest.raises((ssl.SSLError, OSError)) as told:
        connected.read(1)
    assert not isinstance(told.value, ssl.SSLWantReadError), "Python empties the list itself: repair is not needed here"
