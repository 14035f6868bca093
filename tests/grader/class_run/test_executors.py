import threading

import pytest

from grader.class_run.executors import Threads

PATIENCE_S = 60


def test_lanes_run_as_many_at_a_time_as_there_are() -> None:
    together = threading.Barrier(3)
    with Threads(3) as lanes:
        assert sorted(lanes.map(lambda n: (together.wait(PATIENCE_S), n)[1], range(3))) == [0, 1, 2]


def test_a_call_that_raises_gives_its_exception_and_the_lane_goes_on() -> None:
    with Threads(1) as lanes:
        broken = lanes.submit(int, "x")
        assert lanes.submit(int, "7").result(PATIENCE_S) == 7
    assert isinstance(broken.exception(), ValueError)


def test_closed_lanes_take_no_work_and_no_lanes_are_refused() -> None:
    lanes = Threads(1)
    lanes.shutdown()
    with pytest.raises(RuntimeError):
        lanes.submit(int)
    with pytest.raises(ValueError, match="at least one"):
        Threads(0)


def test_what_is_queued_can_be_cancelled() -> None:
    hold = threading.Event()
    lanes = Threads(1)
    lanes.submit(hold.wait, PATIENCE_S)
    queued = lanes.submit(int)
    lanes.shutdown(wait=False, cancel_futures=True)
    hold.set()
    assert queued.cancelled()
