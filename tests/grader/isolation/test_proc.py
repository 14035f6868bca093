"""Reading processes that try to prevent it: odd names, ended first threads, shared and freed memory."""

import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.errors import MachineError
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
MIB, KIB = 1 << 20, 1 << 10


def test_memory_clock_and_affinity_are_seen_of_a_process_whose_first_thread_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", FIRST_THREAD_ENDS], stdout=subprocess.PIPE) as process:
        assert process.stdout
        clock = process_cpu(process.pid)
        assert process.stdout.readline() == b"on\n"
        assert "VmRSS" not in proc.fields(proc._read(f"/proc/{process.pid}/status")), "this test proves nothing"
        used = proc.of_process(process.pid)
        assert used.memory_bytes > 64 << 20
        assert proc.total_usage([process.pid] * 2, used.memory_bytes * 2) == proc.Usage(0, 4)
        assert used.tasks == 2
        assert peak_memory.peak_bytes(process.pid) > 64 << 20
        before_s = clock()
        assert process.stdout.readline() == b"done\n"
        assert process_cpu(process.pid)() >= clock() > before_s + 0.04
        core = min(os.sched_getaffinity(0))
        process_env.pin(process.pid, core)
        assert process_env.is_pinned(process.pid, core)
        os.sched_setaffinity(max(process_env.threads(process.pid)), os.sched_getaffinity(0))
        assert process_env.is_pinned(process.pid, core) is (len(os.sched_getaffinity(0)) == 1)
        assert proc.ended_children(process.pid) == 0
        assert proc.children(process.pid) == []
        process.kill()


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
    for read in (proc.status, proc.ended_children, peak_memory.peak_bytes):
        with pytest.raises(ProcessLookupError):
            read(gone)
    assert proc.children(gone) == []
    assert proc.of_process(gone) == proc.Usage(0, 0)


def test_the_end_of_the_output_is_kept_though_its_reader_is_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    read = os.read

    def slowly(descriptor: int, most: int) -> bytes:
        part = read(descriptor, most)
        time.sleep(0.05)  # the pipe is empty now, and no output is stored yet
        return part

    printed = OutputTail(os.fdopen(reading, "rb", buffering=0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", slowly)
        for number in range(5):
            os.write(writing, b"a line\n")
            assert printed.text() == "a line\n" * (number + 1)
    os.write(writing, b"first" + b"." * (2 * TAIL_BYTES) + b"last")
    assert printed.text() == "." * (TAIL_BYTES - 4) + "last"
    printed.forget()
    assert printed.text() == ""
    os.write(writing, b"next")
    assert printed.text() == "next"
    os.close(writing)
    printed.close()


def mapping(resident: int, shared: int, own: int) -> bytes:
    """Return one mapping of /proc/PID/smaps, from MiB. The shared pages are half clean, half dirty."""
    amounts = {"Rss": resident, "Pss": 0, "Shared_Clean": shared / 2, "Shared_Dirty": shared / 2, "Anonymous": own}
    lines = "".join(f"{name}:{int(mib * 1024):20} kB\n" for name, mib in amounts.items())
    return f"7fd536c84000-7fd536c8b000 rw-p 00000000 00:00 0  [anon:Rss: 1 kB]\n{lines}VmFlags: rd wr\n".encode()


def test_shared_pages_are_taken_off_and_in_a_mapping_of_a_file_count_as_the_files_where_possible() -> None:
    shared = peak_memory.shared_bytes(mapping(100, 80, 100) + mapping(30, 30, 0) + mapping(20, 0, 20))
    assert shared == 80 * MIB
    assert peak_memory.peak_beyond(shared, {"VmHWM": 150 * KIB}) == 70 * MIB
    assert peak_memory.peak_beyond(shared, {"VmHWM": 150 * KIB, "VmSwap": KIB}) == 71 * MIB
    assert peak_memory.shared_bytes(mapping(10, 6, 4)) == 0
    assert peak_memory.shared_bytes(mapping(10, 9, 4)) == 3 * MIB
    with pytest.raises(MachineError, match=r"VmHWM.*Linux 5\.10"):
        peak_memory.peak_beyond(0, {"VmRSS": 1})


def nothing(_began_with: mmap.mmap) -> None: ...


def fill(pages: mmap.mmap, mebibytes: int) -> None:
    """Fill memory in small pieces, because a large piece of zeros may take no memory on some machines."""
    for _ in range(mebibytes):
        pages.write(b"y" * MIB)


def freed(_began_with: mmap.mmap) -> None:
    for _ in range(3):
        with mmap.mmap(-1, 40 * MIB, flags=mmap.MAP_PRIVATE) as taken:
            fill(taken, 40)


def written(began_with: mmap.mmap) -> None:
    fill(began_with, 20)


def swapped_for_new(began_with: mmap.mmap) -> None:
    began_with.madvise(mmap.MADV_DONTNEED)
    written(began_with)


def sleeping_fork() -> int:
    pid = os.fork()
    if not pid:
        time.sleep(60)
        os._exit(0)
    return pid


@pytest.mark.parametrize(
    ("does", "least", "most"), [(nothing, 0, 16), (freed, 38, 60), (written, 20, 40), (swapped_for_new, 38, 60)]
)
def test_a_fork_owns_memory_taken_since_forking(does: Callable[[mmap.mmap], None], least: float, most: float) -> None:
    """`freed` allocates 40 MiB and releases them, three times. Only the largest amount at one time counts.

    Other forks of the same process change nothing.
    """
    with mmap.mmap(-1, 40 * MIB, flags=mmap.MAP_PRIVATE) as began_with:
        began_with.write(b"x" * (40 * MIB))
        began_with.seek(0)
        forked = [sleeping_fork() for _ in range(2)]
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            does(began_with)
            os.write(write, b".")
            time.sleep(60)
            os._exit(0)
        try:
            os.read(read, 1)
            peak = peak_memory.peak_bytes(pid)
        finally:
            for one in (pid, *forked):
                os.kill(one, 9)
                os.waitpid(one, 0)
            os.close(read)
            os.close(write)
    assert least * MIB <= peak <= most * MIB
