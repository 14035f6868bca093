"""The `duel` fixture compares two ways inside a test."""

import re

import pytest

from harness.errors import UsageError
from harness.gate.in_one_tree import DuelFixture
from harness.machine.clocks import FakeClock

CLOCK = FakeClock()


def work(microseconds: float) -> None:
    CLOCK.advance(microseconds * 1e-6)


def uneven(times: list[float]) -> None:
    times.append(times.pop(0))
    work(times[0])


@pytest.fixture
def duel() -> DuelFixture:
    return DuelFixture(globals())


OPTIONS = {"clock": CLOCK, "wall": CLOCK, "seed": 1}


def test_equal_code_is_not_slower_and_not_faster(duel: DuelFixture) -> None:
    ways = duel("work(2)", "work(2)", **OPTIONS)
    assert ways.not_slower(by=0.01, strict=True)
    assert not ways.faster(by=0.01)


def test_a_function_and_a_statement_can_be_compared(duel: DuelFixture) -> None:
    assert duel(lambda: work(1), "work(n)", setup="n = 2", **OPTIONS).faster(by=0.9)
    assert not duel(lambda: work(1), "work(n)", setup="n = 2", **OPTIONS).faster(by=1.1)


def test_the_output_of_a_check_that_fails_shows_the_ratio_and_its_interval(duel: DuelFixture) -> None:
    with pytest.raises(AssertionError) as failed:
        assert duel("work(3)", "work(2)", **OPTIONS).not_slower(by=0.4)
    assert re.search(r"SLOWER: 0\.667× the baseline \(0\.6[56]\d to 0\.6[78]\d; ", str(failed.value))
    assert "<'work(3)' against 'work(2)'>" in str(failed.value)
    assert duel("work(3)", "work(2)", **OPTIONS).not_slower(by=0.6)


def test_undecided_fails_only_if_the_check_is_strict(duel: DuelFixture) -> None:
    wide = {**OPTIONS, "setup": "times = [1, 2, 3, 4, 5, 6, 7]", "budget_s": 0.02}
    ways = duel("uneven(times)", "uneven(times)", **wide)
    assert "UNDECIDED" in repr(ways.not_slower(by=0.001))
    assert ways.not_slower(by=0.001)
    assert not ways.not_slower(by=0.001, strict=True)
    assert not DuelFixture(globals(), strict=True)("uneven(times)", "uneven(times)", **wide).not_slower(by=0.001)


def test_code_whose_work_does_not_run_is_refused(duel: DuelFixture) -> None:
    with pytest.raises(UsageError, match="has not run yet"):
        duel("pass", "(letter for letter in 'ab')").not_slower()
