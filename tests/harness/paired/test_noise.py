import math
from itertools import count

import pytest

from harness.errors import UsageError
from harness.machine.clocks import FakeClock
from harness.paired.noise import NOISY, WINDOW_S, Noise, aa_control, noise_of
from harness.paired.rounds import Reading
from harness.rendering import units


def blocks(*wall_s: float) -> list[Reading]:
    """Return blocks of the same work with 1 ms of CPU time and the given wall times."""
    return [Reading(1e-3, seconds) for seconds in wall_s]


def test_a_machine_that_slows_down_changes_unpaired_errors_only() -> None:
    window = [Reading(1e-3, 1e-3)] * 20 + [Reading(1.1e-3, 1.1e-3)] * 20
    noise = noise_of(window * 4)
    assert max(noise.unpaired) == pytest.approx(math.log(1.1), rel=0.2)
    assert max(noise.paired) == 0.0
    assert noise.noisy
    assert str(noise) == f"noise today: ±{units.percent(noise.unpaired_p95)} unpaired, ±0 % in paired rounds"


def test_a_machine_without_changes_has_no_noise_and_the_control_keeps_to_its_budget() -> None:
    clock = FakeClock()
    noise = aa_control(lambda: clock.advance(20e-6), budget_s=0.2, clock=clock, wall=clock)
    assert sum(block.wall_s for block in noise.blocks) == pytest.approx(0.2, abs=1e-3)
    assert max(noise.unpaired) == pytest.approx(0.0, abs=1e-9)
    assert len(noise.unpaired) == len(noise.paired) == pytest.approx(0.2 / WINDOW_S, abs=1)
    assert not noise.noisy


def test_one_bad_window_of_a_hundred_does_not_make_a_machine_noisy() -> None:
    calm = tuple([0.0] * 100)
    one_bad = Noise(unpaired=(*calm, 0.5), paired=calm, blocks=())
    many_bad = Noise(unpaired=(*calm, *[NOISY * 2] * 10), paired=calm, blocks=())
    assert (one_bad.noisy, many_bad.noisy) == (False, True)
    assert max(one_bad.unpaired) == 0.5


def test_too_short_a_record_or_budget_and_too_long_a_call_are_refused() -> None:
    for record in ([], blocks(1e-3), blocks(1.0)):
        with pytest.raises(UsageError, match="record at least one"):
            noise_of(record)
    for budget_s in (0.0, 0.1, math.inf, math.nan):
        with pytest.raises(UsageError, match="budget_s"):
            aa_control(budget_s=budget_s)
    clock = FakeClock()
    with pytest.raises(UsageError, match="One call takes"):
        aa_control(lambda: clock.advance(0.05), clock=clock, wall=clock)


def test_an_interrupted_block_does_not_count_as_a_long_call() -> None:
    clock, calls = FakeClock(), count(1)

    def quiet_while_the_block_is_sized() -> None:
        number = next(calls)
        clock.advance(15e-3 if number > 125 and number % 10 == 0 else 20e-6)

    noise = aa_control(quiet_while_the_block_is_sized, clock=clock, wall=clock)
    assert min(block.wall_s for block in noise.blocks) > 15e-3


def test_the_real_machine_differs_from_itself_somewhat() -> None:
    noise = aa_control(budget_s=0.2)
    assert max(noise.unpaired) > 0
    assert len(noise.blocks) > len(noise.unpaired) >= 2
