"""Timing loops, calibrated blocks, pairs of loops, and the noise in a series of blocks."""

import gc
import math
import random

import pytest
import torch

from harness.errors import UsageError
from harness.machine.clocks import FakeClock
from harness.paired.blocks import BLOCK_S, TimedCode, calibrate, gc_off_one_thread, loop_pairs, timing_loop
from harness.paired.noise import NOISY, WINDOW_S, Noise, aa_control, noise_of
from harness.paired.rounds import Reading
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


def test_statements_keep_their_own_lines_and_strings_and_the_globals_are_not_changed() -> None:
    seen: list[str] = []
    names: dict[str, object] = {"seen": seen}
    text = 'if True:\n    text = """a\nb"""\nseen.append(text)'
    loop = timing_loop(text, setup="# a comment\nglobal extra; extra = 1", globals=names)
    loop(1)
    assert seen == ["a\nb"]
    assert list(names) == ["seen"]


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


def test_garbage_collection_is_off_with_one_torch_thread_in_the_block_and_afterwards_as_before() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with gc_off_one_thread():
            assert (gc.isenabled(), torch.get_num_threads()) == (False, 1)
        assert (gc.isenabled(), torch.get_num_threads()) == (True, 2)
    finally:
        torch.set_num_threads(before)


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
        assert ground.caveat == ""
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
