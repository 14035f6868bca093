import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from harness.decide import Estimate, MeasurementError, Rules, cell, estimate, upper_cell

Noise = Callable[[random.Random, int], float]
Layout = Callable[[random.Random], float]

TIERS = (2.0, 4.0)


def independent(rng: random.Random, _: int) -> float:
    return rng.gauss(0, 0.02)


def heavy_tailed(rng: random.Random, _: int) -> float:
    """Student's t with two degrees of freedom: no variance."""
    return 0.01 * rng.gauss(0, 1) / math.sqrt(max(rng.expovariate(1.0), 1e-12))


def drifting(rng: random.Random, i: int) -> float:
    """A machine that speeds up and slows down; most of it cancels within a round."""
    return rng.gauss(0, 0.01) + 0.005 * math.sin(i / 7)


def skewed(rng: random.Random, _: int) -> float:
    """Interruptions hit one side only; the median is 0, the mean is not."""
    return rng.expovariate(1 / 0.02) - 0.02 * math.log(2)


def usual_layout(rng: random.Random) -> float:
    return rng.gauss(0, 0.005)


def sometimes_wild_layout(rng: random.Random) -> float:
    """One pair in twenty is off by 3 to 8 %."""
    wild = rng.random() < 0.05
    return usual_layout(rng) + (rng.choice((-1, 1)) * rng.uniform(0.03, 0.08) if wild else 0.0)


def looks(ratio: float, noise: Noise, layout: Layout, rng: random.Random, rules: Rules) -> list[Estimate]:
    """Every estimate on the way: slices of twelve rounds on each of three pairs, then where it helps."""
    offsets: list[float] = []
    pairs: list[list[float]] = []
    seen: list[Estimate] = []
    while sum(map(len, pairs)) < 300:
        noisy = bool(seen) and seen[-1].noisy
        if len(pairs) < rules.min_pairs or (len(pairs) < rules.max_pairs and not noisy):
            pairs.append([])
            offsets.append(math.log(ratio) + layout(rng))
        turn = min(range(len(pairs)), key=lambda j: len(pairs[j]))
        start = len(pairs[turn])
        pairs[turn] += [math.exp(offsets[turn] + noise(rng, start + i)) for i in range(12)]
        seen.append(estimate(pairs, rules))
    return seen


def verdict(ratio: float, noise: Noise, layout: Layout, rng: random.Random) -> tuple[int | None, int]:
    """The first clear cell of a run, or None, and the rounds it took."""
    rules = Rules()
    for known in looks(ratio, noise, layout, rng, rules):
        if (found := cell(known, TIERS)) is not None:
            return found, known.rounds
    return None, known.rounds


@pytest.mark.parametrize("noise", [independent, heavy_tailed, drifting, skewed])
@pytest.mark.parametrize("layout", [usual_layout, sometimes_wild_layout])
def test_five_percent_from_a_tier_verdicts_are_right(noise: Noise, layout: Layout) -> None:
    rng = random.Random(1)
    below = Counter(verdict(2.0 / 1.05, noise, layout, rng)[0] for _ in range(150))
    above = Counter(verdict(2.0 * 1.05, noise, layout, rng)[0] for _ in range(150))
    assert below[1] + below[2] + above[0] + above[2] <= 3  # at most 1 % of 300, and 0 was seen
    assert below[0] >= 140
    assert above[1] >= 140


@pytest.mark.parametrize("noise", [independent, heavy_tailed, drifting, skewed])
def test_far_from_every_tier_three_slices_are_enough(noise: Noise) -> None:
    rng = random.Random(2)
    runs = [verdict(2.8, noise, usual_layout, rng) for _ in range(200)]
    assert {found for found, _ in runs} == {1}
    assert {rounds for _, rounds in runs} == {36}


@pytest.mark.parametrize("noise", [independent, heavy_tailed, skewed])
def test_the_interval_holds_the_truth_at_every_look(noise: Noise) -> None:
    rng = random.Random(3)
    # A rate of 1 % can be told from 5 % by 400 runs; it must hold where layout is exactly as bad as allowed.
    missed = sum(
        any(not known.low <= 2.0 <= known.high for known in looks(2.0, noise, usual_layout, rng, Rules()))
        for _ in range(400)
    )
    assert missed <= 8


def test_peeking_with_a_plain_interval_would_have_missed_the_truth() -> None:
    """The simulation has teeth: an interval that is right for one look is wrong for many."""
    rng = random.Random(4)
    missed = 0
    for _ in range(200):
        rounds: list[float] = []
        for _ in range(20):
            rounds += [independent(rng, 0) for _ in range(12)]
            mean = sum(rounds) / len(rounds)
            if abs(mean) > 1.96 * 0.02 / math.sqrt(len(rounds)):
                missed += 1
                break
    assert missed > 20


