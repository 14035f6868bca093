"""The network connections of the server. An idle client takes no connection from others."""

import asyncio
import resource
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_S: Final = 10.0
"""A client must send the headers of its request, or read a part of the answer, within this number of seconds."""

_MOST: Final = 2_000
_CROWDED: Final = 0.75  # the share of the possible connections from which on waiting ones are closed
_MOST_OPEN_FILES: Final = 8_192


class ClientConnection(H11Protocol):
    """A connection of uvicorn that is closed if its client is too slow, or if others need its place.

    Uvicorn itself waits without end for the headers of the first request, and for a client that reads no answer.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.opened_s = self.loop.time()
        self._last: object = None  # the request at the last check
        self._unsent = 0  # the number of bytes that were not sent at the last check

    @property
    def is_waiting(self) -> bool:
        """Whether the client has no login, and has not sent a whole request."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or (cycle.more_body and not _may_be_slow(cycle.scope))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request. If there are many connections, close the oldest that wait for one."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE_S, self._check)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency * _CROWDED:
            waiting = [one for one in self.connections if isinstance(one, ClientConnection) and one.is_waiting]
            waiting.sort(key=lambda one: one.opened_s)
            for one in waiting[: max(1, len(waiting) // 10)]:
                one.transport.abort()
                self.connections.discard(one)

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        unsent, idle = self.transport.get_write_buffer_size(), self.cycle is None or self.cycle.response_complete
        if (idle and self.cycle is self._last) or (unsent and unsent == self._unsent):
            self.transport.abort()
            return
        self._last, self._unsent = self.cycle, unsent
        self.loop.call_later(PATIENCE_S, self._check)


def _may_be_slow(scope: Any) -> bool:
    return bool(scope["state"].get("may_be_slow"))


def most_connections() -> int:
    """Let this process open more files. Return the number of connections that leaves half of them for other uses."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = min(_MOST_OPEN_FILES, hard) if hard != resource.RLIM_INFINITY else _MOST_OPEN_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return min(_MOST, files // 2)
