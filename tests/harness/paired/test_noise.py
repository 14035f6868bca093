import math

import pytest

from harness.errors import UsageError
from harness.paired.noise import NOISY, WINDOW_S, Noise, aa_control, noise_of
from harness.paired.rounds import Reading
from harness.rendering import units


def test_a_machine_that_slows_down_changes_unpaired_errors_only() -> None:
    window = [Reading(1e-3, 1e-3)] * 20 + [Reading(1.1e-3, 1.1e-3)] * 20
    noise = noise_of(window * 4)
    assert max(noise.unpaired) == pytest.approx(math.log(1.1), rel=0.2)
    assert max(noise.paired) == 0.0
    assert noise.noisy
    assert str(noise) == f"noise today: ±{units.percent(noise.unpaired_p95)} unpaired, ±0 % in paired rounds"


def test_one_bad_window_of_a_hundred_does_not_make_a_machine_noisy() -> None:
    calm = tuple([0.0] * 100)
    assert not Noise(unpaired=(*calm, 0.5), paired=calm).noisy
    assert Noise(unpaired=(*calm, *[NOISY * 2] * 10), paired=calm).noisy


def test_too_short_a_record_or_budget_is_refused() -> None:
    for wall_s in ([], [1e-3], [1.0]):
        with pytest.raises(UsageError, match="record at least one"):
            noise_of([Reading(1e-3, seconds) for seconds in wall_s])
    for budget_s in (0.0, 0.1, math.inf, math.nan):
        with pytest.raises(UsageError, match="budget_s"):
            aa_control(budget_s)


def test_the_real_machine_differs_from_itself_somewhat_within_the_budget() -> None:
    noise = aa_control(0.2)
    assert max(noise.unpaired) > 0
    assert 2 <= len(noise.unpaired) <= 0.2 / WINDOW_S + 1
