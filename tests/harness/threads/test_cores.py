"""A block limits its own thread, and the threads that it starts, to a few cores."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.threads.cores import can_limit, limited_to

if sys.platform != "linux":
    pytest.skip("only Linux limits threads to cores", allow_module_level=True)


def test_new_threads_are_limited_and_the_old_cores_come_back() -> None:
    assert can_limit()
    before = os.sched_getaffinity(0)
    with limited_to(1), ThreadPoolExecutor(1) as pool:
        assert len(os.sched_getaffinity(0)) == 1
        assert pool.submit(os.sched_getaffinity, 0).result() == os.sched_getaffinity(0)
    assert os.sched_getaffinity(0) == before


def test_an_error_in_the_block_gives_the_cores_back() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="no"), limited_to(1):
        raise ValueError("no")
    assert os.sched_getaffinity(0) == before


def test_more_cores_than_there_are_change_nothing() -> None:
    before = os.sched_getaffinity(0)
    with limited_to(10_000):
        assert os.sched_getaffinity(0) == before
