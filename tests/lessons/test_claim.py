import math
from random import Random

import pytest

from lessons.engine.claim import UNLIKELY, Standing, claim, counted, every, middle, skipped, towards


@pytest.mark.parametrize(
    ("measured", "low", "high", "error", "standing"),
    [
        (2.0, 1.0, 3.0, 0.0, Standing.HELD),
        (2.0, 2.0, 2.0, 0.0, Standing.HELD),
        (2.0, 1.0, 3.0, 1.0, Standing.HELD),
        (2.0, 1.0, 3.0, 1.1, Standing.INCONCLUSIVE),
        (0.5, 1.0, 3.0, 0.4, Standing.REFUTED),
        (0.5, 1.0, 3.0, 0.5, Standing.INCONCLUSIVE),
        (4.0, 1.0, 3.0, 0.5, Standing.REFUTED),
        (math.inf, 1.0, math.inf, 0.0, Standing.HELD),
        (2.0, 1.0, 3.0, math.inf, Standing.INCONCLUSIVE),
        (math.nan, -math.inf, math.inf, 0.0, Standing.INCONCLUSIVE),
    ],
)
def test_a_claim_stands_only_as_far_as_its_doubt_allows(
    measured: float, low: float, high: float, error: float, standing: Standing
) -> None:
    assert claim("id", measured, low, high, error=error).standing is standing


def test_an_inconclusive_claim_says_whether_the_measurement_or_the_machine_was_to_blame() -> None:
    assert claim("id", 2.0, low=1.0, error=2.0, noise=5.0).reason == "the measurement itself was too uncertain"
    assert claim("id", 2.0, low=1.0, error=0.5, noise=0.6).reason == "the machine was too restless today"
    assert claim("id", math.nan, low=1.0).reason == "nothing could be measured"
    assert claim("id", 2.0, low=1.0, error=0.5, noise=0.5).reason == ""


def test_a_yes_or_no_is_kept_as_a_number() -> None:
    assert repr(claim("it-is-so", True, 1, 1).measured) == "1.0"


def test_impossible_bounds_and_doubts_are_refused() -> None:
    with pytest.raises(ValueError, match="wrong order"):
        claim("id", 1.0, low=2.0, high=1.0)
    with pytest.raises(ValueError, match="wrong order"):
        claim("id", 1.0, low=math.nan)
    with pytest.raises(ValueError, match="half width"):
        claim("id", 1.0, error=-0.1)
    with pytest.raises(ValueError, match="half width"):
        claim("id", 1.0, noise=math.nan)


@pytest.mark.parametrize(
    ("rounds", "standing"),
    [
        ([0.1, 0.3, 0.2], Standing.HELD),
        ([-0.1, 0.3, 0.2], Standing.INCONCLUSIVE),
        ([-0.1, -0.3], Standing.REFUTED),
    ],
)
def test_a_claim_about_every_round_needs_every_round(rounds: list[float], standing: Standing) -> None:
    middle, error = every(rounds)
    assert claim("id", middle, low=0, error=error).standing is standing


def test_a_skipped_claim_measured_nothing_and_says_what_is_missing() -> None:
    one = skipped("id", "no compiler here")
    assert (one.standing, one.reason) == (Standing.SKIPPED, "no compiler here")
    assert math.isnan(one.measured)
    with pytest.raises(ValueError, match="what this machine lacks"):
        skipped("id", " ")


def test_the_median_lies_where_the_sign_test_puts_it() -> None:
    assert middle([4.0] * 8 + [40.0]) == (4.0, 0.0)
    assert middle([4.0] * 7 + [2.0] * 2) == (3.0, 1.0)
    assert middle([4.0, 4.0, 2.0]) == (3.0, 1.0)
    assert middle([float(n) for n in range(20)]) == (9.5, 5.5)


def test_the_interval_of_the_median_misses_it_as_seldom_as_it_says() -> None:
    draws = Random(7)
    missed = 0
    for _ in range(2000):
        measured, error = middle([draws.expovariate(1) for _ in range(12)])
        missed += abs(measured - math.log(2)) > error
    assert UNLIKELY / 2 < missed / 2000 < UNLIKELY * 1.25


@pytest.mark.parametrize(
    ("measured", "low", "high", "doubt"),
    [(3, 2, math.inf, 1), (1.5, 2, math.inf, 4), (3, -math.inf, 4, 4), (5, -math.inf, 4, 1), (3, 2, 4, 4)],
)
def test_an_interval_is_a_doubt_only_towards_a_bound(measured: float, low: float, high: float, doubt: float) -> None:
    assert towards(measured, (measured - 1, measured + 4), low, high) == doubt


def test_an_end_nobody_knows_is_no_doubt_on_the_side_that_nobody_asked_about() -> None:
    assert towards(3, (2.5, math.inf), 2, math.inf) == 0.5
    assert towards(3, (2.5, math.inf), -math.inf, 4) == math.inf


def test_a_counted_share_is_the_surer_the_more_tests_there_were_and_never_quite_sure() -> None:
    assert counted(0.5, 400) == 0.05
    assert counted(0.5, 100) == 0.1
    assert counted(0.0, 100) > 0
