"""Tasks with plain values: what is drawn, right answers, and the rule that a student reads."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from grader.values import Value


def scenario_class(lesson: str, task: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"grader.tasks.lesson_{lesson}.{task}"), name)
    return found


def network() -> Any:
    return scenario_class("17_peaks_and_leaks", "checkpoints", "Network")("planted", [5, 3, 1, 4, 2])


def function() -> Any:
    """Return the statements in the text of the exercise `fewest_graphs`."""
    rows = (("torch", ()), ("python", (0,)), ("torch", (0,)), ("python", (2,)), ("torch", (2, 3)))
    return scenario_class("19_compile", "fewest_graphs", "Function")("planted", rows)


def jobs(*given: tuple[int, int]) -> Any:
    return scenario_class("15_instruction_suite", "schedule", "Plan")("planted", list(given or ((1, 2), (1, 2))), 2)


WRONG: dict[Callable[[], Any], tuple[tuple[Value, str], ...]] = {
    network: (
        ([[0, 2], 6], "The kept layers need 6 KiB, and the largest segment needs 6 KiB more."),
        ([[2], 12], "a list that begins with layer 0"),
        ([[0, 5], 12], "ascending numbers up to 4"),
        ({"0": [0], "1": 15}, "[kept, peak]"),
    ),
    function: (
        ([0, 1, 2, 3, 3], "each number from 0 to 4 once"),
        ([0, 2, 3, 1, 4], "1 before 3"),
    ),
    jobs: (
        ([[0, [0]], [1, [0]]], "jobs 0 and 1 both have core 0 in second 1"),
        ([[0, [0]]], "2 rows"),
        ([[0, [0]], [2, [0, 1]]], "1 different cores of 0 to 1 for job 1"),
        ([[0, [0]], [2, [0.5]]], "1 different cores"),
        ([[0, [0]], [float("inf"), [0]]], "for job 1"),
    ),
}
"""For each scenario, wrong answers and words that the student reads."""


def test_an_answer_that_breaks_a_rule_is_told_which_and_costs_more_than_any_right_one() -> None:
    for scenario, wrong in WRONG.items():
        for answer, words in wrong:
            judged = scenario()
            assert words in " ".join(judged.judge(answer).lines), answer
            assert judged.cost >= 1e9


def test_a_right_answer_costs_what_was_computed_by_hand() -> None:
    for scenario, answer, cost in (
        (network(), [[0, 2], 12], 12),
        (network(), [[0, 1, 2, 3, 4], 15], 15),
        (function(), [0, 1, 2, 3, 4], 3),
        (function(), [0, 2, 1, 3, 4], 2),
        (jobs((1, 2), (1, 3), (2, 4)), [[0, [0]], [0, [1]], [3, [1, 0]]], 7),
        (jobs((1, 5), (1, 2)), [[2, [0]], [0, [0]]], 7),
    ):
        assert (scenario.judge(answer), scenario.cost) == (None, cost)


share = import_module("grader.tasks.lesson_16_sampling.share")
tally = import_module("grader.tasks.lesson_18_threads.tally")


def drawn(module: Any) -> tuple[Any, ...]:
    return tuple(module.draw_scenarios(np.random.default_rng(1)))


def test_a_lucky_answer_without_enough_samples_is_wrong() -> None:
    for errors, doubt in ((1.0, 0.317), (1.96, 0.05)):  # 100 samples of the share one half: a standard error of 0.05
        assert share.miss_probability(50, 100, 0.5, 0.05 * errors) == pytest.approx(doubt, abs=0.01)
    scenario = next(scenario for scenario in drawn(share) if not scenario.idle)
    assert "more samples than 0" in scenario.judge(scenario.share).expected
    for _ in range(600):
        scenario.call("sample", ())
    assert scenario.judge(scenario.hits / 600) is None


def test_an_answer_given_while_the_lock_is_held_is_wrong() -> None:
    scenario = drawn(tally)[0]
    scenario.call("acquire", ())
    assert "wait forever" in scenario.judge(dict(scenario.table)).remark


blocks = import_module("grader.tasks.lesson_17_peaks_and_leaks.at_peak")
opcodes = import_module("grader.tasks.lesson_13_bytecode.pairs")
programs = import_module("grader.tasks.lesson_13_bytecode.run")
stacks = import_module("grader.tasks.lesson_11_torch_profiler.fold")
trees = import_module("grader.tasks.lesson_09_cprofile.own_time")
changes = import_module("grader.tasks.lesson_16_sampling.changes")


def stack(samples: int, *frames: tuple[str, str, int]) -> Any:
    return changes.Stack(tuple(changes.SampledFrame(*frame) for frame in frames), samples)


def test_the_rows_of_two_profiles_are_computed_by_hand_and_none_is_near_the_limit() -> None:
    main, same, c = ("main", "a.py", 3), ("main", "a.py", 9), ("gemm", "libc.so.6", 0)
    pair = changes.RunPair("", "", (stack(50, main, c), stack(50, main)), (stack(5, main, c), stack(95, same)))
    assert pair.arguments[0] == ["main (a.py:3);gemm (libc.so.6) 50", "main (a.py:3) 50"]
    assert pair.right == [["gemm (libc.so.6)", 50, 5]]
    near = changes.RunPair("", "", (stack(50, main, c), stack(50, main)), (stack(36, main, c), stack(64, main)))
    assert not near.clear
    assert all(pair.clear for pair in drawn(changes))


def test_the_examples_in_the_exercises_have_the_answers_that_are_shown() -> None:
    tree = trees.CallTree("", "", ((0, "main", 1, 10), (1, "load", 2, 20), (2, "parse", 9, 40), (1, "parse", 3, 30)))
    assert tree.arguments == ([[0, "main", 1, 100], [1, "load", 2, 60], [2, "parse", 9, 40], [1, "parse", 3, 30]],)
    assert tree.right == [["parse", 12, 70, 70], ["load", 2, 20, 60], ["main", 1, 10, 100]]
    given = ("train forward conv", 30), ("train backward", 50), ("train forward", 10), ("train", 5)
    boxes = [[0, "train", 0, 95], [1, "backward", 5, 50], [1, "forward", 55, 40], [2, "conv", 65, 30]]
    assert stacks.Stacks("", "", tuple((tuple(frames.split()), us) for frames, us in given)).right == boxes
    events = (("alloc", 7, 300, "load"), ("alloc", 9, 100, "parse"), ("free", 7, 0, ""), ("alloc", 7, 400, "parse"))
    assert blocks.Blocks("", "", events).right == [["parse", 500]]


def test_an_equal_number_of_another_type_is_right() -> None:
    scenario = opcodes.draw_timed(np.random.default_rng(5))[0]
    assert scenario.judge([[first, second, float(times)] for first, second, times in scenario.right]) is None
    case = next(case for case in programs.draw_cases(np.random.default_rng(5)) if "a < b," in case.title)
    assert [case.judge(answer) is None for answer in (True, 1, 1.0, 0)] == [True, True, True, False]
