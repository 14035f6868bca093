"""Simulated scenarios of lessons 16 and 18: a live program with a true share, and a table that threads change."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

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
