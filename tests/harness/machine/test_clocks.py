import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from busy_core import busy_core

from harness.errors import MachineError
from harness.machine.clocks import CoreWait, ProcessGoneError, process_cpu, thread_cpu, wall

counts_waiting = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="needs a Linux that counts the time in the run queue"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the CPU clock of another process")


def compute(seconds: float) -> None:
    end_s = thread_cpu() + seconds
    while thread_cpu() < end_s:
        pass


@linux
def test_a_process_clock_counts_every_thread() -> None:
    clock = process_cpu(os.getpid())
    before_s, mine_s = clock(), thread_cpu()
    worker = threading.Thread(target=compute, args=(0.02,))
    worker.start()
    worker.join()
    assert clock() - before_s >= (thread_cpu() - mine_s) + 0.02


@linux
def test_an_ended_process_keeps_its_clock_until_it_is_reaped() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    clock = process_cpu(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert clock() == clock() > 0
    child.wait()
    with pytest.raises(ProcessGoneError, match=f"Process {child.pid} has ended"):
        clock()
    for pid in (0, -5, 2**22 + 1):
        with pytest.raises(ProcessGoneError):
            process_cpu(pid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        with pytest.raises(MachineError, match="wall clock instead"):
            process_cpu(os.getpid())


@counts_waiting
def test_a_thread_waits_while_other_programs_use_its_core() -> None:
    """Two other programs on the same core take about two thirds of it. A thread that only computes waits that long."""
    core = max(os.sched_getaffinity(0))
    clocks: list[tuple[float, float, float]] = []

    def beside_others() -> None:
        os.sched_setaffinity(0, {core})
        with closing(CoreWait()) as waits:
            clocks.append((waits(), wall(), thread_cpu()))
            compute(0.1)
            clocks.append((waits(), wall(), thread_cpu()))

    with busy_core(core, 2):
        thread = threading.Thread(target=beside_others)
        thread.start()
        thread.join()
    waited_s, wall_s, cpu_s = (after - before for before, after in zip(*clocks, strict=True))
    assert waited_s > 0.02
    assert waited_s == pytest.approx(wall_s - cpu_s, rel=0.2)


@counts_waiting
def test_the_wait_of_a_process_that_has_ended_is_an_error_and_of_no_process_is_zero() -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        waits = CoreWait(process.pid)
    with pytest.raises(ProcessGoneError, match="The process has ended"):
        waits()
    waits.close()
    assert waits() == 0.0
    assert CoreWait(-1)() == 0.0
