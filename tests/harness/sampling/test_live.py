"""Tests of live programs: start, suspend, resume, end."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.errors import MachineError
from harness.sampling.live import end_all, live

ROOT = Path(__file__).parents[3]
COUNTS = """
import time
number = 0
while True:
    number += 1
    print(number, flush=True)
    time.sleep(0.001)
"""


@pytest.fixture(autouse=True)
def _no_program_is_left() -> Iterator[None]:
    yield
    end_all()


def test_a_program_runs_as_its_own_process_and_its_lines_and_cpu_time_are_read() -> None:
    with live("while True:\n    sum(range(100_000))\n    print(1, flush=True)\n") as computing:
        time.sleep(0.3)
        assert computing.busy() > 0
    with live(COUNTS) as program:
        program.wait_for(5)
        numbers = [int(line) for line in program.lines()]
        assert psutil.Process(program.pid).cmdline() == [sys.executable, str(program.script)]
    assert numbers == list(range(2, 2 + len(numbers)))


def test_a_program_is_suspended_after_the_block_and_goes_on_in_the_next_beside_another() -> None:
    with live(COUNTS) as program:
        pid = program.pid
    assert reaches(pid, psutil.STATUS_STOPPED)
    with live(COUNTS) as program, live(COUNTS, "-O") as other:
        assert program.pid == pid != other.pid
        program.wait_for(2)
        assert int(program.lines()[0]) > 2


def reaches(pid: int, status: str) -> bool:
    """Return whether a process gets this status or ends, after at most 30 s: a signal takes a moment."""
    deadline_s = time.monotonic() + 30
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != status and time.monotonic() < deadline_s:
        time.sleep(0.01)
    return not psutil.pid_exists(pid) or bool(psutil.Process(pid).status() == status)


def test_all_programs_end_with_their_children_and_files() -> None:
    script = (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])\n" + COUNTS
    )
    with live(script) as program:
        (child,) = psutil.Process(program.pid).children()
    end_all()
    assert not psutil.pid_exists(program.pid)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    assert not program.script.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the CPU time of another process")
def test_the_cpu_time_of_a_program_is_limited() -> None:
    with live(COUNTS) as program:
        assert psutil.Process(program.pid).rlimit(psutil.RLIMIT_CPU) == (300, 300)


def test_a_script_that_fails_or_is_silent_is_an_error_and_an_error_in_the_block_ends_the_program() -> None:
    with pytest.raises(MachineError, match="ZeroDivisionError"), live("1 / 0"):
        pass
    with pytest.raises(MachineError, match="printed nothing for 0 s"), live(COUNTS) as program:
        program.wait_for(10**9, timeout_s=0)
    assert not psutil.pid_exists(program.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process together with its parent")
def test_a_program_ends_if_the_process_that_started_it_is_killed() -> None:
    starter = (
        "import os, signal\nfrom harness.sampling.live import live\n"
        f"with live({COUNTS!r}) as program:\n"
        "    print(program.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, text=True, check=False, cwd=ROOT)
    assert reaches(int(done.stdout), psutil.STATUS_ZOMBIE)
