"""Timing loops, calibrated blocks, the noise in a series of blocks, and duels."""

import json
import math
import random
import re
from functools import partial

import pytest

from harness.errors import UsageError
from harness.machine.clocks import FakeClock
from harness.paired.blocks import BLOCK_S, TimedCode, calibrate, loop_pairs, timing_loop
from harness.paired.decide import Rules
from harness.paired.duel import Duel, Finding, duel
from harness.paired.noise import noise_of
from harness.paired.rounds import Reading, Round, judge
from harness.rendering import units


def test_cpu_and_wall_time_are_read_from_their_own_clocks_and_without_cpu_time_the_wall_time_counts() -> None:
    cpu, still, wall = FakeClock(), FakeClock(), FakeClock()
    names = {"cpu": cpu, "wall": wall}
    loop = timing_loop("cpu.advance(1); wall.advance(3)", globals=names, clock=cpu, wall=wall)
    assert loop(2) == Reading(2.0, 6.0, calls=2)
    loop = timing_loop("wall.advance(3)", globals=names, clock=still, wall=wall)
    assert loop(2) == Reading(6.0, 6.0, calls=2)


def test_the_setup_runs_once_and_its_time_does_not_count_for_a_statement_or_a_function() -> None:
    clock, runs = FakeClock(), list[int]()
    names, setup = {"clock": clock, "runs": runs}, "runs.append(1)\nclock.advance(100)\nstep = 0.5"
    for code in ("clock.advance(step)", lambda: clock.advance(0.5)):
        loop = timing_loop(code, setup=setup, globals=names, clock=clock, wall=clock)
        assert [loop(1), loop(4)] == [Reading(0.5, 0.5), Reading(2.0, 2.0, calls=4)]
    assert runs == [1, 1]


def test_calibration_fills_a_block_or_makes_one_call_and_an_interruption_does_not_change_it() -> None:
    for call_s in (BLOCK_S / 64, BLOCK_S / 8, BLOCK_S / 3, BLOCK_S, BLOCK_S * 7):
        clock = FakeClock()
        names = {"clock": clock, "call_s": call_s}
        block = calibrate(timing_loop("clock.advance(call_s)", globals=names, clock=clock, wall=clock))
        assert block.calls == max(1, round(BLOCK_S / call_s))
        assert block.wall_s == pytest.approx(block.calls * call_s)
    calls = iter(range(10**6))

    def interrupted_at_first() -> None:
        clock.advance(5e-3 if next(calls) in {0, 1, 5} else BLOCK_S / 10)

    assert calibrate(timing_loop(interrupted_at_first, clock=clock, wall=clock)).calls == 10


def test_each_pair_of_loops_runs_its_own_setup_and_either_side_may_come_first() -> None:
    clock = FakeClock()
    opened: list[str] = []
    order: list[float] = []

    def call(seconds: float) -> None:
        order.append(seconds)
        clock.advance(seconds)

    def work(name: str) -> None:
        opened.append(name)
        clock.advance(1.0)

    sides = (TimedCode("baseline", "clock(0.1)", "made('b')"), TimedCode("candidate", "clock(0.2)", "made('c')"))
    names = {"made": work, "clock": call}
    with loop_pairs(sides, names, random.Random(1), clock, clock) as ground:
        assert ground.round_s == pytest.approx(0.3)
        opened.clear()
        for number in range(12):
            with ground.open_pair(number) as pair:
                order.clear()
                played = pair.play(baseline_first=number % 2 == 0)
                assert (played.pair, played.baseline_first) == (number, number % 2 == 0)
                assert played.ratio == pytest.approx(0.5)
                assert order == ([0.1, 0.2] if number % 2 == 0 else [0.2, 0.1])
    pairs = [tuple(opened[at : at + 2]) for at in range(0, 24, 2)]
    assert set(pairs) == {("b", "c"), ("c", "b")}


def test_equal_code_has_the_ratio_1_although_a_block_begins_slowly_and_the_calibrations_differ() -> None:
    clock = FakeClock()
    since_switch = {"calls": 0, "side": ""}

    def call(side: str, call_s: float) -> None:
        first = since_switch["side"] != side
        since_switch["side"] = side
        clock.advance(call_s * (1.2 if first else 1.0))

    # the calibrations find 3 calls of 70 µs, and 2 calls of 82 µs: the machine was slower for a moment
    speeds = {"baseline": 70e-6, "candidate": 82e-6}
    names = {"call": call, "speeds": speeds}
    sides = tuple(TimedCode(side, f"call({side!r}, speeds[{side!r}])", "pass") for side in speeds)
    with loop_pairs((sides[0], sides[1]), names, random.Random(1), clock, clock) as ground:
        speeds.update(baseline=75e-6, candidate=75e-6)
        with ground.open_pair(0) as pair:
            rounds = [pair.play(baseline_first=True) for _ in range(2)]
    assert [one.baseline.calls for one in rounds] == [one.candidate.calls for one in rounds] == [3, 3]
    assert rounds[1].ratio == pytest.approx(1.0)


