"""The judgement of a sequential test: its scenarios, their odds, and how often the judgement is wrong."""

import importlib
import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from playing import Game, find_task, play

from grader import overlays

TASK = find_task("06_ab_testing", "is_slower")
SCENARIOS = importlib.import_module("grader.tasks.lesson_06_ab_testing.scenarios")
JUDGING = importlib.import_module("grader.tasks.lesson_06_ab_testing.is_slower")

ALWAYS = "def is_slower(next_pair, threshold): return True"
BET = """
def is_slower(next_pair, threshold):
    slower = equal = 1.0
    for _ in range(1000):
        a, b = next_pair()
        slower *= 1.5 if b > a else 0.5
        equal *= 1.5 if b < a * (1 + threshold) else 0.5
        if slower >= {alarm}:
            return True
        if equal >= {clear}:
            return False
    return False
"""


def judged(game: Game) -> str:
    assert game.right
    mismatch = JUDGING.judge(game.scenarios)
    return "" if mismatch is None else f"{mismatch.expected} {mismatch.got} {mismatch.remark}"


def found_out(source: str, gradings: int) -> float:
    """Return the share of simulated gradings in which the decision rule does not pass."""
    return fmean(bool(judged(play(TASK, source, seed))) for seed in range(gradings))


def scenarios(game: Game) -> tuple[Any, ...]:
    return game.scenarios


def test_the_density_is_that_of_the_noise_drawn() -> None:
    """If the density is right, the mean of the odds over scenarios without a slowdown is 1."""
    for given in ({"freedom": 2.0}, {"outlier_rate": 0.1, "outlier_scale": 0.3}):
        noise = SCENARIOS.LogRatioNoise(0.05, **given)
        values = noise.draw(np.random.default_rng(1), 40_000)
        shift = math.log1p(SCENARIOS.THRESHOLD)
        odds = [math.exp(noise.log_density(value - shift) - noise.log_density(value)) for value in values]
        assert fmean(odds) == pytest.approx(1, abs=0.06)
        assert sum(value < 0 for value in values) / len(values) == pytest.approx(0.5, abs=0.01)


def test_one_unlucky_scenario_weighs_no_more_than_a_false_alarm_that_is_counted() -> None:
    scenario = scenarios(play(TASK, ALWAYS, 1))[0]
    weights = []
    for odds in (0.01, 1.0, 1e9):
        scenario.log_odds = math.log(odds)
        weights.append(JUDGING.least_false_alarms([scenario], 60))
    assert weights == pytest.approx([1 / (60 + 1 / 0.01), 1 / 61, 1 / 60])


@pytest.mark.long
def test_a_rule_that_just_keeps_its_promises_passes_and_others_are_found_out() -> None:
    """Capitals of 40 and 12 mean about 1 % false alarms and 5 % misses."""
    assert found_out(BET.format(alarm=40, clear=12), 60) <= 2 / 60
    assert found_out(BET.format(alarm=6, clear=20), 40) >= 0.9  # early false alarms
    assert found_out(BET.format(alarm=100, clear=3), 40) >= 0.8  # a fifth missed


def test_what_is_wrong_is_told_with_the_pairs_it_rested_on() -> None:
    wrong = {path.stem: overlays.whole(path) for path in TASK.wrong_answers}
    assert "false alarms" in judged(play(TASK, ALWAYS, 1))
    assert "real slowdowns missed" in judged(play(TASK, ALWAYS.replace("True", "False"), 1))
    assert "each look is another chance" in judged(play(TASK, wrong["wrong_peeking"], 1))
    assert "mostly in scenarios with drift" in judged(play(TASK, wrong["wrong_a_then_b"], 1))
    assert "from the evidence of your alarms" in judged(play(TASK, BET.format(alarm=6, clear=20), 3))


def test_bad_luck_allows_what_happens_once_in_a_thousand_gradings() -> None:
    for number, share, allowed in ((72, 0.05, 10), (60, 0.01, 4), (1, 0.5, 1), (10, 0.0, 0)):
        assert JUDGING.most_by_chance(number, share) == allowed


def test_scenarios_of_each_kind_have_a_slowdown_or_none_and_their_pairs_end() -> None:
    game = play(TASK, ALWAYS, 1)
    titles = {(scenario.title, bool(scenario.effect)) for scenario in scenarios(game)}
    assert len(titles) == 2 * len({title for title, _ in titles}) == 6  # a title does not show whether B is slower
    scenario = game.scenarios[0]
    for _ in range(SCENARIOS.MOST_PAIRS):
        scenario.call("next_pair", ())
    with pytest.raises(ValueError, match="has only 2000 pairs"):
        scenario.call("next_pair", ())
    assert scenario.cost == SCENARIOS.MOST_PAIRS
    assert scenario.arguments[1] == SCENARIOS.THRESHOLD


def test_alarms_whose_odds_are_beyond_a_float_weigh_nothing() -> None:
    all_pairs = """
def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(2000)]
    return sum(b > a for a, b in pairs) > 1100
"""
    game = play(TASK, all_pairs, 1)
    assert min(scenario.log_odds for scenario in scenarios(game)) < -710
    assert game.kept
