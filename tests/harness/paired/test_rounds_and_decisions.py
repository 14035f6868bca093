"""Rounds of pairs of processes, and the ratio, interval and tier that follow from them."""

import dataclasses
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from harness.paired.decide import (
    BENEFIT,
    DEFAULT,
    Estimate,
    MeasurementError,
    Rules,
    estimate,
    highest_tier_index,
    majority_error,
    tier_index,
)
from harness.paired.rounds import MOST_OPEN, Pair, Reading, Round, contest, judge, make_reading

TIERS = (2.0, 4.0)


def round_of(ratio: float, pair: int = 0, wall_stretch: float = 1.0) -> Round:
    """Return a round of 10 ms for both sides together, so that seven rounds fill a slice of 0.07 s."""
    candidate_s = 0.01 / (1 + ratio)
    return Round(
        pair,
        Reading(candidate_s * ratio, candidate_s * ratio),
        Reading(candidate_s, candidate_s * wall_stretch),
        baseline_first=True,
    )


@dataclass
class FakePairs:
    """Fake pairs of processes. The ratios of their rounds of 10 ms are `ratios`, again and again."""

    ratios: tuple[float, ...]
    wall_stretch: float = 1.0
    opened: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    orders: list[bool] = field(default_factory=list)
    most_open: int = 0

    @contextmanager
    def open(self, number: int) -> Iterator[Pair]:
        self.opened.append(number)
        self.most_open = max(self.most_open, len(self.opened) - len(self.closed))
        try:
            yield FakePair(self, number)
        finally:
            self.closed.append(number)


@dataclass
class FakePair:
    pairs: FakePairs
    number: int
    played: int = 0

    def play(self, *, baseline_first: bool) -> Round:
        self.pairs.orders.append(baseline_first)
        ratio = self.pairs.ratios[self.played % len(self.pairs.ratios)]
        played = round_of(ratio, self.number, self.pairs.wall_stretch)
        self.played += 1
        return dataclasses.replace(played, baseline_first=baseline_first)


def test_a_clear_ratio_is_decided_by_five_pairs_of_one_slice_and_every_pair_is_closed() -> None:
    pairs = FakePairs((3.0,))
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.tier_index == 1
    assert sorted(pairs.closed) == pairs.opened == [0, 1, 2, 3, 4]
    counts = Counter(round_.pair for round_ in outcome.rounds)
    assert list(counts) == pairs.opened
    assert set(counts.values()) <= {7, 8}  # rounding may make a sum of hundredths slightly shorter than a slice
    assert outcome.estimate.ratio == pytest.approx(3.0)
    short = contest(pairs.open, TIERS, Rules(slice_s=1e-6, cap_s=1e-6), rng=random.Random(1))
    assert len(short.rounds) == DEFAULT.min_pairs * DEFAULT.min_rounds, "the smallest number, beyond the time limit"


def test_at_a_threshold_it_measures_to_the_time_limit_and_gives_the_higher_tier_index() -> None:
    pairs = FakePairs((2.0,))
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.undecided
    assert outcome.tier_index is None
    assert outcome.highest_tier_index() == 1
    spent_s = sum(round_.wall_s for round_ in outcome.rounds)
    assert DEFAULT.cap_s <= spent_s < DEFAULT.cap_s + 2 * DEFAULT.slice_s
    assert pairs.opened == list(range(DEFAULT.max_pairs))
    counts = Counter(round_.pair for round_ in outcome.rounds)
    assert max(counts.values()) - min(counts.values()) <= 8, "all pairs continue equally"


def test_there_are_no_more_looks_than_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def looking(ratios: Sequence[Sequence[float]], rules: Rules) -> Estimate:
        looks.append(sum(map(len, ratios)))
        return estimate(ratios, rules)

    monkeypatch.setattr("harness.paired.rounds.estimate", looking)
    rules = Rules(slice_s=0.01)
    contest(FakePairs((2.0,)).open, TIERS, rules, rng=random.Random(1))
    assert len(looks) <= rules.looks
    assert all(later >= 1.2 * earlier for earlier, later in pairwise(looks[:-1]))


def test_with_many_pairs_each_slice_has_a_new_one_and_the_oldest_ends() -> None:
    pairs = FakePairs((2.0,))
    outcome = contest(pairs.open, TIERS, Rules(max_pairs=30, slice_s=0.05, cap_s=1.0), rng=random.Random(1))
    assert outcome.estimate.pairs > MOST_OPEN
    assert pairs.opened == sorted(pairs.closed) == list(range(outcome.estimate.pairs))
    assert pairs.most_open == MOST_OPEN


def test_pairs_that_start_slowly_are_used_again_instead_of_new_ones() -> None:
    clock = iter(float(second) for second in range(1000))
    pairs = FakePairs((2.0,))
    rules = Rules(max_pairs=30, slice_s=0.05, cap_s=1.0)
    outcome = contest(pairs.open, TIERS, rules, rng=random.Random(1), wall=lambda: next(clock))
    assert pairs.opened == list(range(MOST_OPEN))
    assert sum(round_.wall_s for round_ in outcome.rounds) >= rules.cap_s


