import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from busy_core import busy_core

from harness.machine.clocks import ProcessGoneError, thread_cpu, wall
from harness.machine.core_wait import CoreWait

pytestmark = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="needs a Linux that counts the time in the run queue"
)


def compute(seconds: float) -> None:
    end_s = thread_cpu() + seconds
    while thread_cpu() < end_s:
        pass


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


def test_sleeping_is_not_waiting() -> None:
    """A process that sleeps is not ready to run, so it waits only for moments: when it starts, and when it wakes."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(1e4)"]) as sleeper:
        with closing(CoreWait(sleeper.pid)) as waits:
            subprocess.run([sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.5)"], check=True)
            began_s = waits()
            subprocess.run([sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.2)"], check=True)
            assert waits() == began_s
        sleeper.kill()


def test_the_wait_of_a_process_that_has_ended_is_an_error_and_of_no_process_is_zero() -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        waits = CoreWait(process.pid)
    with pytest.raises(ProcessGoneError, match="The process has ended"):
        waits()
    waits.close()
    assert waits() == 0.0
    assert CoreWait(-1)() == 0.0
