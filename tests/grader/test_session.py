"""Timing uses as many cores as a task has threads, and never all cores of the machine."""

import sys

import pytest

from grader.session import timing_lane
from harness.errors import MachineError
from harness.machine.lanes import physical_cores

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs lanes")


def test_a_single_thread_is_timed_on_one_core() -> None:
    with timing_lane(1) as held:
        assert held is not None
        assert len(held.cores) == 1


def test_work_on_as_many_threads_as_cores_is_not_graded_here() -> None:
    with pytest.raises(MachineError, match="more cores than threads"):
        timing_lane(max(2, physical_cores()))
