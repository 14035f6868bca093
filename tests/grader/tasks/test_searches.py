"""Simulated scenarios of lessons 01, 05 and 07: what a search may rely on, and what its answer must prove."""

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from playing import find_task

from grader.task import SimulatedExam

AGREES = find_task("01_correct_first", "agrees")
CROSSOVER = find_task("05_compare", "crossover")
SMALLEST = find_task("07_fuzzing", "smallest_slow_case")
matrices = import_module("grader.tasks.lesson_07_fuzzing.smallest_slow_case")

PLAIN, SWAPPED, INTERRUPTED = "exact", "g is faster at small sizes", "the first measurement is cold"
CHANGING, JUMP, NEVER = "changes its speed", "leave the cache", "one function is faster at every size"


def drawn(task: Any, seed: int = 0) -> tuple[Any, ...]:
    assert isinstance(task.exam, SimulatedExam)
    return tuple(task.exam.scenarios(np.random.default_rng(seed)))


def titled(words: str, seed: int) -> Any:
    return next(scenario for scenario in drawn(CROSSOVER, seed) if words in scenario.title)


def implementation(name: str) -> Any:
    return next(scenario for scenario in drawn(AGREES) if scenario.implementation.__name__ == name)


def test_an_answer_counts_only_after_the_calls_that_prove_it() -> None:
    for name, answer, words in (
        ("in_pairs", True, "after calls of f and g on every case"),
        ("without_strides", False, "after a case that shows a difference"),
    ):
        scenario = implementation(name)
        assert words in scenario.judge(answer).expected
        for case in scenario.arguments[2]:
            scenario.call("g", (case,))
            scenario.call("f", (case,))
        assert scenario.judge(answer) is None
        assert scenario.judge(not answer) is not None


def test_what_g_spoils_f_sees_spoilt_and_many_calls_break_nothing() -> None:
    scenario = implementation("in_place")
    cases = scenario.arguments[2]
    case = next(case for case in cases if case["about"] == "ordinary" and case["dtype"] == "float64")
    first = scenario.call("f", (case,))
    assert scenario.call("f", (case,)) == first
    scenario.call("g", (case,))
    assert scenario.call("f", (case,)) != first
    assert implementation("in_place").call("f", (case,)) == first
    for each in {each["dtype"]: each for each in cases}.values():
        for _ in range(1200):  # until numbers overflow
            scenario.call("g", (each,))
        scenario.call("f", (each,))


def test_within_five_percent_of_the_size_is_right_and_twice_the_size_is_wrong() -> None:
    for kind in (PLAIN, SWAPPED, INTERRUPTED, CHANGING, JUMP):
        scenario = titled(kind, 7)
        for factor in (1 / 1.049, 1.0, 1.049):
            assert scenario.judge(scenario.truth * factor) is None
        for factor in (0.5, 2.0):
            assert "more than the other" in scenario.judge(scenario.truth * factor).remark
        assert scenario.judge(None) is not None
        farther = scenario.judge(scenario.truth * 1.06)  # right if both still cost the same within 5 %
        assert (farther is None) == (kind != JUMP)
    assert titled(NEVER, 7).judge(None) is None


def test_no_two_interruptions_fall_into_one_comparison() -> None:
    """Otherwise a right search would give a wrong answer in one of a few hundred gradings."""
    for seed in range(5):
        for kind in (INTERRUPTED, NEVER):
            scenario = titled(kind, seed)
            hits = [place for place, factor in enumerate(scenario.disturbance) if factor > 1.2]
            assert hits[0] == 0
            assert min(after - before for before, after in pairwise(hits)) >= 8
            assert len(hits) > len(scenario.disturbance) / 24


def test_a_slow_case_that_is_not_the_smallest_is_answered_with_a_smaller_one() -> None:
    scenario = drawn(SMALLEST, 2)[0]
    least = scenario.least
    larger, smaller = (matrices.MatrixCase(least.rows + more, least.columns, 4, transposed=True) for more in (5, 0))
    assert scenario.judge(least.to_value()) is None
    assert f"{smaller} is slow too" in scenario.judge(larger.to_value()).remark
