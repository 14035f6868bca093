"""Lesson 06's `is_slower`: which decision rules keep their error rates, and what the others are told."""

from importlib import import_module
from statistics import fmean
from typing import Any

import pytest
from playing import Game, find_task, play

TASK = find_task("06_ab_testing", "is_slower")
JUDGING = import_module("grader.tasks.lesson_06_ab_testing.is_slower")

ALWAYS = "def is_slower(next_pair, threshold): return True"
BET = """
def is_slower(next_pair, threshold, stakes=(0.1, 0.25, 0.5, 0.8)):
    slower = equal = [1.0] * 4
    for _ in range(2000):
        a, b = next_pair()
        slower = [each * (1 + stake if b > a else 1 - stake) for each, stake in zip(slower, stakes)]
        equal = [each * (1 + stake if b < a * (1 + threshold) else 1 - stake) for each, stake in zip(equal, stakes)]
        if sum(slower) >= 4 * {alarm}:
            return True
        if sum(equal) >= 4 * {clear}:
            return False
    return False
"""
FIXED = """
from math import log
def is_slower(next_pair, threshold):
    logs = sorted(log(b / a) for a, b in [next_pair() for _ in range({pairs})])[{pairs} // 5 : -({pairs} // 5)]
    return sum(logs) / len(logs) > {share} * threshold
"""


def judged(game: Game) -> str:
    assert game.right
    mismatch = JUDGING.judge(game.scenarios)
    return "" if mismatch is None else f"{mismatch.expected} {mismatch.got} {mismatch.remark}"


def found_out(source: str, gradings: int) -> float:
    """Return the share of simulated gradings in which the decision rule does not pass."""
    return fmean(bool(judged(play(TASK, source, seed))) for seed in range(gradings))


@pytest.mark.long
def test_a_rule_that_just_keeps_its_promises_passes_and_others_are_found_out() -> None:
    """Capitals of 40 and 12 mean about 1 % false alarms and 5 % misses."""
    assert found_out(BET.format(alarm=40, clear=12), 60) <= 2 / 60
    assert found_out(BET.format(alarm=6, clear=20), 40) >= 0.9  # early false alarms
    assert found_out(BET.format(alarm=100, clear=3), 40) >= 0.8  # a fifth missed
    for share in (0.6, 0.7, 0.8):  # 80 pairs, the most for full marks, are too few
        assert found_out(FIXED.format(pairs=80, share=share), 40) >= 0.9
    assert found_out(FIXED.format(pairs=400, share=0.6), 40) <= 1 / 40


def test_alarms_whose_odds_are_beyond_a_float_weigh_nothing() -> None:
    all_pairs = """
def is_slower(next_pair, threshold):
    pairs = [next_pair() for _ in range(2000)]
    return sum(b > a for a, b in pairs) > 1100
"""
    game = play(TASK, all_pairs, 1)
    scenarios: tuple[Any, ...] = game.scenarios
    assert min(scenario.log_odds for scenario in scenarios) < -710
    assert game.kept
