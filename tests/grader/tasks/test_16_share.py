"""Task (a) of lesson 16: simulated live programs whose true shares are known."""

from importlib import import_module
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from playing import find_task

from grader.task import SimulatedExam

live_programs = import_module("grader.tasks.lesson_16_sampling.live_programs")
recorded = import_module("grader.tasks.lesson_16_sampling.recorded")
TASK = find_task("16_sampling", "share")


def drawn(seed: int = 1) -> tuple[Any, ...]:
    return tuple(live_programs.draw_scenarios(np.random.default_rng(seed)))


def test_shares_are_small_large_and_between_with_each_margin() -> None:
    scenarios = drawn()
    shares = [scenario.share for scenario in scenarios]
    assert len(scenarios) == 72
    assert sum(share < 0.04 for share in shares) == sum(share > 0.96 for share in shares) == 18
    kinds = {(scenario.margin, scenario.title) for scenario in scenarios}
    assert len(kinds) == len(list(product(live_programs.MARGINS, range(4))))


def test_samples_have_the_true_share_and_idle_moments() -> None:
    for scenario in drawn()[:12]:
        samples = [scenario.call("sample", ()) for _ in range(4000)]
        busy = [sample for sample in samples if sample]
        assert abs(1 - len(busy) / len(samples) - scenario.idle) < 0.05
        assert abs(sum(scenario.name in sample for sample in busy) / len(busy) - scenario.share) < 0.05
        assert scenario.cost == 4000


def test_the_function_is_never_at_the_top_and_some_programs_call_it_more_than_once() -> None:
    scenarios = drawn()
    assert not any(stack[-1] == scenario.name for scenario in scenarios for stack in scenario.within)
    recursive = [scenario for scenario in scenarios if "calls itself" in scenario.title]
    assert all(stack.count(scenario.name) > 1 for scenario in recursive for stack in scenario.within)
    assert len(recursive) == 36


def test_a_right_method_hardly_ever_misses_more_than_the_forgiven_answers() -> None:
    """A method that misses each of the 36 shares between the ends with a probability of 5 % passes nearly always."""
    assert isinstance(TASK.exam, SimulatedExam)
    assert TASK.exam.forgiven == live_programs.FORGIVEN
    beyond = sum(comb(36, missed) * 0.05**missed * 0.95 ** (36 - missed) for missed in range(11, 37))
    assert beyond < 1e-5


def test_a_wrong_answer_is_told_the_share_and_the_number_of_samples() -> None:
    scenario = next(scenario for scenario in drawn() if scenario.share < 0.04)
    scenario.call("sample", ())
    mismatch = scenario.judge(0.9)
    assert "within" in mismatch.expected
    assert mismatch.remark == "You took 1 sample."
    with pytest.raises(ValueError, match="takes no arguments"):
        scenario.call("sample", (3,))


def test_the_recordings_are_those_of_real_programs() -> None:
    for name in ("before", "after", "recursive"):
        stacks = recorded.profile(name)
        assert len(stacks) > 20
        assert all(stack.samples > 0 and stack.frames[0].name == "<module>" for stack in stacks)
    assert any("torch" in frame.file for stack in recorded.profile("before") for frame in stack.frames)


def test_the_doubt_of_an_answer_shrinks_with_the_samples() -> None:
    doubts = [live_programs.miss_probability(n // 2, n, 0.5, 0.1) for n in (10, 40, 160)]
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[0] > 0.4
    assert doubts[2] < 0.02


def test_the_doubt_is_that_of_the_normal_approximation_in_the_middle() -> None:
    """100 samples of the share one half have a standard error of 0.05."""
    for errors, doubt in ((1.0, 0.317), (1.96, 0.05)):
        assert live_programs.miss_probability(50, 100, 0.5, 0.05 * errors) == pytest.approx(doubt, abs=0.01)


def test_a_lucky_answer_without_samples_is_wrong() -> None:
    scenario = next(scenario for scenario in drawn() if not scenario.idle)
    assert "more samples than 0" in scenario.judge(scenario.share).expected
    for _ in range(600):
        scenario.call("sample", ())
    assert scenario.judge(scenario.hits / 600) is None
