import math
from random import Random

import pytest

from lessons.engine.interval import UNLIKELY, Interval, interval_of, largest, smallest
from lessons.engine.standing import Standing


@pytest.mark.parametrize(
    ("measured", "low", "high", "half_width", "standing"),
    [
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
def test_a_comparison_needs_the_whole_interval(
    measured: float, low: float, high: float, half_width: float, standing: Standing
) -> None:
    assert Interval.plus_minus(measured, half_width).compare(at_least=low, at_most=high) is standing


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "standing"),
    [
        (2.0, 7.0, 2, math.inf, Standing.HELD),
        (1.0, 7.0, 2, math.inf, Standing.INCONCLUSIVE),
        (2.5, math.inf, 2, math.inf, Standing.HELD),
        (2.5, math.inf, -math.inf, 4, Standing.INCONCLUSIVE),
        (4.0, 9.0, -math.inf, 4, Standing.INCONCLUSIVE),
        (4.5, 9.0, -math.inf, 4, Standing.REFUTED),
    ],
)
def test_only_the_end_towards_a_bound_matters(
    low: float, high: float, at_least: float, at_most: float, standing: Standing
) -> None:
    assert Interval(max(low, 3), low, max(high, 3)).compare(at_least=at_least, at_most=at_most) is standing


def test_impossible_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match="must not be above"):
        Interval.plus_minus(1.0, -0.1)
    with pytest.raises(ValueError, match="must be a number"):
        Interval.exact(1.0).widened(math.nan)


@pytest.mark.parametrize(
    ("rounds", "standing"),
    [
        ([0.1, 0.3, 0.2], Standing.HELD),
        ([-0.1, 0.3, 0.2], Standing.INCONCLUSIVE),
        ([-0.1, -0.3], Standing.REFUTED),
        ([0.1, math.nan], Standing.INCONCLUSIVE),
        ([], Standing.INCONCLUSIVE),
    ],
)
def test_an_interval_of_all_rounds_decides_only_if_all_agree(rounds: list[float], standing: Standing) -> None:
    assert Interval.every(rounds).compare(at_least=0) is standing


def test_the_median_lies_in_the_interval_of_the_sign_test() -> None:
    assert Interval.median([4.0] * 8 + [40.0]) == Interval.exact(4)
    assert Interval.median([4.0] * 7 + [2.0] * 2) == Interval(4, 2, 4)
    assert Interval.median([4.0, 4.0, 2.0]) == Interval(4, 2, 4)
    assert Interval.median([float(n) for n in range(20)]) == Interval(9.5, 4, 15)


def test_the_interval_of_the_median_misses_it_in_at_most_the_stated_share_of_samples() -> None:
    draws = Random(7)
    missed = 0
    for _ in range(2000):
        found = Interval.median([draws.expovariate(1) for _ in range(12)])
        missed += not found.low <= math.log(2) <= found.high
    assert UNLIKELY / 2 < missed / 2000 < UNLIKELY * 1.25


def test_the_interval_of_a_share_is_narrower_with_more_tests_and_never_has_width_zero() -> None:
    assert Interval.share(200, 400).half_width == pytest.approx(0.05)
    assert Interval.share(50, 100).half_width == pytest.approx(0.1)
    assert Interval.share(0, 100).half_width > 0
    assert Interval.share(0, 100).low == 0
    assert Interval.share(7, 8).high == 1
    assert math.isnan(Interval.share(0, 0).middle)


def test_noise_widens_an_interval_on_both_sides() -> None:
    interval = Interval(2, 1, 4).widened(0.5).with_noise(0.1)
    assert (interval.lowest, interval.highest) == pytest.approx((0.3, 4.7))
    assert Interval.exact(2).void_if(True).compare(at_least=1) is Standing.INCONCLUSIVE
    assert Interval.exact(2).void_if(False).compare(at_least=1) is Standing.HELD
    assert Interval.unknown().with_noise(0.1).noise == 0


def test_an_increasing_function_keeps_the_order_of_the_ends_and_a_number_is_exact() -> None:
    assert Interval(0, -1, 1).mapped(math.exp) == Interval(1, 1 / math.e, math.e)
    assert interval_of(True) == Interval(1, 1, 1)
    assert interval_of(Interval(2, 1, 3)) == Interval(2, 1, 3)


def test_only_a_clear_winner_is_named() -> None:
    clear = {"a": Interval(2, 1, 3), "b": Interval(5, 4, 6)}
    assert (largest(clear), smallest(clear)) == ("b", "a")
    unclear = {"a": Interval(2, 1, 4), "b": Interval(5, 4, 6)}
    assert (largest(unclear), smallest(unclear)) == (None, None)
    unknown = {"a": Interval.unknown(), "b": Interval(5, 4, 6)}
    assert (largest(unknown), smallest(unknown)) == (None, None)
