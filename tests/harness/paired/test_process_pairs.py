"""Pairs of processes: their turns and core, their program, and the functions that it finds."""

import functools
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from harness.errors import MachineError, UsageError
from harness.machine import clocks
from harness.machine.clocks import Clock, FakeClock
from harness.machine.lanes import DIRECTORY_VARIABLE, free_cores
from harness.paired import process_pairs
from harness.paired.blocks import DEFAULT_CLOCK, PairSource, TimedCode
from harness.paired.paired_process_main import locate
from harness.paired.process_pairs import (
    TURN_S,
    PairedProcessError,
    TimedWorker,
    calls_in_a_turn,
    process_environment,
)
from harness.paired.rounds import Reading
from harness.processes import process_env
from harness.processes.launcher import KIT

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs the CPU clock of another process")


@contextmanager
def ground(
    candidate: str = "pass",
    baseline: str = "pass",
    *,
    setup: str = "pass",
    clock: Clock = DEFAULT_CLOCK,
    wall: Clock = clocks.wall,
    at_once: int = 1,
) -> Iterator[PairSource]:
    sides = TimedCode("baseline", baseline, setup), TimedCode("candidate", candidate, setup)
    with process_pairs.process_pairs(sides, random.Random(1), clock, wall, at_once) as here:
        yield here


def running(pid: int | None = None) -> list[psutil.Process]:
    """Return the running paired processes that a process started; by default, this process."""
    return [child for child in psutil.Process(pid).children() if _is_a_running_paired_process(child)]


def _is_a_running_paired_process(child: psutil.Process) -> bool:
    try:
        return "harness.paired.paired_process_main" in child.cmdline()
    except psutil.NoSuchProcess:  # the process has ended, and its parent may not have read its exit status yet
        return False


def fake(call_s: float) -> TimedWorker:
    """Return a worker whose calls and requests take known times, with one clock for CPU and wall time."""
    clock = FakeClock()
    return TimedWorker(lambda calls: clock.advance(20e-6 + calls * call_s), clock, clock)


def test_a_turn_takes_the_time_of_its_calls_and_the_request_whose_overhead_is_subtracted() -> None:
    one = fake(call_s=1e-6)
    turn, overhead = one.turn(100), one.turn(0)
    assert [turn.cpu_s, turn.wall_s, turn.calls] == pytest.approx([120e-6, 120e-6, 100])
    net = one.net_turn(1000, overhead)
    assert [net.cpu_s, net.wall_s, net.calls] == pytest.approx([1e-3, 1e-3, 1000])
    assert one.net_turn(10, Reading(25e-6, 25e-6)).cpu_s == pytest.approx(15e-6)  # half of a turn at most
    for call_s in (1e-8, 1e-4):
        assert 0.7 * TURN_S <= calls_in_a_turn(fake(call_s)) * call_s <= 1.2 * TURN_S
    assert calls_in_a_turn(fake(call_s=0.5)) == 1


def test_a_turn_contains_the_time_that_both_sides_of_a_request_waited_for_the_core() -> None:
    clock, wall, process, caller = (FakeClock() for _ in range(4))

    def run_calls(calls: int) -> None:
        clock.advance(calls * 1e-6)
        process.advance(2e-3)
        caller.advance(3e-3)
        wall.advance(calls * 1e-6 + 6e-3)

    worker = TimedWorker(run_calls, clock, wall, (process, caller))
    assert worker.turn(100).waited_s == pytest.approx(5e-3)
    net = worker.net_turn(100, Reading(20e-6, 0.5e-3))
    assert [net.cpu_s, net.wall_s, net.waited_s] == pytest.approx([80e-6, 5.6e-3, 5e-3])


@linux
def test_the_clock_of_a_process_counts_work_and_not_waiting() -> None:
    work, setup = "n += 1; sum(range(20_000))", "import time; n = 0"
    with ground(work, "time.sleep(0.005)", setup=setup) as here, here.open_pair(0) as pair:
        assert [first.changed for first in here.first_calls] == [(), ("n",)]
        assert here.first_calls[0].seconds >= 0.004
        played = [pair.play(baseline_first=number % 2 == 0) for number in range(5)]
    assert min(one.baseline.wall_s for one in played) >= 0.004
    assert max(one.baseline.cpu_s for one in played) < 0.004
    assert min(one.candidate.cpu_s / one.candidate.calls for one in played) > 20_000 * 1e-9


