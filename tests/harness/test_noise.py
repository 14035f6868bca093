import math
from itertools import count

import pytest

from harness.clocks import FakeClock
from harness.errors import UsageError
from harness.noise import RESTLESS, WINDOW_S, Noise, aa_control, noise_of, p95
from harness.rounds import Reading


def blocks(*wall_s: float) -> list[Reading]:
    """Blocks of the same work: CPU time is steady at 1 ms, wall time is as given."""
    return [Reading(1e-3, seconds) for seconds in wall_s]


def test_the_95th_percentile_of_one_error_is_that_error() -> None:
    assert p95([3.0]) == 3.0
    assert p95(list(map(float, range(101)))) == 95.0


def test_a_still_machine_is_quiet_in_both_readings() -> None:
    noise = noise_of(blocks(*[1e-3] * 200))
    assert noise.naive_worst == noise.paired_worst == 0.0
    assert not noise.restless
    assert str(noise).startswith("quiet today")


def test_a_machine_that_slows_down_fools_halves_and_not_rounds() -> None:
    window = [Reading(1e-3, 1e-3)] * 20 + [Reading(1.1e-3, 1.1e-3)] * 20
    noise = noise_of(window * 4)
    assert noise.naive_worst == pytest.approx(math.log(1.1), rel=0.2)
    assert noise.paired_worst == 0.0
    assert noise.restless
    assert str(noise).startswith("restless today")


def test_waiting_for_the_core_counts_for_halves_only() -> None:
    noise = noise_of(blocks(*([1e-3] * 30 + [11e-3])))
    assert len(noise.naive) == 1
    assert noise.naive_worst > 0.3
    assert noise.paired_worst == 0.0


def test_the_record_is_cut_into_windows_and_kept_whole() -> None:
    record = blocks(*[1e-3] * 130)
    noise = noise_of(record)
    assert len(noise.naive) == len(noise.paired) == pytest.approx(0.13 / WINDOW_S, abs=1)
    assert noise.blocks == tuple(record)


def test_restless_is_what_nineteen_of_twenty_windows_say() -> None:
    calm = tuple([0.0] * 100)
    one_bad = Noise(naive=(*calm, 0.5), paired=calm, blocks=())
    many_bad = Noise(naive=(*calm, *[RESTLESS * 2] * 10), paired=calm, blocks=())
    assert (one_bad.restless, many_bad.restless) == (False, True)
    assert one_bad.naive_worst == 0.5


@pytest.mark.parametrize("record", [[], blocks(1e-3), blocks(1.0)])
def test_a_record_without_a_window_of_two_blocks_is_refused(record: list[Reading]) -> None:
    with pytest.raises(UsageError, match="record at least one"):
        noise_of(record)


def test_the_control_keeps_to_its_budget() -> None:
    clock = FakeClock()
    noise = aa_control(lambda: clock.advance(20e-6), budget_s=0.2, clock=clock, wall=clock)
    assert sum(block.wall_s for block in noise.blocks) == pytest.approx(0.2, abs=1e-3)
    assert noise.naive_worst == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("budget_s", [0.0, 0.1, math.inf, math.nan])
def test_a_budget_for_too_few_windows_is_refused(budget_s: float) -> None:
    with pytest.raises(UsageError, match="budget_s"):
        aa_control(budget_s=budget_s)


def test_a_call_too_long_for_a_window_is_refused() -> None:
    clock = FakeClock()
    with pytest.raises(UsageError, match="One call takes"):
        aa_control(lambda: clock.advance(0.05), clock=clock, wall=clock)


def test_a_block_that_is_long_because_it_was_interrupted_is_no_long_call() -> None:
    clock, calls = FakeClock(), count(1)

    def quiet_while_the_block_is_sized() -> None:
        number = next(calls)
        clock.advance(15e-3 if number > 125 and number % 10 == 0 else 20e-6)

    noise = aa_control(quiet_while_the_block_is_sized, clock=clock, wall=clock)
    assert min(block.wall_s for block in noise.blocks) > 15e-3


def test_the_real_machine_differs_from_itself_somewhat() -> None:
    noise = aa_control(budget_s=0.2)
    assert noise.naive_worst > 0
    assert len(noise.blocks) > len(noise.naive) >= 2