def test_the_ratio_is_the_median_of_the_pairs_medians() -> None:
    known = estimate([[1.0, 2.0, 9.0], [3.0, 3.0, 3.0], [4.0, 5.0, 50.0]])
    assert known.ratio == pytest.approx(3.0)
    assert (known.rounds, known.pairs) == (9, 3)


def test_turning_a_duel_around_turns_the_interval_around() -> None:
    rng = random.Random(5)
    pairs = [[rng.lognormvariate(0.1, 0.05) for _ in range(40)] for _ in range(4)]
    known, turned = estimate(pairs), estimate([[1 / ratio for ratio in pair] for pair in pairs])
    assert turned.low == pytest.approx(1 / known.high)
    assert turned.high == pytest.approx(1 / known.low)


def test_two_pairs_are_no_verdict_however_clear() -> None:
    known = estimate([[3.0] * 500] * 2)
    assert (known.low, known.high) == (0.0, math.inf)
    assert cell(known, TIERS) is None
    assert cell(known, ()) is None


def test_eight_rounds_a_pair_bound_nothing_and_nine_do() -> None:
    assert not estimate([[3.0] * 8] * 3).bounded
    assert estimate([[3.0] * 9] * 3).bounded


def test_a_wild_pair_is_outvoted() -> None:
    calm = [[3.0] * 30] * 3
    with_wild = estimate([*calm, [3.6] * 30])
    assert with_wild.high < 3.1


def test_pairs_that_disagree_widen_the_interval() -> None:
    agreeing = estimate([[3.0] * 30] * 3)
    disagreeing = estimate([[2.9] * 30, [3.0] * 30, [3.1] * 30])
    assert disagreeing.high - disagreeing.low > 3 * (agreeing.high - agreeing.low)
    assert not disagreeing.noisy  # more rounds would not help, more pairs would


def test_scattered_rounds_call_for_more_rounds_rather_than_pairs() -> None:
    assert estimate([[2.0, 3.0, 4.0] * 4] * 3).noisy


def test_more_rounds_and_more_pairs_narrow_the_interval() -> None:
    rng = random.Random(6)
    pairs = [[rng.lognormvariate(1.0, 0.02) for _ in range(400)] for _ in range(6)]
    widths = [
        math.log(known.high / known.low)
        for known in (
            estimate([pair[:12] for pair in pairs[:3]]),
            estimate([pair[:50] for pair in pairs[:3]]),
            estimate(pairs[:3]),
            estimate(pairs),
        )
    ]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("low", "high", "reached"),
    [(1.1, 1.9, 0), (2.0, 3.9, 1), (4.1, 9.0, 2), (1.9, 2.1, None), (1.9, 4.1, None), (1.9, 2.0, None)],
)
def test_a_cell_needs_the_whole_interval_and_a_threshold_met_exactly_is_reached(
    low: float, high: float, reached: int | None
) -> None:
    assert cell(Estimate((low + high) / 2, low, high, rounds=40, pairs=3, allowance=0.01), TIERS) == reached


def test_what_stays_open_goes_to_the_higher_cell() -> None:
    straddling = Estimate(2.0, 1.9, 2.1, rounds=40, pairs=3, allowance=0.01)
    assert upper_cell(straddling, TIERS) == 1


def test_without_an_interval_nobody_gets_the_benefit_of_the_doubt() -> None:
    with pytest.raises(MeasurementError, match="bound no ratio"):
        upper_cell(estimate([[3.0] * 5] * 3), TIERS)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_an_impossible_ratio_is_an_error(ratio: float) -> None:
    with pytest.raises(MeasurementError, match="positive"):
        estimate([[1.0, ratio, 1.0]])


@pytest.mark.parametrize("ratios", [[], [[]], [[], []]])
def test_no_rounds_are_an_error(ratios: list[list[float]]) -> None:
    with pytest.raises(MeasurementError, match="no rounds"):
        estimate(ratios)


@pytest.mark.parametrize("thresholds", [(2.0, 2.0), (4.0, 2.0), (0.0, 1.0), (-1.0,), (math.nan,), (math.inf,)])
def test_thresholds_must_ascend(thresholds: tuple[float, ...]) -> None:
    with pytest.raises(MeasurementError, match="ascending"):
        cell(estimate([[3.0] * 30] * 3), thresholds)


@pytest.mark.parametrize(
    "broken",
    [
        {"error_rate": 0.0},
        {"error_rate": 1.0},
        {"layout_sd": 0.0},
        {"slice_s": 0.0},
        {"cap_s": -1.0},
        {"min_pairs": 0},
        {"min_pairs": 9, "max_pairs": 3},
        {"min_rounds": 0},
    ],
)
def test_rules_that_allow_no_verdict_are_refused(broken: dict[str, float]) -> None:
    with pytest.raises(MeasurementError, match="Give"):
        Rules(**broken)  # type: ignore[arg-type]  # on purpose
