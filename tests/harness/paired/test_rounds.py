import dataclasses
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from harness.paired.decide import DEFAULT, Estimate, MeasurementError, Rules, estimate
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


@pytest.mark.parametrize("slice_s", [0.01, 0.07, 0.3])
def test_there_are_no_more_looks_than_planned(slice_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    def looking(ratios: Sequence[Sequence[float]], rules: Rules) -> Estimate:
        looks.append(sum(map(len, ratios)))
        return estimate(ratios, rules)

    monkeypatch.setattr("harness.paired.rounds.estimate", looking)
    rules = Rules(slice_s=slice_s)
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
    with pytest.raises(MeasurementError, match="no rounds"):
        judge([], TIERS)
