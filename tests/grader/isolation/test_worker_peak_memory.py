"""A process's own peak memory, computed from what the kernel reports."""

import mmap
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import MachineError
from grader.isolation import peak_memory

MIB = 1 << 20


def test_what_is_still_shared_at_the_end_is_taken_off_and_nothing_else() -> None:
    rollup = {
        "Anonymous": 100 * MIB,
        "Pss_Anon": 60 * MIB,
    }  # two processes share 80 MiB, and half of each page counts for each
    assert peak_memory.beyond_shared({"VmHWM": 150 * MIB, "RssFile": 0}, rollup).peak == 70 * MIB
    assert peak_memory.beyond_shared({"VmHWM": 150 * MIB, "VmSwap": MIB, "RssFile": 0}, rollup).peak == 71 * MIB


def test_what_a_process_began_with_is_no_credit_once_it_was_given_away() -> None:
    """Both processes had at most 120 MiB. The second released 40 of its 80 shared MiB before it allocated 40 more."""
    kept = {"Anonymous": 120 * MIB, "Pss_Anon": 80 * MIB}
    dropped = {"Anonymous": 120 * MIB, "Pss_Anon": 100 * MIB}
    assert peak_memory.beyond_shared({"VmHWM": 120 * MIB, "RssFile": 0}, kept).peak == 40 * MIB
    assert peak_memory.beyond_shared({"VmHWM": 120 * MIB, "RssFile": 0}, dropped).peak == 80 * MIB


def test_a_kernel_that_does_not_tell_is_named() -> None:
    with pytest.raises(MachineError, match=r"Pss_Anon.*Linux 5\.10"):
        peak_memory.beyond_shared({"VmHWM": 1}, {"Anonymous": 1})


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_that_is_gone_is_no_fault_of_the_machines() -> None:
    with pytest.raises(ProcessLookupError):
        peak_memory.memory(1 << 22)


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


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("does", "least", "most"), [(nothing, 0, 8), (freed, 38, 60), (written, 20, 40), (swapped_for_new, 38, 60)]
)
def test_a_forks_own_memory_is_what_it_took_since_it_was_forked(
    does: Callable[[mmap.mmap], None], least: float, most: float
) -> None:
    """`freed` allocates 40 MiB and releases them, three times. Only the largest amount at one time counts."""
    with mmap.mmap(-1, 40 * MIB, flags=mmap.MAP_PRIVATE) as began_with:
        began_with.write(b"x" * (40 * MIB))
        began_with.seek(0)
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            does(began_with)
            os.write(write, b".")
            time.sleep(60)
            os._exit(0)
        try:
            os.read(read, 1)
            memory = peak_memory.memory(pid)
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(read)
            os.close(write)
    assert least * MIB <= memory.peak - memory.files <= most * MIB


def test_amounts_are_read_in_bytes() -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    fields = peak_memory._fields(os.getpid(), "status")
    assert fields["VmHWM"] >= fields["VmRSS"] > MIB
