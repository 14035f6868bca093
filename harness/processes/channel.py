"""Exchange messages with another process, which may run untrusted code.

A message is one frame: four bytes of length (little-endian), one byte for the kind of message, and a JSON object as
text, unless it has no body. The length is limited, and checked before the bytes are read. The JSON text is limited in
depth and must be valid Unicode, unless the processes trust each other. Pickle is not used, because reading it could run
code. This file imports only the standard library, so it can be bound into a sandbox alone.
"""

import importlib
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

MAX_FRAME_BYTES, MAX_TRUSTED_BYTES = 1 << 20, 1 << 28  # the second one between processes that trust each other
MAX_DEPTH: Final = 32  # of nested lists and objects
IDLE_MS: Final = 50.0

_PR_SET_PDEATHSIG: Final = 1  # the number that Linux has for "send me this signal when my parent ends"
_HEADER: Final = struct.Struct("<I")


class ProtocolError(Exception):
    """The other process sent a message that was not expected, is too long, or is not JSON."""


class Closed(Exception):  # noqa: N818 - an end of file is not an error by itself
    """The other process has closed the connection."""


class Late(Exception):  # noqa: N818 - the caller decides what a late answer means
    """No message arrived in time, or the other process did not read a message in time."""


class Channel:
    """One end of a socket, or of two pipes, that sends and receives frames, in one thread at a time.

    A timeout for sending needs a non-blocking descriptor. While `receive` waits with a timeout, it calls `idle` about
    every `IDLE_MS`; an exception of `idle` ends the wait. Windows cannot wait for a pipe with a timeout.
    """

    def __init__(
        self,
        reading: int,
        writing: int | None = None,
        *,
        idle: Callable[[], None] = lambda: None,
        trusted: bool = False,
    ) -> None:
        self.descriptor, self.writing = reading, reading if writing is None else writing
        self._idle, self._trusted, self._due = idle, trusted, 0.0
        self._max_bytes = MAX_TRUSTED_BYTES if trusted else MAX_FRAME_BYTES
        if sys.platform != "win32":
            self._readable, self._writable = select.poll(), select.poll()
            self._readable.register(self.descriptor, select.POLLIN)
            self._writable.register(self.writing, select.POLLOUT)

    def send(self, kind: bytes, body: Mapping[str, Any] | None = None, *, timeout_s: float | None = None) -> None:
        """Send one frame. Raise `Closed` if the other process has ended, and `Late` if it does not read in time."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        view = memoryview(frame(kind, body, self._max_bytes))
        while view:
            try:
                view = view[os.write(self.writing, view) :]
            except BlockingIOError:
                if not self._writable.poll(_left_ms(deadline)):
                    raise Late from None
            except (BrokenPipeError, ConnectionResetError) as error:
                raise Closed from error

    def has_message(self) -> bool:
        """Return whether data has arrived that `receive` has not read."""
        return bool(self._readable.poll(0))

    def receive(self, timeout_s: float | None = None, *, began: bytes = b"") -> tuple[bytes, dict[str, Any]]:
        """Wait for one frame, and return its kind and JSON object, or {}. `began` are its first bytes, at most 5."""
        deadline = None
        if timeout_s is not None:  # a worker sets no limit, because a submission may have replaced its clock
            now = time.monotonic()
            deadline, self._due = now + timeout_s, now + IDLE_MS / 1e3
        got = began
        while len(got) < _HEADER.size:  # one read is enough for a message without a body
            got += self._some(_HEADER.size + 1 - len(got), deadline)
        (length,) = _HEADER.unpack_from(got)
        if not 1 <= length <= self._max_bytes:
            raise ProtocolError(f"a message of {length} bytes")
        missing = _HEADER.size + length - len(got)
        if missing:
            parts = bytearray(got)
            while missing:
                parts += self._some(missing, deadline)
                missing = _HEADER.size + length - len(parts)
            got = bytes(parts)
        kind, text = got[_HEADER.size : _HEADER.size + 1], got[_HEADER.size + 1 :]
        return kind, parse(text, trusted=self._trusted) if text else {}

    def _some(self, most: int, deadline: float | None) -> bytes:
        if deadline is not None:
            self._await(deadline)
        try:
            part = os.read(self.descriptor, most)
        except ConnectionResetError as error:
            raise Closed from error
        if not part:
            raise Closed
        return part

    def _await(self, deadline: float) -> None:
        ready = False
        while not ready:
            ready = bool(self._readable.poll(min(IDLE_MS, _left_ms(deadline) or 0.0)))
            now = time.monotonic()
            if not ready and now >= deadline:
                raise Late
            if now >= self._due:
                self._due = now + IDLE_MS / 1e3
                self._idle()


def stdio_channel() -> Channel:
    """Return a channel to the trusted process that started this one, on the pipes of standard input and output.

    The other code then has an empty standard input, and its output goes to standard error. On Linux, this process ends
    with its parent, and so do the processes that it has started.
    """
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
            importlib.import_module("ctypes").CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        requests = select.poll()
        requests.register(0)
        if any(event & select.POLLHUP for _, event in requests.poll(0)):
            sys.exit()  # the parent ended before it could be asked for the signal
    channel = Channel(os.dup(0), os.dup(1), trusted=True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def frame(kind: bytes, body: Mapping[str, Any] | None = None, max_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """Return the bytes of a frame. Raise `ProtocolError` if the frame is too long."""
    payload = kind if body is None else kind + json.dumps(body).encode()
    if len(payload) > max_bytes:
        raise ProtocolError(f"a message of {len(payload)} bytes is too long")
    return _HEADER.pack(len(payload)) + payload


def parse(text: bytes, *, trusted: bool = False) -> dict[str, Any]:
    """Return the JSON object in `text`, or raise `ProtocolError`.

    Unless it is `trusted`, it must not be nested too deeply, and its texts must be valid Unicode.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message that is not JSON") from error
    if not isinstance(body, dict):
        raise ProtocolError("a message that is not a JSON object")
    if not trusted:
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


def _left_ms(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic()) * 1e3
