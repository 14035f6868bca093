"""Messages between processes, launched processes, and processes that differ only in their code."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.processes import channel as channels
from harness.processes import process_env
from harness.processes.channel import MAX_DEPTH, MAX_FRAME_BYTES, Channel, Closed, Late, ProtocolError
from harness.processes.launcher import KIT, Child, end_all

if sys.platform == "win32":
    pytest.skip("needs socket pairs and poll", allow_module_level=True)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
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


@settings(max_examples=25)
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
    broken = [b"{", b"[]", b"null", b"\xff\xfe", b"{'a': 1}", b'{"a": ' + b"9" * 5000 + b"}"]
    for text in (*broken, b'{"a": "\\ud800"}', b'{"a": [{"\\udc00": 1}]}', b'{"a":' + b"[" * 50_000):
        other.sendall(frame(b"D" + text))
        with pytest.raises(ProtocolError):
            channel.receive(timeout_s=5)
    nested = [b'{"a":' * depth + b"1" + b"}" * depth for depth in (MAX_DEPTH, MAX_DEPTH + 2, 100_000)]
    assert channels.parse(nested[0]) == json.loads(nested[0])
    for text in nested[1:]:
        with pytest.raises(ProtocolError):
            channels.parse(text)


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


ECHO = """
import os, subprocess, sys, time
from harness.processes.channel import stdio_channel
channel = stdio_channel()
print("to the log")
while True:
    kind, body = channel.receive()
    if kind == b"k":
        body = {"pid": subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e4)"]).pid}
    if kind == b"f":
        os.fork() or time.sleep(1e4)  # the process that has been forked keeps the pipes open
        os.kill(os.getpid(), 9)
    if kind == b"n":
        channel.send(b"D", body)
        time.sleep(1e4)
    channel.send(b"D", body)
"""


def start(program: str = ECHO) -> Child:
    return Child([sys.executable, "-c", program], {**os.environ, "PYTHONPATH": str(KIT), "PYTHONUNBUFFERED": "1"})


def test_it_answers_large_messages_and_its_output_goes_to_the_log() -> None:
    with start() as child:
        child.send(b"e", {"text": "x" * (1 << 21)})
        kind, body = child.receive(timeout_s=30)
        assert (kind, len(body["text"])) == (b"D", 1 << 21)
        assert not child.has_message()
        assert child.log_lines() == ["to the log"]
        with pytest.raises(Late):
            child.receive(timeout_s=0.01)


def test_the_end_of_a_process_is_noticed_even_if_its_child_keeps_the_pipes() -> None:
    with start() as child:
        child.send(b"f")
        with pytest.raises(Closed):
            child.receive(timeout_s=30)
        assert child.exit_status() == -signal.SIGKILL
        child.send(b"e")


def test_the_end_kills_the_processes_of_a_process_and_one_that_does_not_end_by_itself() -> None:
    with start() as child:
        child.send(b"k")
        grandchild = psutil.Process(child.receive(timeout_s=30)[1]["pid"])
        endless = start()
        endless.send(b"n")
        endless.receive(timeout_s=30)
        end_all([endless], within_s=0.1)
        assert endless.exit_status() == -signal.SIGKILL
    psutil.wait_procs([grandchild], timeout=10)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


def test_a_process_that_has_been_ended_is_not_killed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have its number then."""
    killed: list[int] = []
    with start() as child:
        child.end()
        monkeypatch.setattr(os, "killpg", lambda pid, _: killed.append(pid))
    assert killed == []


@pytest.mark.skipif(bool(process_env.why_layout_varies()), reason="needs setarch")
def test_both_processes_of_a_pair_have_the_same_memory_layout() -> None:
    command = process_env.command([sys.executable, "-c", "print(id(object()), id(len), hash('a'))"])
    layouts = {
        subprocess.run(command, env=process_env.ENVIRONMENT, capture_output=True, check=True).stdout for _ in range(3)
    }
    assert len(layouts) == 1


def test_setarch_is_used_only_where_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(process_env, "why_layout_varies", process_env.why_layout_varies.__wrapped__)
    assert process_env.why_layout_varies() == "setarch is missing"
    for status in (0, 3):
        (tmp_path / "setarch").write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / "setarch").chmod(0o755)
        assert bool(process_env.why_layout_varies()) == bool(status)
        assert (process_env.command(["python"]) == ["python"]) == bool(status)
