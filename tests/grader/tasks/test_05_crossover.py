import math
import re
import statistics
from collections.abc import Sequence
from itertools import pairwise

import pytest
from playing import find_task, play, remarks, titled

from grader.task import Scenario
from grader.values import Value

TASK = find_task("05_compare", "crossover")
NOTHING = "def crossover(f, g, measure, low, high):\n    pass\n"
PLAIN, SWAPPED, INTERRUPTED = "exact", "other one wins at first", "the first measurement is cold"
CHANGING, JUMP, NEVER = "changes its speed", "jumps", "one is faster at every size"
KINDS = (PLAIN, SWAPPED, INTERRUPTED, CHANGING, JUMP, NEVER)


def world_of(kind: str, seed: int = 7) -> Scenario:
    return titled(worlds(seed), kind)


def worlds(seed: int = 7) -> tuple[Scenario, ...]:
    return play(TASK, NOTHING, seed).scenarios


def measured(world: Scenario, which: str, size: int, times: int = 9) -> float:
    values = [world.call("measure", (which, size)) for _ in range(times)]
    return statistics.median(value for value in values if isinstance(value, float))


def truth(world: Scenario) -> float:
    planted = getattr(world, "truth")  # noqa: B009 - the protocol does not promise it
    assert isinstance(planted, float)
    return planted


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [PLAIN, SWAPPED, INTERRUPTED, JUMP])
def test_the_winner_really_changes_at_the_planted_size(seed: int, kind: str) -> None:
    world = world_of(kind, seed)
    below, above = round(truth(world) / 1.5), round(truth(world) * 1.5)
    before = measured(world, "f", below) < measured(world, "g", below)
    after = measured(world, "f", above) < measured(world, "g", above)
    assert before is not after


@pytest.mark.parametrize("seed", range(5))
def test_where_one_is_faster_throughout_it_is_so_at_both_ends(seed: int) -> None:
    world = world_of(NEVER, seed)
    wins = [measured(world, "f", size) < measured(world, "g", size) for size in (1, 1000, 1_000_000)]
    assert len(set(wins)) == 1


@pytest.mark.parametrize("kind", [PLAIN, SWAPPED, INTERRUPTED, CHANGING, JUMP])
def test_within_five_percent_of_the_size_is_right_and_twice_the_size_is_wrong(kind: str) -> None:
    world = world_of(kind)
    for factor in (1 / 1.049, 1.0, 1.049):
        assert world.judge(truth(world) * factor) is None
    for factor in (0.5, 2.0):
        mismatch = world.judge(truth(world) * factor)
        assert mismatch is not None
        assert "more than the other" in mismatch.remark


def test_farther_off_is_right_where_both_cost_the_same() -> None:
    world = world_of(PLAIN)
    size = round(truth(world) * 1.06)
    apart = math.log(measured(world, "f", size, 1) / measured(world, "g", size, 1))
    assert abs(apart) < math.log(1.05)
    assert world.judge(size) is None


def test_at_a_jump_nearly_the_same_size_is_wrong_when_it_costs_a_quarter_more() -> None:
    world = world_of(JUMP)
    assert world.judge(truth(world) * 1.1) is not None


@pytest.mark.parametrize("answer", [True, "12", [], [5], {}, math.nan, math.inf, 0, -3, 10**7, 10**400])
def test_any_answer_is_judged_and_nonsense_is_wrong(answer: Value) -> None:
    assert all(world.judge(answer) is not None for world in worlds())


def test_none_is_right_only_where_nothing_changes() -> None:
    verdicts: Sequence[bool] = [world_of(kind).judge(None) is None for kind in KINDS]
    assert verdicts == [False] * 5 + [True]


@pytest.mark.parametrize(
    "arguments", [(), ("f",), ("h", 3), ("f", 0), ("f", 1_000_001), ("f", 2.0), ("f", True), (3, "f"), ("f", None)]
)
def test_a_measurement_of_anything_else_is_refused_in_one_sentence(arguments: tuple[Value, ...]) -> None:
    world = world_of(PLAIN)
    with pytest.raises(ValueError, match=r"takes 'f' or 'g' and a whole number from 1 to 1000000"):
        world.call("measure", arguments)
    assert world.cost == 0


def test_every_measurement_counts() -> None:
    world = world_of(CHANGING)
    measured(world, "f", 10, times=3)
    measured(world, "g", 10, times=4)
    assert world.cost == 7


def test_no_two_interruptions_fall_into_one_comparison() -> None:
    """Else a right search would go astray in one grading of a few hundred, by luck alone."""
    for seed in range(50):
        for kind in (INTERRUPTED, NEVER):
            disturbance = getattr(world_of(kind, seed), "disturbance")  # noqa: B009 - the protocol does not promise it
            hits = [place for place, factor in enumerate(disturbance) if factor > 1.2]
            assert hits[0] == 0
            assert min(after - before for before, after in pairwise(hits)) >= 8
            assert len(hits) > len(disturbance) / 24


def said(source: str, kind: str, seed: int = 0) -> list[str]:
    """What is said of the wrong answers in the worlds of one kind."""
    found = remarks(play(TASK, source, seed), kind)
    assert found
    return found


def known(name: str) -> str:
    return (TASK.known / f"{name}.py").read_text(encoding="utf-8")


def test_a_search_in_large_steps_is_told_between_which_sizes_it_did_not_look() -> None:
    doubling = """
def crossover(f, g, measure, low, high):
    first = measure(f, low) < measure(g, low)
    while low <= high and (measure(f, low) < measure(g, low)) == first:
        low *= 2
    return low
"""
    assert all(
        re.search(r"you compared at [\d ]+ and [\d ]+ and nowhere in between", told) for told in said(doubling, PLAIN)
    )


def test_one_measurement_that_was_disturbed_is_told_with_its_size_and_factor() -> None:
    found = said(known("wrong_single_measurement"), INTERRUPTED)
    misled = [told for told in found if "At size 1, your one pair shows" in told]
    assert misled
    assert all("one side was slowed" in told and "Compare more than once at each size." in told for told in misled)


def test_measurements_far_apart_in_time_are_told_so_and_pairs_in_turn_are_not() -> None:
    apart = said(known("wrong_one_after_the_other"), CHANGING)
    assert any("measure both right after each other" in told for told in apart)
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
    assert any("count which one wins more often" in told for told in found)
    assert not any("right after each other" in told for told in found)


def test_where_the_same_one_wins_everywhere_no_disturbance_is_blamed() -> None:
    assert set(said(known("wrong_always_a_size"), NEVER)) == {
        "Your measurements show the same winner at every size that you compared."
    }
