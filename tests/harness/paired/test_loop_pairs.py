import random

import pytest

from harness.machine.clocks import FakeClock
from harness.paired.loop_pairs import TimedCode, TurnPair, loop_pairs
from harness.paired.rounds import Reading


def test_a_round_runs_in_the_given_order() -> None:
    order: list[str] = []

    def turn(name: str, seconds: float) -> Reading:
        order.append(name)
        return Reading(seconds, seconds)

    pair = TurnPair(7, baseline=lambda: turn("baseline", 2.0), candidate=lambda: turn("candidate", 1.0))
    for baseline_first in (True, False):
        played = pair.play(baseline_first=baseline_first)
        assert (played.pair, played.ratio, played.baseline_first) == (7, 2.0, baseline_first)
    assert order == ["baseline", "candidate", "candidate", "baseline"]


def test_each_pair_of_loops_runs_its_own_setup_and_either_side_may_come_first() -> None:
    clock = FakeClock()
    opened: list[str] = []

    def work(name: str) -> None:
        opened.append(name)
        clock.advance(1.0)

    sides = (TimedCode("baseline", "clock(0.1)", "made('b')"), TimedCode("candidate", "clock(0.2)", "made('c')"))
    names = {"made": work, "clock": clock.advance}
    with loop_pairs(sides, names, random.Random(1), clock, clock) as ground:
        assert ground.round_s == pytest.approx(0.3)
        assert ground.caveat == ""
        opened.clear()
        for number in range(12):
            with ground.open_pair(number) as pair:
                assert pair.play(baseline_first=True).ratio == pytest.approx(0.5)
    pairs = [tuple(opened[at : at + 2]) for at in range(0, 24, 2)]
    assert set(pairs) == {("b", "c"), ("c", "b")}