@linux
def test_the_caller_shares_its_core_with_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "lanes"))  # no other measurement uses these locks
    before, free = os.sched_getaffinity(0), free_cores()
    with ground(at_once=2) as here, here.open_pair(0), here.open_pair(1):
        (core,) = os.sched_getaffinity(0)
        assert core not in free_cores()
        assert [os.sched_getaffinity(one.pid) for one in running()] == [{core}] * 4
    assert os.sched_getaffinity(0) == before
    assert free_cores() == free


def test_the_error_of_a_paired_process_is_one_sentence_with_the_traceback_as_a_note() -> None:
    for candidate, baseline, setup, kind, message in [
        ("1 +", "pass", "pass", UsageError, "In the candidate: The statement is not valid Python"),
        ("pass", "1 / 0", "pass", PairedProcessError, "The baseline raised ZeroDivisionError: division by zero"),
        ("os._exit(7)", "pass", "import os", PairedProcessError, "of the candidate ended with exit status 7"),
    ]:
        with pytest.raises(kind, match=message) as caught, ground(candidate, baseline, setup=setup):
            pass
        assert "\n" not in str(caught.value)
        assert ("Traceback" in "".join(getattr(caught.value, "__notes__", []))) == (" raised " in message)
        assert running() == []


def test_without_the_cpu_clock_or_a_fixed_layout_the_result_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> Clock:
        raise MachineError("not on this system")

    monkeypatch.setattr(process_pairs, "process_cpu", refuse)
    monkeypatch.setattr(process_env, "why_layout_varies", lambda: "no setarch")
    with ground("time.sleep(0.005)", setup="import time") as here, here.open_pair(0) as pair:
        assert here.caveat.startswith("times are wall times, because")
        assert "; each process has its own memory layout" in here.caveat
        assert pair.play(baseline_first=True).candidate.cpu_s >= 0.004


def test_a_paired_process_gets_what_python_needs_and_starts_no_duel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    needed = {"LD_LIBRARY_PATH", "PYTHONPATH", "FAIRCLOCK_PAIRED_PROCESS"}
    assert process_environment().keys() - {"SYSTEMROOT"} == {*process_env.ENVIRONMENT, *needed}
    monkeypatch.setenv("FAIRCLOCK_PAIRED_PROCESS", "1")
    with pytest.raises(UsageError, match="__main__"), ground():
        pass


ENDLESS_DUEL = """
from harness.paired.duel import duel
while True:  # with so small a margin, a disturbed duel may come to a verdict
    duel(CODE, CODE, setup="import time; total = 0", margin=1e-9, budget_s=1e6, paired_processes=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize(
    ("how", "code"),
    [
        (signal.SIGINT, "total += 1"),
        pytest.param(signal.SIGKILL, "time.sleep(99)", marks=linux),  # in the middle of a call
    ],
)
def test_an_interrupted_duel_leaves_no_process_behind(how: signal.Signals, code: str) -> None:
    script = [sys.executable, "-c", ENDLESS_DUEL.replace("CODE", repr(code))]
    environment = {**os.environ, "PYTHONPATH": str(KIT)}
    with subprocess.Popen(script, env=environment, stderr=subprocess.PIPE, text=True) as caller:
        _wait_for_paired_processes(caller.pid, most_s=30)
        time.sleep(1)
        started = _wait_for_paired_processes(caller.pid, most_s=30)  # none may run between one pair and the next
        caller.send_signal(how)
        _, told = caller.communicate(timeout=30)
    assert told.count("Traceback") == told.count("KeyboardInterrupt") == (how is signal.SIGINT)
    _, there = psutil.wait_procs(started, timeout=10)
    for each in there:
        with suppress(psutil.NoSuchProcess):
            assert each.status() == psutil.STATUS_ZOMBIE, "process 1 has to collect it, and may be pytest"


def _wait_for_paired_processes(pid: int, most_s: float) -> list[psutil.Process]:
    deadline_s = time.monotonic() + most_s
    while not (started := running(pid)):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return started


def at_the_top() -> int:
    return 1


def test_the_code_has_no_part_in_the_conversation_and_no_garbage_collector() -> None:
    setup = "import gc, sys; input_ended = lambda: not sys.stdin.read()"
    code = "print('12'); assert input_ended(); assert not gc.isenabled()"
    with ground(code, setup=setup) as here, here.open_pair(0) as pair:
        pair.play(baseline_first=True)


def test_a_function_at_the_top_of_a_module_can_be_located_and_a_local_one_is_refused() -> None:
    functions: tuple[Any, ...] = (at_the_top, math.gamma)
    for function in functions:
        assert locate(function) == (function.__module__, function.__qualname__)
    for local in (lambda: 1, functools.wraps(at_the_top)(lambda: 2)):
        with pytest.raises(UsageError, match="a statement with a setup"):
            locate(local)
