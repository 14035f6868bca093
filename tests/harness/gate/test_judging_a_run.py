"""What a run finds, from the ratios of its pairs of processes."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from gate_runs import RUN

from harness.gate import measuring
from harness.gate.measuring import Report, judge
from harness.gate.outcomes import BenchmarkOutcome, Change, GateVerdict
from harness.gate.settings import GateBenchmark
from harness.gate.verdicts import PAIRS, decide, interval, most_pairs
from harness.gate.worker_process import BenchmarkError
from harness.paired.decide import Estimate

SLOWER, SAME, FASTER, UNDECIDED = GateVerdict.SLOWER, GateVerdict.SAME, GateVerdict.FASTER, GateVerdict.UNDECIDED
VOID = GateVerdict.VOID
BENCHMARK = GateBenchmark("test_work")


class Planned:
    """Measurements with these verdicts, one after the other."""

    def __init__(self, *verdicts: GateVerdict) -> None:
        self._verdicts = list(verdicts)

    def __call__(self, benchmarks: Sequence[GateBenchmark], _: Report) -> dict[str, BenchmarkOutcome]:
        change = Change(0.0, -0.001, 0.001)
        return {one.name: BenchmarkOutcome(one.name, self._verdicts.pop(0), change) for one in benchmarks}


@pytest.mark.parametrize(
    ("measured", "control", "found"),
    [
        ((SAME,), (SAME,), SAME),
        ((SLOWER, SLOWER), (SAME,), SLOWER),
        ((SLOWER, SAME), (SAME,), SAME),
        ((SLOWER, FASTER), (SAME,), UNDECIDED),
        ((SLOWER, UNDECIDED), (SAME,), UNDECIDED),
        ((SLOWER, SLOWER), (FASTER, SLOWER), SLOWER),
        ((SLOWER, SLOWER), (SLOWER, SLOWER), VOID),
    ],
)
def test_only_two_measurements_that_agree_are_slower_and_only_two_controls_that_agree_void_a_run(
    measured: tuple[GateVerdict, ...], control: tuple[GateVerdict, ...], found: GateVerdict
) -> None:
    outcomes, controls = judge([BENCHMARK], Planned(*measured), Planned(*control), lambda _: None)
    assert [one.verdict for one in outcomes] == [found]
    assert [one.failed for one in controls] == [found is VOID]


@pytest.mark.parametrize(
    ("kind", "is_base", "verdict"),
    [
        ("ended", True, GateVerdict.FAILED),
        ("raised", True, GateVerdict.NEW),
        ("ended", False, GateVerdict.BROKEN),
        ("skipped", False, GateVerdict.SKIPPED),
    ],
)
def test_only_a_problem_of_this_tree_is_a_broken_benchmark(kind: str, is_base: bool, verdict: GateVerdict) -> None:
    assert measuring._problem("test_work", BenchmarkError(kind, "It is known.", is_base=is_base)).verdict is verdict


def test_a_strict_run_is_red_only_if_an_undecided_benchmark_may_be_slower() -> None:
    run = replace(RUN, strict=True, controls=())
    for change, is_red in ((Change(0.0, -0.1, 0.02), False), (Change(0.0, -0.1, 0.04), True), (None, True)):
        assert run.is_red(BenchmarkOutcome("test_work", UNDECIDED, change)) is is_red
        assert not RUN.is_red(BenchmarkOutcome("test_work", UNDECIDED, change))


@pytest.mark.parametrize(("ratio", "index"), [(0.9, 0), (1.0, 1), (1.2, 2)])
def test_a_clear_verdict_needs_the_fewest_pairs(ratio: float, index: int) -> None:
    estimate, found = decide(lambda first, end: [[ratio]] * (end - first), 0.01, 0.01)
    assert (estimate.pairs, found) == (PAIRS[0], index)


@pytest.mark.parametrize(("fitting", "taken"), [(9.9, 10), (10.9, 10), (25.4, 25), (79.0, 79), (math.inf, PAIRS[-1])])
def test_an_unclear_verdict_ends_with_the_time_or_with_the_most_pairs(fitting: float, taken: int) -> None:
    def ratios(first: int, end: int) -> list[list[float]]:
        return [[1.01 ** (1 + number * 7 % 11 - 5)] for number in range(first, end)]

    estimate, index = decide(ratios, 0.01, 0.01, lambda _: fitting)
    assert (estimate.pairs, index) == (taken, None)


@pytest.mark.parametrize(
    ("ratio", "in_limit", "in_more", "taken"),
    [(0.985, 12, 36, 36), (0.995, 12, 36, 20), (0.995, 4, 12, 12), (1.1, 30, 90, 30), (0.985, 12, math.inf, math.inf)],
)
def test_slow_calls_and_what_seems_slower_get_more_pairs_than_fit_into_the_limit(
    ratio: float, in_limit: float, in_more: float, taken: float
) -> None:
    assert most_pairs(Estimate(ratio, 0.9, 1.1, 100, 10), 0.01, in_limit, in_more) == taken


def test_all_looks_of_a_measurement_together_keep_its_error_rate() -> None:
    rng, true, wrong = random.Random(1), 1.03, 0
    for _ in range(1000):
        taken = [[true * math.exp(rng.choice((0.001, 0.1)) * rng.uniform(-1, 1))] for _ in range(PAIRS[-1])]
        wrong += any(interval(taken[:pairs], error=0.01).low > true for pairs in PAIRS)
    assert wrong <= 17  # 10 are expected, or fewer
