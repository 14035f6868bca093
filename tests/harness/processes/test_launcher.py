"""A launched process answers messages, and ends with its processes when the caller ends it."""

import os
import signal
import sys

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.processes.channel import Closed, Late
from harness.processes.launcher import KIT, Child, end_all

if sys.platform == "win32":
    pytest.skip("sends signals, and limits waiting times", allow_module_level=True)

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
    with start("import no_such_module") as child:
        with pytest.raises(Closed):
            child.receive(timeout_s=30)
        assert child.exit_status() == 1
        assert child.log_lines()[-1] == "ModuleNotFoundError: No module named 'no_such_module'"


def test_the_end_kills_the_processes_of_a_process_and_one_that_does_not_end_by_itself() -> None:
    with start() as child:
        child.send(b"k")
        grandchild = psutil.Process(child.receive(timeout_s=30)[1]["pid"])
        endless = start()
        endless.send(b"n")
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
