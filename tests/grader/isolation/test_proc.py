"""Reading processes that try to prevent it: odd names, ended first threads, shared and freed memory."""

import mmap
import os
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.isolation import peak_memory, proc

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

MIB = 1 << 20


@given(text=st.binary(max_size=300))
@example(text=b"Name:\tVmHWM: 1 kB\nVmHWM:\t 20 kB\n")
@example(text=b"Name:\ta\x0bVmHWM: 1 kB\x85VmHWM: 1 kB\nVmHWM:\t 20 kB\n")
@example(text=b"VmHWM:\t" + b"9" * 5000 + b" kB\n")
def test_any_text_is_read_as_fields_that_are_numbers(text: bytes) -> None:
    found = proc.fields(text)
    assert all(value >= 0 for value in found.values())
    if b"VmHWM:\t 20 kB\n" in text:
        assert found["VmHWM"] == 20


def mapping(resident: int, shared: int, own: int) -> bytes:
    """Return one mapping of /proc/PID/smaps, from MiB. The shared pages are half clean, half dirty."""
    amounts = {"Rss": resident, "Pss": 0, "Shared_Clean": shared / 2, "Shared_Dirty": shared / 2, "Anonymous": own}
    lines = "".join(f"{name}:{int(mib * 1024):20} kB\n" for name, mib in amounts.items())
    return f"7fd536c84000-7fd536c8b000 rw-p 00000000 00:00 0  [anon:Rss: 1 kB]\n{lines}VmFlags: rd wr\n".encode()


def test_shared_pages_are_taken_off_and_in_a_mapping_of_a_file_count_as_the_files_where_possible() -> None:
    shared = peak_memory.shared_bytes(mapping(100, 80, 100) + mapping(30, 30, 0) + mapping(20, 0, 20))
    assert shared == 80 * MIB
    assert peak_memory.shared_bytes(mapping(10, 6, 4)) == 0
    assert peak_memory.shared_bytes(mapping(10, 9, 4)) == 3 * MIB


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
