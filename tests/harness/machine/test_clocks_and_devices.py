"""Clocks of threads and processes, and devices that work in order."""

import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
import torch
from busy_core import busy_core

from harness.errors import UsageError
from harness.machine.clocks import CoreWait, ProcessGoneError, process_cpu, thread_cpu, wall
from harness.machine.devices import Cuda, SimulatedStream, gpu_bytes_per_s

counts_waiting = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="needs a Linux that counts the time in the run queue"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the CPU clock of another process")


def compute(seconds: float) -> None:
    end_s = thread_cpu() + seconds
    while thread_cpu() < end_s:
        pass


@linux
def test_an_ended_process_keeps_its_clock_until_it_is_reaped() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    clock = process_cpu(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert clock() == clock() > 0
    child.wait()
    with pytest.raises(ProcessGoneError, match=f"Process {child.pid} has ended"):
        clock()


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


def test_synchronize_raises_the_error_of_launched_work() -> None:
    ran: list[str] = []
    with SimulatedStream() as stream:
        stream.launch(lambda: 1 / 0)
        stream.launch(lambda: ran.append("after the failure"))
        after = stream.record()
        with pytest.raises(ZeroDivisionError):
            stream.synchronize()
        assert ran == []
        stream.launch(lambda: ran.append("after the report"))
        before = stream.record()
        stream.synchronize()
        with pytest.raises(UsageError, match="events of the same device"):
            after.seconds_since(before)
    assert ran == ["after the report"]
    with pytest.raises(UsageError, match="closed"):
        stream.launch(lambda: None)


@pytest.mark.equipment("a GPU", torch.cuda.is_available())
def test_events_of_a_gpu_time_what_lies_between_them_and_a_flush_runs_there() -> None:
    with Cuda() as device:
        x = torch.ones(2048, 2048, device="cuda")
        device.launch(device.flush())
        device.synchronize()
        start = device.record()
        device.launch(lambda: [x @ x for _ in range(50)])
        end = device.record()
        device.launch(device.busy(0.05))
        later = device.record()
        device.synchronize()
        assert end.seconds_since(start) > 0
        assert later.seconds_since(end) >= 0.025
    assert 1e10 < gpu_bytes_per_s() < 1e14


def test_events_measure_the_time_of_the_device_and_not_of_the_host() -> None:
    go = threading.Event()
    with SimulatedStream() as stream:
        stream.launch(go.wait)
        start = stream.record()
        stream.launch(stream.busy(0.05))
        end = stream.record()
        with pytest.raises(UsageError, match="after synchronize"):
            end.seconds_since(start)
        launched_s = time.perf_counter()
        go.set()
        stream.synchronize()
        assert 0.05 <= end.seconds_since(start) <= time.perf_counter() - launched_s
        assert start.seconds_since(end) == -end.seconds_since(start)
