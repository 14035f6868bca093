"""Task (a) of lesson 18: a simulated thread and a table that other threads change."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from grader.values import Value

shared_table = import_module("grader.tasks.lesson_18_threads.shared_table")


def drawn(seed: int = 1) -> tuple[Any, ...]:
    return tuple(shared_table.draw_scenarios(np.random.default_rng(seed)))


def titled(words: str) -> Any:
    return next(scenario for scenario in drawn() if words in scenario.title)


def test_most_threads_have_many_jobs_and_few_keys() -> None:
    scenarios = drawn()
    many = [scenario for scenario in scenarios if scenario.title == "many jobs"]
    assert len(many) == 14
    assert all(80 <= len(scenario.jobs) <= 120 and 3 <= len(scenario.table) <= 5 for scenario in many)
    assert sorted(len(scenario.jobs) for scenario in scenarios)[:3] == [0, 1, 60]
    assert titled("the same key").keys.keys() == set(titled("the same key").jobs)


def test_each_call_takes_its_time_and_eight_times_as_much_with_the_lock() -> None:
    scenario = titled("one job")
    (job,) = scenario.jobs
    began = scenario.cost
    key = scenario.call("key_of", (job,))
    assert scenario.cost == began + 3
    scenario.call("acquire", ())
    count = scenario.call("get", (key,))
    scenario.call("put", (key, count + 1))
    scenario.call("release", ())
    assert scenario.cost == began + 3 + 1 + 8 * (0.5 + 0.5 + 1)
    assert scenario.judge({key: count + 1}) is None


def test_other_threads_change_the_table_only_while_the_lock_is_free() -> None:
    scenario = titled("many jobs")
    before = dict(scenario.table)
    scenario.call("acquire", ())
    held = dict(scenario.table)
    for job in scenario.jobs:
        scenario.call("key_of", (job,))
    assert scenario.table == held
    scenario.call("release", ())
    for job in scenario.jobs:
        scenario.call("key_of", (job,))
    assert sum(scenario.table.values()) > sum(before.values()) + 30


def test_a_lost_update_is_found_although_the_answer_is_what_was_put() -> None:
    scenario = titled("the same key")
    key = next(iter(scenario.table))
    seen = scenario.call("get", (key,))
    for _ in range(40):
        scenario.call("key_of", (scenario.jobs[0],))
    scenario.call("put", (key, seen + len(scenario.jobs)))
    mismatch = scenario.judge({key: seen + len(scenario.jobs)})
    assert mismatch is not None
    assert "between your get and your put" in mismatch.remark


def test_a_lock_that_is_still_held_is_wrong() -> None:
    scenario = titled("no jobs")
    assert scenario.judge({}) is None
    scenario.call("acquire", ())
    assert "still" not in scenario.judge({}).got
    assert "wait forever" in scenario.judge({}).remark


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([("acquire", ()), ("acquire", ())], "already holds"),
        ([("release", ())], "does not hold"),
        ([("acquire", (1,))], "takes no arguments"),
        ([("key_of", ("a",))], "takes one of the jobs"),
        ([("key_of", (True,))], "takes one of the jobs"),
        ([("get", ("no such key",))], "a key that key_of returned"),
        ([("put", ("no such key", 3))], "a key that key_of returned"),
        ([("put", ("no such key",))], "a key that key_of returned"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(calls: list[tuple[str, tuple[Value, ...]]], said: str) -> None:
    scenario = titled("one job")
    *before, last = calls
    for name, arguments in before:
        scenario.call(name, arguments)
    with pytest.raises(ValueError, match=said):
        scenario.call(*last)


@pytest.mark.parametrize("count", [1.5, True, "3", None])
def test_a_count_is_a_whole_number(count: Value) -> None:
    scenario = titled("one job")
    with pytest.raises(ValueError, match="whole number"):
        scenario.call("put", (next(iter(scenario.table)), count))
