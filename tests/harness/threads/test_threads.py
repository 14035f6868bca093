"""Servers run functions on threads, and turns are compared."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import psutil  # type: ignore[import-untyped]  # its stubs are in a separate package
import pytest

from harness.errors import MachineError
from harness.threads import scaling
from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn, can_limit, limited_to, serve, undisturbed

HERE = PythonBuild(sys.executable, "3", gil=True)
PROGRAM = """
import os, threading

seen = []

def double(number):
    return 2 * number

def keep():
    seen.append(1)
    return len(seen)

def fail():
    raise ValueError("no such thing")

def core():
    return sorted(os.sched_getaffinity(0))

def leave():
    os._exit(3)

def hang():
    threading.Event().wait()
"""


def test_a_function_runs_on_threads_of_its_own_once_or_for_a_time_and_an_exception_is_reported() -> None:
    with serve(HERE, PROGRAM) as (server,):
        run = server.run("double", 5, threads=3)
        assert run.results == (10, 10, 10)
        assert min(run.wall_s, run.cpu_s) >= 0
        assert [server.run("keep").results for _ in range(3)] == [(1,), (2,), (3,)]
        run = server.run("keep", threads=2, seconds=0.02)
        assert run.wall_s >= 0.02
        assert server.run("keep").results == (3 + sum(run.results) + 1,)
        with pytest.raises(MachineError, match="ValueError: no such thing"):
            server.run("fail", threads=2)
        assert server.run("double", 1).results == (2,)


@pytest.mark.skipif(not can_limit(), reason="needs Linux")
def test_threads_stay_on_cores_of_their_own() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    with serve(HERE, PROGRAM) as (server,):
        assert server.run("core", threads=2).results == ([allowed[0]], [allowed[1 % len(allowed)]])
        assert server.run("core").results == (allowed,)


def test_a_program_that_ends_or_does_not_start_or_never_ends_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(HERE, PROGRAM) as (server,), pytest.raises(MachineError, match="exit status 3"):
        server.run("leave")
    monkeypatch.setattr(scaling, "TIMEOUT_S", 0.2)
    with serve(HERE, PROGRAM) as (server,), pytest.raises(MachineError, match="stopped"):
        server.run("hang")


def test_servers_end_with_the_block_and_get_no_variables_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_GIL", "1")
    program = "import os\ndef named():\n    return [name for name in os.environ if name.startswith('PYTHON')]\n"
    with serve(HERE, program, number=2) as (server, other):
        server.begin("named")
        assert other.run("named").results == server.finish().results == ([],)
        processes = [psutil.Process(each.pid) for each in (server, other)]
    assert not any(each.is_running() for each in processes)


def turn(*, alone: float = 1.0, at_once: float = 1.0) -> ScalingTurn:
    return ScalingTurn(2, one=100.0, threads=110.0, processes=190.0, alone=alone, at_once=at_once)


def test_a_turn_counts_only_if_each_process_had_a_core_and_a_comparison_needs_enough_such_turns() -> None:
    assert [turn().by_threads, turn().by_processes] == pytest.approx([1.1, 1.9])
    assert turn().against_processes == pytest.approx(110 / 190)
    assert turn(alone=0.99, at_once=0.95).undisturbed
    assert not turn(alone=0.99, at_once=0.5).undisturbed
    for calm, busy, kept in [(3, 0, 3), (2, 0, 0), (3, 1, 3), (4, 2, 0), (9, 3, 9), (0, 0, 0)]:
        assert undisturbed([turn(alone=0.2)] * busy + [turn()] * calm) == [turn()] * kept


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits threads to cores")
def test_new_threads_are_limited_and_the_old_cores_come_back_after_an_error() -> None:
    assert can_limit()
    before = os.sched_getaffinity(0)
    with limited_to(1), ThreadPoolExecutor(1) as pool:
        assert len(os.sched_getaffinity(0)) == 1
        assert pool.submit(os.sched_getaffinity, 0).result() == os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="no"), limited_to(10_000):
        raise ValueError("no")
    assert os.sched_getaffinity(0) == before
