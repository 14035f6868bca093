import random

import pytest

from harness.machine.clocks import FakeClock
from harness.paired.loop_pairs import TimedCode, loop_pairs


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