def test_a_machine_that_slows_down_changes_unpaired_errors_only() -> None:
    window = [Reading(1e-3, 1e-3)] * 20 + [Reading(1.1e-3, 1.1e-3)] * 20
    noise = noise_of(window * 4)
    assert max(noise.unpaired) == pytest.approx(math.log(1.1), rel=0.2)
    assert max(noise.paired) == 0.0
    assert noise.noisy
    assert f"differ by {units.percent(noise.unpaired_p95)}, or by 0 % if" in str(noise)


def exact(candidate_s: float, baseline_s: float, *, margin: float = 0.02, budget_s: float = 1.0) -> Duel:
    """Return a duel on a fake clock between calls of known cost."""
    clock = FakeClock()
    sides = (partial(clock.advance, seconds) for seconds in (candidate_s, baseline_s))
    return duel(*sides, seed=1, clock=clock, wall=clock, margin=margin, budget_s=budget_s)


def test_half_the_cost_is_twice_as_fast_with_a_clear_verdict_after_half_of_the_budget() -> None:
    outcome = exact(50e-6, 100e-6)
    assert outcome.verdict is Finding.FASTER
    assert outcome.ratio == pytest.approx(2.0)
    assert outcome.low is not None and outcome.high is not None  # noqa: PT018 - narrows both types
    assert outcome.low < 2.0 < outcome.high
    assert outcome.spent_s < 0.6
    assert str(outcome).startswith("FASTER: 2\N{MULTIPLICATION SIGN} the baseline (1.98 to 2.02; ")


def test_differences_within_the_margin_count_as_the_same_and_one_at_the_margin_stays_undecided() -> None:
    assert exact(50e-6, 50e-6).verdict is Finding.SAME
    assert exact(50e-6, 55e-6).verdict is Finding.FASTER
    assert exact(50e-6, 55e-6, margin=0.2).verdict is Finding.SAME
    outcome = exact(50e-6, 51e-6)
    assert outcome.verdict is Finding.UNDECIDED
    assert 1.0 <= outcome.spent_s < 1.2


def test_a_call_too_long_for_the_budget_gives_undecided() -> None:
    outcome = exact(1.0, 2.0)
    assert outcome.verdict is Finding.UNDECIDED
    assert (outcome.low, outcome.high) == (None, None)
    assert len(outcome.rounds) == 5
    budget = re.search(r"no interval.*: use budget_s=(\d+);", str(outcome))
    assert budget
    assert exact(1.0, 2.0, budget_s=float(budget[1])).verdict is Finding.FASTER


def test_an_impossible_margin_is_refused_and_an_exception_passes_through() -> None:
    for name, value in [("margin", 0.0), ("budget_s", math.inf)]:
        with pytest.raises(UsageError, match="positive margin and budget_s"):
            exact(1e-3, 1e-3, **{name: value})
    with pytest.raises(ZeroDivisionError):
        duel("1 / 0", "1")


def test_real_code_against_itself_is_never_faster_or_slower() -> None:
    outcome = duel("sum(v)", "sum(v)", setup="v = list(range(1000))", margin=0.05, budget_s=0.3)
    assert outcome.verdict in {Finding.SAME, Finding.UNDECIDED}
    assert len({round_.pair for round_ in outcome.rounds}) >= 5


def found(ratio: float, *, pairs: int = 3, sleep_s: float = 0.0) -> Duel:
    """Return a duel with 40 rounds of 100 calls a pair. A call of the candidate takes 10 µs."""
    turns = Reading(1e-3 * ratio, 1e-3 * ratio, 100), Reading(1e-3, 1e-3 + sleep_s, 100)
    rounds = [Round(pair, *turns, baseline_first=True) for pair in range(pairs) for _ in range(40)]
    return Duel.of(judge(rounds, (1 / 1.02, 1.02), Rules(min_pairs=3)), 0.02)


def test_the_seconds_per_call_are_the_median_over_the_rounds_and_a_result_can_be_written_as_json() -> None:
    assert [found(2.0).candidate_s, found(2.0).baseline_s] == pytest.approx([1e-5, 2e-5])
    slept = found(2.0, sleep_s=1.0)
    assert slept.hidden_work
    assert "wall clock" in str(slept)
    assert slept.candidate_s == pytest.approx((1e-3 + 1.0) / 100)
    one = found(2.0, pairs=1)
    record = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert (record["verdict"], record["high"], len(record["rounds"])) == (one.verdict, None, 40)


def test_pairs_that_show_the_opposite_leave_a_verdict_undecided_unless_they_are_few() -> None:
    for opposite, pairs, verdict in [(0, 5, Finding.FASTER), (1, 5, Finding.UNDECIDED), (2, 20, Finding.FASTER)]:
        ratios = [1 / 1.2] * opposite + [1.2] * (pairs - opposite)
        slow = [Reading(1e-3 * ratio, 1e-3 * ratio) for ratio in ratios]
        rounds = [
            Round(n, one, Reading(1e-3, 1e-3), baseline_first=True) for n, one in enumerate(slow) for _ in range(40)
        ]
        outcome = Duel.of(judge(rounds, (1 / 1.02, 1.02)), 0.02)
        assert outcome.verdict is verdict
        assert ("1 of 5 pairs showed the opposite" in str(outcome)) == (verdict is Finding.UNDECIDED)
