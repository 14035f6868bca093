"""Timing uses as many cores as a task has threads, and never all; random inputs do not follow from earlier ones."""

import sys
from itertools import islice

import pytest

from grader.seeds import generator, independent
from grader.session import timing_lane
from harness.errors import MachineError
from harness.machine.lanes import physical_cores


@pytest.mark.skipif(sys.platform == "win32", reason="needs lanes")
def test_work_on_one_thread_is_timed_and_work_on_as_many_threads_as_cores_is_not_graded_here() -> None:
    with timing_lane(1) as held:
        assert held is not None
    with pytest.raises(MachineError, match="more cores than threads"):
        timing_lane(max(2, physical_cores()))


def test_independent_generators_have_keys_of_their_own_that_the_first_ones_numbers_do_not_show() -> None:
    rngs = list(islice(independent(generator("a seed")), 50))
    keys = {rng.bit_generator.state["state"]["key"].tobytes() for rng in rngs}
    assert len(keys) == 50
    assert not keys & {rng.bytes(16) for rng in (*rngs, generator("a seed"))}
    one, same, other = (next(independent(generator(*parts))).random() for parts in (("a", "b"), ("a", "b"), ("a", "c")))
    assert one == same != other
