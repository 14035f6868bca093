"""Wrong answers to tasks with plain values, and the scenarios of lessons 16 and 18: the student reads the rule."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from playing import find_task, play

from grader import overlays
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
        ([[0, True], 12], "a list of the numbers of layers"),
        ([[0, 2]], "[kept, peak]"),
        ({"0": [0], "1": 15}, "[kept, peak]"),
    ),
    function: (
        ([0, 1, 2, 3], "each number from 0 to 4 once"),
        ([0, 1, 2, 3, 3], "each number from 0 to 4 once"),
        ([0, True, 2, 3, 4], "each number from 0 to 4 once"),
        ([1, 0, 2, 3, 4], "0 before 1"),
        ([0, 2, 1, 4, 3], "3 before 4"),
        ([0, 2, 3, 1, 4], "1 before 3"),
    ),
    jobs: (
        ([[0, [0]], [1, [0]]], "jobs 0 and 1 both have core 0 in second 1"),
        ([[0, [0]]], "2 rows"),
        ({"0": [0, [0]], "1": [2, [0]]}, "2 rows"),
        ([[0, [0]], [2, [2]]], "1 different cores of 0 to 1 for job 1"),
        ([[0, [0]], [2, [0, 1]]], "1 different cores of 0 to 1 for job 1"),
        ([[0, [0]], [2, [True]]], "1 different cores"),
        ([[0, [0]], [-1, [1]]], "a start of at least 0 for job 1"),
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


def break_even_remarks(source: str) -> dict[str, str]:
    game = play(find_task("12_jit_fusion", "break_even"), source, seed=1)
    return {scenario.title: m.remark for scenario, m in zip(game.scenarios, game.mismatches, strict=True) if m}


def test_a_wrong_number_of_calls_is_told_the_totals_that_prove_it_wrong() -> None:
    known = find_task("12_jit_fusion", "break_even").known
    for name, end in (("one_more_at_a_tie", "has paid already."), ("rounded_down", "has not paid yet.")):
        wrong = break_even_remarks(overlays.whole(known / f"wrong_{name}.py"))
        assert wrong
        assert all(remark.endswith(f"compiling {end}") for remark in wrong.values())


def test_the_name_of_a_clone_is_not_the_name_of_its_function() -> None:
    culprit = import_module("grader.tasks.lesson_08_callgrind.culprit")
    scenario = culprit.draw_scenarios(culprit.np.random.default_rng(3))[5]
    assert "as it is in `before`" in scenario.judge(f"{scenario.truth}.isra.0").remark


share = import_module("grader.tasks.lesson_16_sampling.share")
tally = import_module("grader.tasks.lesson_18_threads.tally")


def drawn(module: Any) -> tuple[Any, ...]:
    return tuple(module.draw_scenarios(np.random.default_rng(1)))


def table(words: str) -> Any:
    return next(scenario for scenario in drawn(tally) if words in scenario.title)


def test_shares_are_small_large_and_between_and_some_programs_call_themselves() -> None:
    scenarios = drawn(share)
    shares = [scenario.share for scenario in scenarios]
    assert sum(share < 0.04 for share in shares) == sum(share > 0.96 for share in shares) == 18
    assert len({(scenario.margin, scenario.title) for scenario in scenarios}) == 4 * len(share.MARGINS)
    assert not any(stack[-1] == scenario.name for scenario in scenarios for stack in scenario.within)
    recursive = [scenario for scenario in scenarios if "calls itself" in scenario.title]
    assert len(recursive) == 36
    assert all(stack.count(scenario.name) > 1 for scenario in recursive for stack in scenario.within)


def test_samples_have_the_true_share_and_idle_moments() -> None:
    for scenario in drawn(share)[:12]:
        samples = [scenario.call("sample", ()) for _ in range(4000)]
        busy = [sample for sample in samples if sample]
        assert abs(1 - len(busy) / len(samples) - scenario.idle) < 0.05
        assert abs(sum(scenario.name in sample for sample in busy) / len(busy) - scenario.share) < 0.05
        assert scenario.cost == 4000


def test_a_lucky_answer_without_enough_samples_is_wrong() -> None:
    for errors, doubt in ((1.0, 0.317), (1.96, 0.05)):  # 100 samples of the share one half: a standard error of 0.05
        assert share.miss_probability(50, 100, 0.5, 0.05 * errors) == pytest.approx(doubt, abs=0.01)
    scenario = next(scenario for scenario in drawn(share) if not scenario.idle)
    assert "more samples than 0" in scenario.judge(scenario.share).expected
    for _ in range(600):
        scenario.call("sample", ())
    assert scenario.judge(scenario.hits / 600) is None


def test_each_call_takes_its_time_and_eight_times_as_much_with_the_lock() -> None:
    scenario = table("one job")
    (job,) = scenario.jobs
    began = scenario.cost
    key = scenario.call("key_of", (job,))
    assert scenario.cost == began + 3
    scenario.call("acquire", ())
    count = scenario.call("get", (key,))
    scenario.call("put", (key, count + 1))
    assert "wait forever" in scenario.judge({key: count + 1}).remark
    scenario.call("release", ())
    assert scenario.cost == began + 3 + 1 + 8 * (0.5 + 0.5 + 1)
    assert scenario.judge({key: count + 1}) is None


def test_other_threads_change_the_table_only_while_the_lock_is_free() -> None:
    scenario = table("many jobs")
    scenario.call("acquire", ())
    held = dict(scenario.table)
    for job in scenario.jobs:
        scenario.call("key_of", (job,))
    assert scenario.table == held
    scenario.call("release", ())
    for job in scenario.jobs:
        scenario.call("key_of", (job,))
    assert sum(scenario.table.values()) > sum(held.values()) + 30


def test_a_lost_update_is_found_although_the_answer_is_what_was_put() -> None:
    scenario = table("the same key")
    key = next(iter(scenario.table))
    count = scenario.call("get", (key,)) + len(scenario.jobs)
    for _ in range(40):
        scenario.call("key_of", (scenario.jobs[0],))
    scenario.call("put", (key, count))
    assert "between your get and your put" in scenario.judge({key: count}).remark
