"""Reading processes that try to prevent it: odd names, ended first threads, processes that no longer exist."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.isolation import peak_memory, proc
from grader.isolation.process_tree import TAIL_BYTES, OutputTail
from harness.machine.clocks import process_cpu
from harness.processes import process_env

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

FIRST_THREAD_ENDS = """
import ctypes, threading, time
libc = ctypes.CDLL(None)
kept = bytearray(b"x") * (64 << 20)
def go_on():
    while open("/proc/self/stat", "rb").read().rpartition(b")")[2].split()[0] != b"Z": time.sleep(0.001)
    print("on", flush=True)
    end = time.thread_time() + 0.05
    while time.thread_time() < end: pass
    print("done", flush=True)
    time.sleep(60)
threading.Thread(target=go_on).start()
libc.syscall({exit}, 0)
""".replace("{exit}", "60 if __import__('platform').machine() == 'x86_64' else 93")
RENAMES = """
import sys
while line := sys.stdin.readline():
    with open("/proc/self/comm", "wb") as name: name.write(bytes.fromhex(line))
    print("named", flush=True)
"""
NAMES = st.binary(min_size=1, max_size=15) | st.sampled_from(
    [
        b"VmHWM: 1 kB",
        b"\xff\xfe",
        b"\nRssAnon: 0 kB",
        b"\x0bVmSwap: 9 kB",
        b") Z 1 1",
        b"a) (b",
        b"Threads:\t7",
        b"1 kB",
    ]
)
AMOUNTS = ("VmHWM", "RssAnon", "VmRSS", "Threads")


@contextmanager
def running(source: str) -> Iterator[subprocess.Popen[str]]:
    """Run a source text in a new Python process, and end it after the `with` block.

    The test's own process does not serve: threads of earlier tests may end while it is read.
    """
    started = subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def says(process: subprocess.Popen[str], word: str) -> None:
    """Wait until the process prints a line, which must be this word."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"{word}\n"


def test_memory_is_seen_of_a_process_whose_first_thread_has_ended() -> None:
    with running(FIRST_THREAD_ENDS) as process:
        says(process, "on")
        status = proc.fields(proc._read(f"/proc/{process.pid}/status"))
        assert "VmRSS" not in status, "the kernel still shows the memory, so this test proves nothing"
        used = proc.of_process(process.pid)
        assert used.memory_bytes > 64 << 20
        assert proc.total_usage([process.pid] * 2, used.memory_bytes * 2) == proc.Usage(0, 4)
        assert used.tasks == 2
        assert peak_memory.memory(process.pid).peak > 64 << 20


def test_clock_affinity_and_children_are_seen_of_a_process_whose_first_thread_has_ended() -> None:
    with running(FIRST_THREAD_ENDS) as process:
        clock = process_cpu(process.pid)
        says(process, "on")
        before_s = clock()
        says(process, "done")
        assert clock() - before_s > 0.04
        assert process_cpu(process.pid)() >= before_s
        core = min(os.sched_getaffinity(0))
        process_env.pin(process.pid, core)
        assert process_env.is_pinned(process.pid, core)
        os.sched_setaffinity(max(process_env.threads(process.pid)), os.sched_getaffinity(0))
        assert process_env.is_pinned(process.pid, core) is (len(os.sched_getaffinity(0)) == 1)
        assert proc.ended_children(process.pid) == 0
        assert proc.children(process.pid) == []


@pytest.fixture(scope="module")
def renamed() -> Iterator[subprocess.Popen[str]]:
    """Return a process that reads names from its input and renames itself to each of them."""
    with running(RENAMES) as process:
        yield process


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
def test_no_name_changes_what_is_read_of_a_process(renamed: subprocess.Popen[str], name: bytes) -> None:
    assert renamed.stdin is not None
    renamed.stdin.write(f"{name.hex()}\n")
    says(renamed, "named")
    status = proc.status(renamed.pid)
    assert [amount for amount in AMOUNTS if status.get(amount, 0) < 1] == []
    assert status["Threads"] == 1
    assert proc.of_process(renamed.pid).memory_bytes > 1 << 20
    assert peak_memory.memory(renamed.pid).peak > 1 << 20
    assert proc.ended_children(renamed.pid) == 0
    assert proc.processes(renamed.pid) == [renamed.pid]


@given(text=st.binary(max_size=300))
@example(text=b"Name:\tVmHWM: 1 kB\nVmHWM:\t 20 kB\n")
@example(text=b"Name:\ta\x0bVmHWM: 1 kB\x85VmHWM: 1 kB\nVmHWM:\t 20 kB\n")
@example(text=b"VmHWM:\t" + b"9" * 5000 + b" kB\n")
def test_any_text_is_read_as_fields_that_are_numbers(text: bytes) -> None:
    found = proc.fields(text)
    assert all(value >= 0 for value in found.values())
    if b"VmHWM:\t 20 kB\n" in text:
        assert found["VmHWM"] == 20


def test_a_process_that_is_gone_is_gone_however_it_is_read() -> None:
    gone = 2**22 + 1
    for read in (proc.status, proc.ended_children, peak_memory.memory):
        with pytest.raises(ProcessLookupError):
            read(gone)
    assert proc.children(gone) == []
    assert proc.of_process(gone) == proc.Usage(0, 0)


def test_what_was_printed_is_kept_though_whoever_reads_it_is_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    read = os.read

    def slowly(descriptor: int, most: int) -> bytes:
        part = read(descriptor, most)
        time.sleep(0.05)  # the pipe is empty now, and no output is stored yet
        return part

    monkeypatch.setattr(os, "read", slowly)
    printed = OutputTail(os.fdopen(reading, "rb", buffering=0))
    for number in range(5):
        os.write(writing, b"a line\n")
        assert printed.text() == "a line\n" * (number + 1)
    os.close(writing)
    printed.close()


def test_the_end_is_kept_of_more_than_there_is_room_for_and_nothing_of_what_is_forgotten() -> None:
    reading, writing = os.pipe()
    printed = OutputTail(os.fdopen(reading, "rb", buffering=0))
    os.write(writing, b"first" + b"." * (2 * TAIL_BYTES) + b"last")
    assert printed.text() == "." * (TAIL_BYTES - 4) + "last"
    printed.forget()
    assert printed.text() == ""
    os.write(writing, b"next")
    assert printed.text() == "next"
    os.close(writing)
    printed.close()
