"""Threads and processes are compared with one thread, in turns."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.threads.builds import PythonBuild
from harness.threads.scaling import ScalingTurn, can_limit, limited_to, take_turns, undisturbed
from harness.threads.servers import serve

HERE = PythonBuild(sys.executable, "3", gil=True)


def turn(*, alone: float = 1.0, at_once: float = 1.0) -> ScalingTurn:
    return ScalingTurn(2, one=100.0, threads=110.0, processes=190.0, alone=alone, at_once=at_once)


def test_a_turn_counts_only_if_each_process_had_a_core_and_a_comparison_needs_enough_such_turns() -> None:
    assert [turn().by_threads, turn().by_processes] == pytest.approx([1.1, 1.9])
    assert turn().against_processes == pytest.approx(110 / 190)
    assert turn(alone=0.99, at_once=0.95).undisturbed
    assert not turn(alone=0.5, at_once=0.95).undisturbed
    assert not turn(alone=0.99, at_once=0.5).undisturbed
    for calm, busy, kept in [(3, 0, 3), (2, 0, 0), (3, 1, 3), (4, 2, 0), (9, 3, 9), (0, 0, 0)]:
        assert undisturbed([turn(alone=0.2)] * busy + [turn()] * calm) == [turn()] * kept


def test_each_turn_has_all_three_ways_and_rates_above_zero() -> None:
    program = "import time\ndef wait():\n    time.sleep(0.005)\ndef nothing():\n    pass\n"
    with serve(HERE, program, number=2) as servers:
        turns = take_turns(servers, "wait", seconds=0.03, turns=2)
        (unfinished,) = take_turns(servers, "nothing", seconds=0.0, turns=1)
    assert len(turns) == 2
    for one in turns:
        assert one.workers == 2
        assert 0 < one.one <= 200
        assert 0 < one.threads <= 400
        assert 0 < one.processes <= 400
        assert one.alone < 0.8
        assert not one.undisturbed
    assert min(unfinished.one, unfinished.threads, unfinished.processes) > 0


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
