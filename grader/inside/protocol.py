"""Send and receive messages between the grader's own process (the supervisor) and a worker, which runs a submission.

A message is one frame: four bytes of length (little-endian), one byte for the kind of message, and a JSON text. The
JSON text is empty for timed calls. Both sides refuse a frame that is too long or not JSON. Pickle is not used, because
reading it could run code. Tensors are not sent in frames, but in shared memory. Frames give their offsets in this
memory.

The worker runs this file too, inside the sandbox, so it imports only the standard library.
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
LENGTH_BYTES: Final = 8  # the size of the number before the JSON text of timed answers, which is in shared memory

# From the supervisor to the process that forks workers:
FORK: Final = b"f"  # fork a worker with these limits; its three descriptors follow with one byte
REAP: Final = b"w"  # wait for the end of a worker

# From the supervisor to a worker:
LOAD: Final = b"l"  # load a source text
TENSORS: Final = b"t"  # call a function once with tensors in shared memory
ARRANGE: Final = b"a"  # prepare the tensors of later timed calls
ARRANGE_VALUES: Final = b"p"  # prepare later timed calls with plain values in shared memory
GO: Final = b"g"  # make one timed call
SLOW: Final = b"s"  # use this much more CPU time in each later timed call, for a control
NULL: Final = b"n"  # make one timed no-op call, which measures the request overhead
VALUES: Final = b"v"  # call a function with plain values and simulated functions
ANSWER: Final = b"A"  # the result of a simulated function

# To the supervisor:
HELLO: Final = b"H"  # the process is ready
DONE: Final = b"D"  # a request is done
RAISED: Final = b"R"  # the submission raised an exception
SIMULATED: Final = b"M"  # the submission calls a simulated function

_HEADER: Final = struct.Struct("<I")


class ProtocolError(Exception):
    """The other process sent a message that was not expected, is too long, or is not JSON."""


class Closed(Exception):  # noqa: N818 - an end of file is not an error by itself
    """The other process has closed the connection."""


class Late(Exception):  # noqa: N818 - the caller decides what a late answer means
    """No message arrived in time, or the other process did not read a message in time."""


class Channel:
    """One end of a stream socket, which sends and receives frames. Two threads must not use it at once.

    Without a timeout, `send` and `receive` wait for ever. A timeout for sending needs a non-blocking descriptor. While
    `receive` waits with a timeout, it calls `idle` about every `IDLE_MS`. An exception of `idle` ends the wait.
    """

    def __init__(self, descriptor: int, idle: Callable[[], None] | None = None) -> None:
        self.descriptor, self._idle = descriptor, idle
        self._due = 0.0
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(descriptor, select.POLLIN)
        self._writable.register(descriptor, select.POLLOUT)

    def send(self, kind: bytes, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None) -> None:
        """Send one frame. Raise `Closed` if the other process has ended, and `Late` if it does not read in time."""
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

    def has_message(self) -> bool:
        """Return whether data has arrived that `receive` has not read."""
        return bool(self._readable.poll(0))

    def receive(self, timeout_s: float | None = None, *, began: bytes = b"") -> tuple[bytes, dict[str, Any]]:
        """Wait for one frame. Return its kind and its JSON object, or an empty dict if the frame has no JSON.

        `began` holds the first bytes of the frame, at most 5, if the caller has read them already.
        """
        deadline = None
        if timeout_s is not None:  # a worker sets no limit, because a submission may have replaced its clock
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
    """Return the bytes of a frame. Raise `ProtocolError` if the frame is too long."""
    payload = kind if body is None else kind + json.dumps(body).encode()
    if len(payload) > MAX_FRAME_BYTES:
        raise ProtocolError(f"a message of {len(payload)} bytes is too long")
    return _HEADER.pack(len(payload)) + payload


def parse(text: bytes) -> dict[str, Any]:
    """Return the JSON object in `text`.

    Raise `ProtocolError` if it is not a JSON object, is nested too deeply, or has texts that are not valid Unicode.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message that is not JSON") from error
    if not isinstance(body, dict):
        raise ProtocolError("a message that is not a JSON object")
    _inspect(body, MAX_DEPTH)
    return body


def _inspect(value: object, depth: int) -> None:
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


def plain(value: Any) -> Any:
    """Return a number (also of NumPy or torch), text, list or dict, converted to the types of JSON.

    Raise `TypeError` for any other value.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(f"not a plain value: {type(value).__name__}")


def _left_ms(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic()) * 1e3
