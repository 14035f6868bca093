import math
import re
import statistics
from collections.abc import Sequence
from itertools import pairwise

from playing import find_task, play, remarks, titled

from grader import overlays
from grader.task import Scenario

TASK = find_task("05_compare", "crossover")
NOTHING = "def crossover(f, g, measure, low, high):\n    pass\n"
PLAIN, SWAPPED, INTERRUPTED = "exact", "g is faster at small sizes", "the first measurement is cold"
CHANGING, JUMP, NEVER = "changes its speed", "leave the cache", "one function is faster at every size"
KINDS = (PLAIN, SWAPPED, INTERRUPTED, CHANGING, JUMP, NEVER)


def scenario_of(kind: str, seed: int = 7) -> Scenario:
    return titled(scenarios(seed), kind)


def scenarios(seed: int = 7) -> tuple[Scenario, ...]:
    return play(TASK, NOTHING, seed).scenarios


def measured(scenario: Scenario, which: str, size: int, times: int = 9) -> float:
    values = [scenario.call("measure", (which, size)) for _ in range(times)]
    return statistics.median(value for value in values if isinstance(value, float))


def truth(scenario: Scenario) -> float:
    planted = getattr(scenario, "truth")  # noqa: B009 - the protocol does not promise it
    assert isinstance(planted, float)
    return planted


def test_within_five_percent_of_the_size_is_right_and_twice_the_size_is_wrong() -> None:
    for kind in (PLAIN, SWAPPED, INTERRUPTED, CHANGING, JUMP):
        scenario = scenario_of(kind)
        for factor in (1 / 1.049, 1.0, 1.049):
            assert scenario.judge(truth(scenario) * factor) is None
        for factor in (0.5, 2.0):
            mismatch = scenario.judge(truth(scenario) * factor)
            assert mismatch is not None
            assert "more than the other" in mismatch.remark
    jump = scenario_of(JUMP)
    assert jump.judge(truth(jump) * 1.1) is not None  # there it costs a quarter more


def test_farther_off_is_right_where_both_cost_the_same() -> None:
    scenario = scenario_of(PLAIN)
    size = round(truth(scenario) * 1.06)
    apart = math.log(measured(scenario, "f", size, 1) / measured(scenario, "g", size, 1))
    assert abs(apart) < math.log(1.05)
    assert scenario.judge(size) is None


def test_none_is_right_only_where_nothing_changes() -> None:
    verdicts: Sequence[bool] = [scenario_of(kind).judge(None) is None for kind in KINDS]
    assert verdicts == [False] * 5 + [True]


def test_no_two_interruptions_fall_into_one_comparison() -> None:
    """Otherwise a right search would give a wrong answer in one of a few hundred gradings."""
    for seed in range(5):
        for kind in (INTERRUPTED, NEVER):
            disturbance = getattr(scenario_of(kind, seed), "disturbance")  # noqa: B009 - the protocol does not promise it
            hits = [place for place, factor in enumerate(disturbance) if factor > 1.2]
            assert hits[0] == 0
            assert min(after - before for before, after in pairwise(hits)) >= 8
            assert len(hits) > len(disturbance) / 24


def said(source: str, kind: str) -> list[str]:
    return remarks(TASK, source, kind)


def known(name: str) -> str:
    return overlays.whole(TASK.known / f"{name}.py")


def test_a_search_in_large_steps_is_told_between_which_sizes_it_did_not_look() -> None:
    doubling = """
def crossover(f, g, measure, low, high):
    first = measure(f, low) < measure(g, low)
    while low <= high and (measure(f, low) < measure(g, low)) == first:
        low *= 2
    return low
"""
    assert all(
        re.search(r"you compared f and g at sizes [\d ]+ and [\d ]+, but at no size between these two", told)
        for told in said(doubling, PLAIN)
    )


def test_one_measurement_that_was_disturbed_is_told_with_its_size_and_factor() -> None:
    found = said(known("wrong_single_measurement"), INTERRUPTED)
    misled = [told for told in found if "At size 1, your one pair shows" in told]
    assert misled
    assert all(
        "slower for one measurement than for the other" in told and "Compare more than once at each size." in told
        for told in misled
    )


def test_measurements_far_apart_in_time_are_told_so_and_pairs_in_turn_are_not() -> None:
    apart = said(known("wrong_one_after_the_other"), CHANGING)
    assert any("measure f and g right after each other" in told for told in apart)
    in_turn = """
def crossover(f, g, measure, low, high):
    def f_wins(size):
        pairs = [(measure(f, size), measure(g, size)) for _ in range(5)]
        return min(a for a, b in pairs) < min(b for a, b in pairs)
    first = f_wins(low)
    while high > low * 1.01 and high > low + 1:
        middle = int((low * high) ** 0.5)
        low, high = (middle, high) if f_wins(middle) == first else (low, middle)
    return high
"""
    found = said(in_turn, CHANGING)
    assert any("count which function wins more often" in told for told in found)
    assert not any("right after each other" in told for told in found)


def test_where_the_same_one_wins_everywhere_no_disturbance_is_blamed() -> None:
    assert set(said(known("wrong_always_a_size"), NEVER)) == {
        "Your measurements show the same function as the faster one at every size that you compared."
    }
