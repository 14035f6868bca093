import math
import random
import subprocess
import sys
from pathlib import Path
from statistics import NormalDist, median

import pytest

from harness.paired.decide import (
    BENEFIT,
    LOOK_GROWTH,
    OUTLIER_RATE,
    Estimate,
    MeasurementError,
    Rules,
    _deviations,
    estimate,
    highest_tier_index,
    majority_error,
    tier_index,
)

TIERS = (2.0, 4.0)
ONE_LOOK = Rules(max_pairs=5, cap_s=0.35)
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "decisions.py"


def width(known: Estimate) -> float:
    return math.log(known.high / known.low)


def scattered(rng: random.Random, pairs: int, rounds: int, sd: float = 0.03) -> list[list[float]]:
    return [[3.0 * rng.lognormvariate(0, sd) for _ in range(rounds)] for _ in range(pairs)]


def test_two_outliers_of_five_pairs_keep_the_interval_right_and_three_do_not() -> None:
    assert majority_error(5, 0.0) == 0.0
    assert majority_error(5, 0.5) == pytest.approx(0.5)
    assert majority_error(5, 0.1) == pytest.approx(10 * 0.1**3 * 0.9**2 + 5 * 0.1**4 * 0.9 + 0.1**5)
    assert ONE_LOOK.looks == 1
    tail = 1 - NormalDist().cdf(_deviations(5, ONE_LOOK))
    assert majority_error(5, tail + OUTLIER_RATE) == pytest.approx(ONE_LOOK.error_rate / 2, rel=1e-6)
    tail = 1 - NormalDist().cdf(_deviations(5, Rules()))
    assert [majority_error(5, tail + wild) for wild in (tail, 0.05, 0.1)] == pytest.approx(
        [0.00036, 0.0027, 0.0133], rel=0.05
    )
    assert estimate([[3.0] * 30] * 3 + [[3.6] * 30] * 2).high < 3.1
    assert estimate([[3.0] * 30] * 2 + [[3.6] * 30] * 3).low > 3.1


def test_each_look_gets_an_equal_part_of_the_error_rate() -> None:
    assert (_deviations(5, ONE_LOOK), _deviations(5, Rules())) == pytest.approx((1.53, 2.13), abs=0.005)
    many = Rules(max_pairs=5, cap_s=0.35 * LOOK_GROWTH**9)
    assert many.looks == 10
    equal = Rules(max_pairs=5, cap_s=0.35, error_rate=many.error_rate / 10)
    assert _deviations(5, many) == pytest.approx(_deviations(5, equal))


def test_too_few_pairs_or_rounds_give_no_interval_and_no_verdict_however_clear() -> None:
    known = estimate([[3.0] * 500] * 4)
    assert (known.low, known.high) == (0.0, math.inf)
    assert tier_index(known, TIERS) is None
    assert tier_index(known, ()) is None
    with pytest.raises(MeasurementError, match="too few for an interval"):
        highest_tier_index(known, TIERS)
    assert not estimate([[3.0] * 4] * 5).bounded
    assert estimate([[3.0] * 5] * 5).bounded


def test_pairs_that_disagree_widen_the_interval_by_their_own_spread() -> None:
    agreeing = estimate([[3.0] * 30] * 5)
    disagreeing = estimate([[ratio] * 30 for ratio in (2.8, 2.9, 3.0, 3.1, 3.2)])
    assert width(disagreeing) > 3 * width(agreeing)


def test_more_rounds_and_more_pairs_narrow_the_interval_around_the_median_of_the_pairs_medians() -> None:
    pairs = scattered(random.Random(6), pairs=9, rounds=400)
    samples = [[pair[:12] for pair in pairs[:5]], [pair[:50] for pair in pairs[:5]], pairs[:5], pairs]
    found = [estimate(sample) for sample in samples]
    assert [known.ratio for known in found] == pytest.approx([median(map(median, each)) for each in samples], rel=1e-4)
    assert [known.rounds for known in found] == [60, 250, 2000, 3600]
    widths = list(map(width, found))
    assert widths == sorted(widths, reverse=True)


def test_correlated_rounds_widen_the_interval_compared_with_shuffled_rounds() -> None:
    rng = random.Random(7)
    pairs = scattered(rng, pairs=5, rounds=60)
    in_waves = [sorted(pair[:30]) + sorted(pair[30:], reverse=True) for pair in pairs]
    assert width(estimate(in_waves)) > 2 * width(estimate(pairs))


def test_noise_on_one_side_widens_the_other_end_only() -> None:
    rng = random.Random(8)
    known = estimate([[3.0 * math.exp(rng.expovariate(1 / 0.1)) for _ in range(30)] for _ in range(5)])
    assert math.log(known.ratio / known.low) > 1.2 * math.log(known.high / known.ratio)


def test_a_tier_index_needs_the_whole_interval_and_a_threshold_met_exactly_is_reached() -> None:
    reached = {(1.1, 1.9): 0, (2.0, 3.9): 1, (4.1, 9.0): 2, (1.9, 2.1): None, (1.9, 4.1): None, (1.9, 2.0): None}
    known = {ends: Estimate(sum(ends) / 2, *ends, rounds=40, pairs=5) for ends in reached}
    assert {ends: tier_index(estimated, TIERS) for ends, estimated in known.items()} == reached
    assert highest_tier_index(known[1.9, 2.1], TIERS) == 1


def test_the_benefit_does_not_reach_a_threshold_far_above_the_ratio() -> None:
    """A candidate that makes its own rounds noisy widens its interval, but does not reach a higher tier."""
    restless = Estimate(0.9, 0.5, 4.5, rounds=40, pairs=5)
    assert tier_index(restless, TIERS) is None
    assert highest_tier_index(restless, TIERS) == 0
    below = Estimate(1.9, 0.5, 4.5, rounds=40, pairs=5)
    assert [highest_tier_index(below, TIERS, benefit) for benefit in (BENEFIT, 1.06, 1.05, 1.0)] == [1, 1, 0, 0]


def test_impossible_ratios_no_rounds_impossible_rules_and_thresholds_that_do_not_ascend_are_errors() -> None:
    for ratio in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(MeasurementError, match="positive"):
            estimate([[1.0, ratio, 1.0]])
    with pytest.raises(MeasurementError, match="no rounds"):
        estimate([[], []])
    for thresholds in [(2.0, 2.0), (4.0, 2.0), (0.0, 1.0), (-1.0,), (math.nan,), (math.inf,)]:
        with pytest.raises(MeasurementError, match="ascending"):
            tier_index(estimate([[3.0] * 30] * 5), thresholds)
    wrong = {"error_rate": 1.0, "layout_sd": 0.0, "slice_s": 0.0, "cap_s": -1.0, "max_pairs": 2, "min_rounds": 0}
    for name, value in wrong.items():
        with pytest.raises(MeasurementError, match="Give"):
            Rules(**{"min_pairs": 3, name: value})  # type: ignore[arg-type]  # on purpose


@pytest.mark.long
def test_no_rate_of_wrong_verdicts_on_simulated_machines_is_above_the_guaranteed_one() -> None:
    script = [sys.executable, str(SCRIPT), "--jobs", "1", "--verdicts", "500"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
