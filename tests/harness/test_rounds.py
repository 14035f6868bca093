import dataclasses
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from harness.decide import DEFAULT, MeasurementError, Rules
from harness.rounds import Pair, Reading, Round, contest, judge, wall_ratio, works_out_of_sight

TIERS = (2.0, 4.0)


def round_of(ratio: float, pair: int = 0, wall_stretch: float = 1.0) -> Round:
    """12.5 ms for both sides together, so that ten rounds fill a slice of 0.12 s."""
    candidate_s = 0.0125 / (1 + ratio)
    return Round(
        pair,
        Reading(candidate_s * ratio, candidate_s * ratio),
        Reading(candidate_s, candidate_s * wall_stretch),
        baseline_first=True,
    )


@dataclass
class FakePairs:
    """Pairs that play what `ratio_of` says for a pair's number and a round's, 12.5 ms a round."""

    ratio_of: Callable[[int, int], float]
    wall_stretch: float = 1.0
    opened: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    orders: list[bool] = field(default_factory=list)

    @contextmanager
    def open(self, number: int) -> Iterator[Pair]:
        self.opened.append(number)
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
        played = round_of(self.pairs.ratio_of(self.number, self.played), self.number, self.pairs.wall_stretch)
        self.played += 1
        return dataclasses.replace(played, baseline_first=baseline_first)


def test_a_clear_ratio_is_decided_by_three_pairs_of_one_slice() -> None:
    pairs = FakePairs(lambda _pair, _round: 3.0)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.cell == 1
    assert pairs.opened == [0, 1, 2]
    assert [round_.pair for round_ in outcome.rounds] == [0] * 10 + [1] * 10 + [2] * 10
    assert outcome.estimate.ratio == pytest.approx(3.0)


def test_every_pair_is_closed() -> None:
    pairs = FakePairs(lambda _pair, _round: 3.0)
    contest(pairs.open, TIERS, rng=random.Random(1))
    assert sorted(pairs.closed) == pairs.opened


def test_every_pair_is_closed_when_one_fails() -> None:
    def fail(pair: int, played: int) -> float:
        if (pair, played) == (1, 5):
            raise OSError("the worker is gone")
        return 3.0

    pairs = FakePairs(fail)
    with pytest.raises(OSError, match="the worker is gone"):
        contest(pairs.open, TIERS, rng=random.Random(1))
    assert sorted(pairs.closed) == pairs.opened == [0, 1]


def test_at_a_threshold_it_plays_to_the_cap_and_the_higher_cell_is_left() -> None:
    pairs = FakePairs(lambda _pair, _round: 2.0)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.undecided
    assert outcome.cell is None
    assert outcome.upper_cell == 1
    spent_s = sum(round_.wall_s for round_ in outcome.rounds)
    assert DEFAULT.cap_s <= spent_s < DEFAULT.cap_s + 2 * DEFAULT.slice_s
    assert pairs.opened == list(range(DEFAULT.max_pairs))


def test_scattered_rounds_make_the_same_pairs_play_on() -> None:
    pairs = FakePairs(lambda _pair, played: (1.8, 1.95, 2.1)[played % 3])
    outcome = contest(pairs.open, TIERS, Rules(cap_s=1.0), rng=random.Random(1))
    assert outcome.undecided
    assert pairs.opened == [0, 1, 2]
    counts = [sum(round_.pair == pair for round_ in outcome.rounds) for pair in pairs.opened]
    assert max(counts) - min(counts) <= 10


def test_pairs_that_disagree_make_it_ask_for_more_pairs() -> None:
    pairs = FakePairs(lambda pair, _round: (2.05, 2.12, 2.2)[pair] if pair < 3 else 2.12)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.cell == 1
    assert len(pairs.opened) > 3


def test_the_least_evidence_is_played_beyond_the_cap() -> None:
    pairs = FakePairs(lambda _pair, _round: 3.0, wall_stretch=2.0)
    outcome = contest(pairs.open, TIERS, Rules(slice_s=1e-6, cap_s=1e-6), rng=random.Random(1))
    assert outcome.cell == 1
    assert len(outcome.rounds) == DEFAULT.min_pairs * DEFAULT.min_rounds


def test_who_begins_is_drawn_from_the_secret_generator() -> None:
    first, again, other = (FakePairs(lambda _pair, _round: 3.0) for _ in range(3))
    for pairs, seed in ((first, 1), (again, 1), (other, 2)):
        contest(pairs.open, TIERS, rng=random.Random(seed))
    assert first.orders == again.orders != other.orders
    assert 8 <= sum(first.orders) <= 22  # of 30


def test_judging_the_record_repeats_the_verdict() -> None:
    scatter = random.Random(3)
    pairs = FakePairs(lambda _pair, _round: 2.6 * scatter.lognormvariate(0, 0.05))
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert judge(outcome.rounds, TIERS) == outcome


def test_a_sleeper_is_judged_by_the_wall_clock() -> None:
    pairs = FakePairs(lambda _pair, _round: 3.0, wall_stretch=10.0)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1))
    assert outcome.hidden_work
    assert outcome.cell == 0
    assert outcome.estimate.ratio == pytest.approx(0.3)


def test_neighbours_that_stretch_both_sides_are_not_hidden_work() -> None:
    busy = Round(0, Reading(0.01, 0.04), Reading(0.005, 0.025), baseline_first=True)
    assert not works_out_of_sight([busy] * 5)
    sleeping = Round(0, Reading(0.01, 0.04), Reading(0.005, 0.065), baseline_first=True)
    assert works_out_of_sight([sleeping] * 5)
    assert not works_out_of_sight([busy, busy, sleeping])  # one stretched round is bad luck
    assert not works_out_of_sight([])


def test_wall_time_can_be_what_counts() -> None:
    pairs = FakePairs(lambda _pair, _round: 3.0, wall_stretch=1.25)
    outcome = contest(pairs.open, TIERS, rng=random.Random(1), ratio_of=wall_ratio)
    assert outcome.estimate.ratio == pytest.approx(2.4)
    assert not outcome.hidden_work


def test_ratios_are_per_call() -> None:
    one = Round(0, Reading(0.01, 0.02, calls=10), Reading(0.01, 0.01, calls=30), baseline_first=False)
    assert one.ratio == pytest.approx(3.0)
    assert one.wall_ratio == pytest.approx(6.0)


@pytest.mark.parametrize("seconds", [0.0, -1e-9, math.nan, math.inf])
def test_a_time_that_no_turn_can_take_is_refused(seconds: float) -> None:
    with pytest.raises(MeasurementError, match="CPU clock"):
        Reading(seconds, 1.0)
    with pytest.raises(MeasurementError, match="wall clock"):
        Reading(1.0, seconds)


def test_a_turn_without_calls_is_refused() -> None:
    with pytest.raises(MeasurementError, match="0 calls"):
        Reading(1.0, 1.0, calls=0)


def test_judging_nothing_is_an_error() -> None:
    with pytest.raises(MeasurementError, match="no rounds"):
        judge([], TIERS)