def test_the_secret_generator_draws_which_side_begins() -> None:
    first, again, other = (FakePairs((3.0,)) for _ in range(3))
    for pairs, seed in ((first, 1), (again, 1), (other, 2)):
        contest(pairs.open, TIERS, rng=random.Random(seed))
    assert first.orders == again.orders != other.orders
    assert 8 <= sum(first.orders) <= 32  # of 35 to 40


def test_a_fast_candidate_that_waits_as_long_as_the_baseline_hides_no_work() -> None:
    """Beside a busy program, a call of 0.3 ms waits 4 ms for its core, like a call of 5 ms of the baseline."""
    baseline, fast_s = Reading(5e-3, 9e-3, waited_s=4e-3), 0.34e-3
    honest = Round(0, baseline, Reading(fast_s, fast_s + 4e-3, waited_s=4e-3), baseline_first=True)
    asleep = Round(0, baseline, Reading(fast_s, fast_s + 4e-3), baseline_first=True)
    assert not judge([honest] * 5, TIERS).hidden_work
    assert judge([honest] * 5, TIERS).estimate.ratio == pytest.approx(5 / 0.34)
    assert judge([asleep] * 5, TIERS).hidden_work
    assert not judge([honest, honest, asleep], TIERS).hidden_work  # a single long round is an accident
    assert judge([asleep] * 5, TIERS).estimate.ratio == pytest.approx(5 / 4.34)
    assert honest.wall_s == pytest.approx(9e-3 + 4.34e-3)  # the time limit of a contest includes the waiting


def test_the_ratio_can_be_that_of_wall_times_and_is_per_call() -> None:
    pairs = FakePairs((3.0,), wall_stretch=1.25)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1), by_wall=True)
    assert outcome.estimate.ratio == pytest.approx(2.4)
    assert not outcome.hidden_work
    one = Round(0, Reading(0.01, 0.02, calls=10), Reading(0.01, 0.01, calls=30), baseline_first=False)
    assert one.ratio == pytest.approx(3.0)
    assert one.wall_ratio == pytest.approx(6.0)


def test_a_time_that_no_turn_can_take_is_refused_and_a_turn_never_waits_longer_than_it_did_not_compute() -> None:
    for waited_s, kept_s in [(0.003, 0.003), (0.02, 0.006), (-0.001, 0.0)]:
        reading = make_reading(0.004, 0.01, 2, waited_s)
        assert reading.waited_s == pytest.approx(kept_s)
        assert reading.call_s(by_wall=True) == pytest.approx((0.01 - kept_s) / 2)
    for seconds in (0.0, -1e-9, math.nan, math.inf):
        with pytest.raises(MeasurementError, match="CPU clock"):
            Reading(seconds, 1.0)
        with pytest.raises(MeasurementError, match="wall clock"):
            Reading(1.0, seconds)
    with pytest.raises(MeasurementError, match=r"cannot wait 0\.01 s for its core"):
        Reading(0.01, 0.01, waited_s=0.01)


SCRIPT = Path(__file__).parents[2] / "benchmarks" / "decisions.py"


def width(known: Estimate) -> float:
    return math.log(known.high / known.low)


def scattered(rng: random.Random, pairs: int, rounds: int, sd: float = 0.03) -> list[list[float]]:
    return [[3.0 * rng.lognormvariate(0, sd) for _ in range(rounds)] for _ in range(pairs)]


def test_two_outliers_of_five_pairs_keep_the_interval_right_and_three_do_not() -> None:
    assert majority_error(5, 0.0) == 0.0
    assert majority_error(5, 0.5) == pytest.approx(0.5)
    assert majority_error(5, 0.1) == pytest.approx(10 * 0.1**3 * 0.9**2 + 5 * 0.1**4 * 0.9 + 0.1**5)
    assert estimate([[3.0] * 30] * 3 + [[3.6] * 30] * 2).high < 3.1
    assert estimate([[3.0] * 30] * 2 + [[3.6] * 30] * 3).low > 3.1


def test_too_few_pairs_or_rounds_give_no_interval_and_no_verdict_however_clear() -> None:
    known = estimate([[3.0] * 500] * 4)
    assert (known.low, known.high) == (0.0, math.inf)
    assert tier_index(known, TIERS) is None
    with pytest.raises(MeasurementError, match="too few for an interval"):
        highest_tier_index(known, TIERS)
    assert not estimate([[3.0] * 4] * 5).bounded
    assert estimate([[3.0] * 5] * 5).bounded


def test_pairs_that_disagree_widen_the_interval_by_their_own_spread() -> None:
    agreeing = estimate([[3.0] * 30] * 5)
    disagreeing = estimate([[ratio] * 30 for ratio in (2.8, 2.9, 3.0, 3.1, 3.2)])
    assert width(disagreeing) > 3 * width(agreeing)


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
    for thresholds in [(2.0, 2.0), (4.0, 2.0), (0.0, 1.0), (math.nan,)]:
        with pytest.raises(MeasurementError, match="ascending"):
            tier_index(estimate([[3.0] * 30] * 5), thresholds)
    with pytest.raises(MeasurementError, match="Give"):
        Rules(error_rate=1.0)


@pytest.mark.long
def test_no_rate_of_wrong_verdicts_on_simulated_machines_is_above_the_guaranteed_one() -> None:
    script = [sys.executable, str(SCRIPT), "--verdicts", "500"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
