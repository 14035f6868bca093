import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.inside import protocol
from grader.inside.protocol import MAX_DEPTH, MAX_FRAME_BYTES, Channel, Closed, Late, ProtocolError
from grader.paths import KIT

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
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def channel(ends: tuple[socket.socket, socket.socket]) -> Channel:
    """Return the supervisor's end, which never blocks longer than its time limit."""
    ends[0].setblocking(False)
    return Channel(ends[0].fileno())


@pytest.fixture
def other(ends: tuple[socket.socket, socket.socket], channel: Channel) -> socket.socket:  # noqa: ARG001
    return ends[1]


def frame(payload: bytes) -> bytes:
    return struct.pack("<I", len(payload)) + payload


def nested(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@given(body=st.dictionaries(st.text("abc"), JSON, max_size=4))
def test_what_is_sent_is_received(body: dict[str, object]) -> None:
    one, two = socket.socketpair()
    with one, two:
        Channel(one.fileno()).send(protocol.DONE, body)
        assert Channel(two.fileno()).receive(timeout_s=5) == (protocol.DONE, body)


def test_a_timed_call_carries_nothing_but_its_kind(channel: Channel, other: socket.socket) -> None:
    channel.send(protocol.GO)
    assert other.recv(100) == b"\x01\x00\x00\x00g"


def test_frames_that_arrive_at_once_are_told_apart(channel: Channel, other: socket.socket) -> None:
    other.sendall(frame(b"D") + frame(b'R{"type": "x"}'))
    assert channel.receive(timeout_s=5) == (b"D", {})
    assert channel.receive(timeout_s=5) == (b"R", {"type": "x"})


@pytest.mark.parametrize("length", [0, MAX_FRAME_BYTES + 1, 2**32 - 1])
def test_a_frame_of_an_impossible_length_is_refused_before_its_bytes_come(
    channel: Channel, other: socket.socket, length: int
) -> None:
    other.sendall(struct.pack("<I", length))
    with pytest.raises(ProtocolError, match=f"of {length} bytes"):
        channel.receive(timeout_s=5)


@pytest.mark.parametrize(
    "text",
    [b"{", b"[]", b'"text"', b"null", b"\xff\xfe", b"{'a': 1}", b'{"a": ' + b"9" * 5000 + b"}", b'{"a": "\\ud800"}'],
    ids=lambda text: text[:12].hex(),
)
def test_what_is_no_object_of_plain_json_is_refused(channel: Channel, other: socket.socket, text: bytes) -> None:
    other.sendall(frame(b"D" + text))
    with pytest.raises(ProtocolError):
        channel.receive(timeout_s=5)


def test_half_a_character_is_refused_in_a_key_too() -> None:
    with pytest.raises(ProtocolError, match="not Unicode"):
        protocol.parse(b'{"a": [{"\\udc00": 1}]}')


def test_nesting_is_bounded() -> None:
    assert protocol.parse(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 2, 100_000):
        with pytest.raises(ProtocolError):
            protocol.parse(nested(depth))


def test_a_bomb_of_brackets_is_refused() -> None:
    with pytest.raises(ProtocolError):
        protocol.parse(b'{"a":' + b"[" * 500_000)


@pytest.mark.parametrize("sent", [b"", b"\x05", b"\x05\x00\x00\x00", b"\x05\x00\x00\x00D{"], ids=len)
def test_a_frame_that_stops_halfway_is_late(channel: Channel, other: socket.socket, sent: bytes) -> None:
    other.sendall(sent)
    with pytest.raises(Late):
        channel.receive(timeout_s=0.02)


def test_one_byte_at_a_time_does_not_stretch_the_deadline(channel: Channel, other: socket.socket) -> None:
    other.sendall(frame(b"D" + b" " * 100)[:50])
    with pytest.raises(Late):
        channel.receive(timeout_s=0.0)


@pytest.mark.parametrize("sent", [b"", b"\x05\x00", b"\x05\x00\x00\x00D{"], ids=len)
def test_hanging_up_is_told_from_being_late(channel: Channel, other: socket.socket, sent: bytes) -> None:
    other.sendall(sent)
    other.close()
    with pytest.raises(Closed):
        channel.receive(timeout_s=5)


def test_nobody_to_send_to_is_closed(channel: Channel, other: socket.socket) -> None:
    other.close()
    with pytest.raises(Closed):
        channel.send(protocol.GO)


def test_what_is_too_long_is_not_sent(channel: Channel, other: socket.socket) -> None:
    with pytest.raises(ProtocolError, match="too long"):
        channel.send(protocol.LOAD, {"source": "x" * MAX_FRAME_BYTES})
    other.setblocking(False)
    with pytest.raises(BlockingIOError):
        other.recv(1)


def send_for_ever(channel: Channel) -> None:
    while True:
        channel.send(protocol.ANSWER, {"value": "x" * 100_000}, timeout_s=0.01)


def test_one_who_never_reads_cannot_hold_the_sender_up(channel: Channel) -> None:
    with pytest.raises(Late):
        send_for_ever(channel)


def test_the_worker_side_needs_nothing_but_the_standard_library() -> None:
    command = (
        "import sys; sys.modules['numpy'] = sys.modules['torch'] = None; "
        "from grader.inside import protocol, worker_main"
    )
    assert subprocess.run([sys.executable, "-c", command], cwd=KIT, check=False).returncode == 0


def test_who_waits_without_a_bound_reads_no_clock(
    channel: Channel, other: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submission may have broken the clock of its worker's process."""

    def broken() -> float:
        raise OverflowError

    other.sendall(frame(protocol.GO))
    monkeypatch.setattr("time.monotonic", broken)
    assert channel.receive() == (protocol.GO, {})
