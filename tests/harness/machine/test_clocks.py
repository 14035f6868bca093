import os
import subprocess
import sys
import threading

import pytest

from harness.errors import MachineError
from harness.machine.clocks import FakeClock, ProcessGoneError, process_cpu, thread_cpu, wall

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the CPU clock of another process")


def test_a_fake_clock_moves_only_forwards_when_advanced_or_by_a_tick_when_read() -> None:
    clock = FakeClock()
    assert [clock(), clock()] == [0.0, 0.0]
    clock.advance(1.5)
    assert clock() == 1.5
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1.0)
    ticking = FakeClock(now_s=10.0, tick_s=0.25)
    before, after = ticking(), ticking()
    assert after - before == 0.25


def test_real_clocks_never_go_back() -> None:
    for clock in (wall, thread_cpu):
        first = clock()
        assert clock() >= first


@linux
def test_the_cpu_clock_of_another_process_shows_its_work() -> None:
    # The child says "ready", burns CPU time by its own clock, says "done", and waits.
    code = (
        "import sys, time\n"
        "print('ready', flush=True); sys.stdin.readline(); start = time.process_time()\n"
        "while time.process_time() - start < 0.1: pass\n"
        "print(time.process_time() - start, flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        clock = process_cpu(child.pid)
        before_s = clock()
        child.stdin.write("\n")
        child.stdin.flush()
        burned_s = float(child.stdout.readline())
        seen_s = clock() - before_s
        child.communicate("\n")
    assert seen_s >= burned_s


@linux
def test_a_process_clock_counts_every_thread() -> None:
    clock = process_cpu(os.getpid())

    def burn() -> None:
        start_s = thread_cpu()
        while thread_cpu() - start_s < 0.02:
            pass

    before_s, mine_s = clock(), thread_cpu()
    worker = threading.Thread(target=burn)
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


@linux
def test_the_clock_of_a_missing_process_is_refused_at_once() -> None:
    for pid in (0, -5, 2**22 + 1):
        with pytest.raises(ProcessGoneError):
            process_cpu(pid)


def test_the_error_on_a_system_without_such_clocks_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(MachineError, match="wall clock instead"):
        process_cpu(os.getpid())
