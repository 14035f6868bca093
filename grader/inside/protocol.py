"""Frames between the supervisor and a worker: a length, a kind, a JSON object. Nothing is ever unpickled.

A frame is four bytes of length (little endian) and a payload: one byte of kind and a JSON text, empty for the two
kinds of a timed call. Both sides refuse a frame that is too long or not JSON. Tensors do not travel in frames: they lie
in memory the supervisor made, and frames say where.

The worker runs this file too, inside the sandbox: it uses the standard library alone.
"""

import json
import os
import select
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MAX_FRAME_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 32
IDLE_MS: Final = 50.0

FORK: Final = b"f"  # → fork a worker with these limits; its three descriptors follow with one byte
REAP: Final = b"w"  # → wait for a worker that hung up

LOAD: Final = b"l"  # → source text
TENSORS: Final = b"t"  # → call with tensors laid out in shared memory, once
ARRANGE: Final = b"a"  # → lay out tensors for timed calls to come
GO: Final = b"g"  # → one timed call
SLOW: Final = b"s"  # → burn so much CPU time in each timed call from now on, as a control does
NULL: Final = b"n"  # → one timed call of nothing, to know the price of asking
VALUES: Final = b"v"  # → call with plain values and metered functions
ANSWER: Final = b"A"  # ← a metered call's answer (supervisor to worker)

HELLO: Final = b"H"  # ← the worker is up
DONE: Final = b"D"  # ← a request is served
RAISED: Final = b"R"  # ← the submission raised
METERED: Final = b"M"  # ← the submission calls a metered function

_HEADER: Final = struct.Struct("<I")


class ProtocolError(Exception):
    """The other side spoke out of turn, too long, or no JSON."""


class Closed(Exception):  # noqa: N818 - an end of file is no error by itself
    """The other side is gone."""


class Late(Exception):  # noqa: N818 - the caller decides what a late answer means
    """Nothing came in time."""


class Channel:
    """One end of a stream socket, speaking frames. Not for use by two threads at once.

    Waits are bounded only when they are given a bound, and sending only on a descriptor that does not block. Whoever
    waits with a bound calls `idle` about every `IDLE_MS`, also while a frame comes in by single bytes; what that raises
    ends the wait.
    """

    def __init__(self, descriptor: int, idle: Callable[[], None] | None = None) -> None:
        self.descriptor, self._idle = descriptor, idle
        self._due = 0.0
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(descriptor, select.POLLIN)
        self._writable.register(descriptor, select.POLLOUT)

    def send(self, kind: bytes, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None) -> None:
        """Send one frame; `Closed` when the other side is gone, `Late` when it does not read in time."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        view = memoryview(frame(kind, body))
        while view:
            try:
                view = view[os.write(self.descriptor, view) :]
            except BlockingIOError:
                if not self._writable.poll(_left_ms(deadline)):
                    raise Late from None
            except (BrokenPipeError, ConnectionResetError) as error:
                raise Closed from error

    def spoken(self) -> bool:
        """Whether something has come that nobody has read."""
        return bool(self._readable.poll(0))

    def receive(self, timeout_s: float | None = None, *, began: bytes = b"") -> tuple[bytes, dict[str, Any]]:
        """Wait for one frame: its kind and its object (empty when the frame carries none).

        `began` are bytes of it that were read before: up to a frame without an object.
        """
        deadline = None
        if timeout_s is not None:  # a worker reads no clock: a submission may have broken it
            now = time.monotonic()
            deadline, self._due = now + timeout_s, now + IDLE_MS / 1e3
        head = began + self._exactly(_HEADER.size - len(began), deadline)
        (length,) = _HEADER.unpack_from(head)
        if not 1 <= length <= MAX_FRAME_BYTES:
            raise ProtocolError(f"a message of {length} bytes")
        payload = head[_HEADER.size :]
        payload += self._exactly(length - len(payload), deadline)
        return payload[:1], parse(payload[1:]) if length > 1 else {}

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            if deadline is not None:
                self._await(deadline)
            try:
                part = os.read(self.descriptor, size - len(parts))
            except ConnectionResetError as error:
                raise Closed from error
            if not part:
                raise Closed
            parts += part
        return bytes(parts)

    def _await(self, deadline: float) -> None:
        ready = False
        while not ready:
            ready = bool(self._readable.poll(min(IDLE_MS, _left_ms(deadline) or 0.0)))
            now = time.monotonic()
            if not ready and now >= deadline:
                raise Late
            if self._idle and now >= self._due:
                self._due = now + IDLE_MS / 1e3
                self._idle()


def frame(kind: bytes, body: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of a frame. Raises `ProtocolError` for one that is too long."""
    payload = kind if body is None else kind + json.dumps(body).encode()
    if len(payload) > MAX_FRAME_BYTES:
        raise ProtocolError(f"a message of {len(payload)} bytes is too long")
    return _HEADER.pack(len(payload)) + payload


def parse(text: bytes) -> dict[str, Any]:
    """Read a JSON object of bounded depth whose texts are all Unicode, or raise ProtocolError."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message that is no JSON") from error
    if not isinstance(body, dict):
        raise ProtocolError("a message that is no object")
    _inspect(body, MAX_DEPTH)
    return body


def _inspect(value: object, depth: int) -> None:
    """Refuse what would break whoever shows or keeps it: endless nesting, and halves of characters."""
    if depth < 0:
        raise ProtocolError("a message nested too deeply")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ProtocolError("a text that is not Unicode") from error
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _inspect(key, depth)
            _inspect(item, depth - 1)
    elif isinstance(value, Sequence):
        for item in value:
            _inspect(item, depth - 1)


def _left_ms(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic()) * 1e3
