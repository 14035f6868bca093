"""Somebody on this machine to whom an attack sends what it has stolen: notes each word that arrives."""

import contextlib
import select
import socket
import threading
from collections.abc import Iterator

PORT = 47110
NAME = "\0fairclock-exploit-33"
"""Where the files `33_sends_secrets_out.py` call: loopback, and a socket of Linux's abstract names."""


@contextlib.contextmanager
def listening(port: int = PORT, name: str = NAME) -> Iterator[list[bytes]]:
    """Give the list of what each caller said: it grows meanwhile, and is complete at the end.

    `OSError` when somebody else listens there.
    """
    heard: list[bytes] = []
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", port)) as loopback, socket.socket(socket.AF_UNIX) as unnamed:
        unnamed.bind(name)
        unnamed.listen()

        def wait() -> None:
            while True:
                last = stop.is_set()
                ready = select.select([loopback, unnamed], [], [], 0.05)[0]
                heard.extend(_all_of(one.accept()[0]) for one in ready)
                if last and not ready:
                    return

        waiter = threading.Thread(target=wait)
        waiter.start()
        try:
            yield heard
        finally:
            stop.set()
            waiter.join()


def _all_of(caller: socket.socket) -> bytes:
    said = b""
    with caller, contextlib.suppress(OSError):
        caller.settimeout(5)
        while some := caller.recv(1 << 16):
            said += some
    return said
