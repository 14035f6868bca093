"""Listen on this machine for stolen data that an attack sends, and record it."""

import contextlib
import select
import socket
import threading
from collections.abc import Iterator

PORT = 47110
NAME = "\0fairclock-exploit-33"
"""The address to which the files `33_sends_secrets_out.py` send: loopback, and a socket with an abstract name of Linux.
"""


@contextlib.contextmanager
def listening(port: int = PORT, name: str = NAME) -> Iterator[list[bytes]]:
    """Yield a list with the data that each caller sent. It grows during the `with` block and is complete after it.

    Raise `OSError` if another program uses this address.
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
