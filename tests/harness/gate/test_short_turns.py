"""The turns of two processes that run at the same time on one core."""

import os
import platform
import re
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from harness.gate.turns import short_turns
from harness.processes import process_env

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Only Linux counts the switches of a process.")

NICE = 5
BUSY = "import time; print(flush=True); input()\nwhile time.process_time() < 0.4: pass\nprint(flush=True); input()"


def switches(core: int, *, short: bool) -> int:
    """Return how often two busy processes on one core have lost it to another process."""
    found = 0
    command = [sys.executable, "-c", BUSY]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for one in both:
        assert one.stdout
        one.stdout.readline()
        process_env.pin(one.pid, core)
        os.setpriority(os.PRIO_PROCESS, one.pid, NICE)
    with process_env.pinned(core):
        turns: AbstractContextManager[None] = short_turns(one.pid for one in both) if short else nullcontext()
        with turns:
            for one in both:
                assert one.stdin
                one.stdin.write(b"\n")
                one.stdin.flush()
            for one in both:
                assert one.stdout
                one.stdout.readline()
    for one in both:
        status = Path(f"/proc/{one.pid}/status").read_text()
        assert os.getpriority(os.PRIO_PROCESS, one.pid) == NICE
        found += int(status.partition("nonvoluntary_ctxt_switches:")[2].split()[0])
        one.communicate(b"\n")
    return found


def test_processes_switch_more_often_and_keep_their_priority() -> None:
    core = min(os.sched_getaffinity(0))
    usual, short = switches(core, short=False), switches(core, short=True)
    knows_slices = [*map(int, re.findall(r"\d+", platform.release())[:2])] >= [6, 12]
    assert short > (2 if knows_slices else 1) * usual


def test_a_process_that_has_ended_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as ended:
        ended.wait()
        with short_turns([ended.pid]):
            pass
