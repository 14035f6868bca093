"""Messages between processes: complete, limited in size, depth and time, and read without running code."""

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.processes import channel as channels
from harness.processes.channel import MAX_DEPTH, MAX_FRAME_BYTES, Channel, Closed, Late, ProtocolError

if sys.platform == "win32":
    pytest.skip("needs socket pairs and poll", allow_module_level=True)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    """Return a channel that never blocks longer than its time limit, and the socket of the other process."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        yield Channel(here.fileno()), there


def frame(payload: bytes) -> bytes:
    return struct.pack("<I", len(payload)) + payload


@given(body=st.dictionaries(st.text("abc"), JSON, max_size=4))
def test_messages_arrive_as_they_were_sent_through_a_socket_or_two_pipes(body: dict[str, object]) -> None:
    one, two = socket.socketpair()
    reading, writing = os.pipe()
    with one, two, os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb") as other:
        Channel(one.fileno()).send(b"D", body)
        assert Channel(two.fileno()).receive(timeout_s=5) == (b"D", body)
        Channel(pipe.fileno(), other.fileno()).send(b"g")
        Channel(pipe.fileno(), other.fileno()).send(b"D", body)
        found = Channel(pipe.fileno(), other.fileno())
        assert [found.receive(), found.receive()] == [(b"g", {}), (b"D", body)]


def test_an_impossible_length_is_refused_before_the_bytes_come(ends: tuple[Channel, socket.socket]) -> None:
    channel, other = ends
    for length in (0, MAX_FRAME_BYTES + 1, 2**32 - 1):
        other.sendall(struct.pack("<I", length))
        with pytest.raises(ProtocolError, match=f"of {length} bytes"):
            channel.receive(timeout_s=5)


def test_only_limited_objects_of_plain_json_are_accepted(ends: tuple[Channel, socket.socket]) -> None:
    channel, other = ends
    broken = [b"{", b"[]", b'"text"', b"null", b"\xff\xfe", b"{'a': 1}", b'{"a": ' + b"9" * 5000 + b"}"]
    for text in (*broken, b'{"a": "\\ud800"}', b'{"a": [{"\\udc00": 1}]}', b'{"a":' + b"[" * 50_000):
        other.sendall(frame(b"D" + text))
        with pytest.raises(ProtocolError):
            channel.receive(timeout_s=5)
    nested = [b'{"a":' * depth + b"1" + b"}" * depth for depth in (MAX_DEPTH, MAX_DEPTH + 2, 100_000)]
    assert channels.parse(nested[0]) == json.loads(nested[0])
    for text in nested[1:]:
        with pytest.raises(ProtocolError):
            channels.parse(text)


def test_a_trusted_process_may_send_names_of_files_that_are_not_utf_8() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb") as other:
        channel = Channel(pipe.fileno(), other.fileno(), trusted=True)
        channel.send(b"D", {"path": os.fsdecode(b"\xff")})
        assert channel.receive() == (b"D", {"path": os.fsdecode(b"\xff")})


@pytest.mark.parametrize("sent", [b"", b"\x05\x00", b"\x05\x00\x00\x00", b"\x05\x00\x00\x00D{"], ids=len)
def test_a_frame_that_stops_halfway_is_late_or_closed(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    channel, other = ends
    other.sendall(sent)
    with pytest.raises(Late):
        channel.receive(timeout_s=0.02)
    other.sendall(sent)
    other.close()
    with pytest.raises(Closed):
        channel.receive(timeout_s=5)
    with pytest.raises(Closed):
        channel.send(b"g")


def test_a_message_that_is_too_long_or_never_read_is_not_sent(ends: tuple[Channel, socket.socket]) -> None:
    channel, other = ends
    with pytest.raises(ProtocolError, match="too long"):
        channel.send(b"l", {"source": "x" * MAX_FRAME_BYTES})
    other.setblocking(False)
    with pytest.raises(BlockingIOError):
        other.recv(1)
    with pytest.raises(Late):  # noqa: PT012 - some messages fit into the buffers of the socket
        while True:
            channel.send(b"A", {"value": "x" * 100_000}, timeout_s=0.01)


def test_a_wait_without_a_limit_reads_no_clock(
    ends: tuple[Channel, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Untrusted code may have replaced the clock of its process."""
    ends[1].sendall(frame(b"g"))
    monkeypatch.setattr("time.monotonic", None)
    assert ends[0].receive() == (b"g", {})


def test_the_file_runs_alone_in_an_interpreter_without_packages() -> None:
    command = [sys.executable, "-I", "-S", channels.__file__]
    assert subprocess.run(command, check=False).returncode == 0
