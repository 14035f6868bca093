import itertools
from importlib import import_module

import numpy as np
import pytest

from grader.task import Scenario
from grader.values import Value

scenarios = import_module("grader.tasks.lesson_07_fuzzing.scenarios")
PLAIN: dict[str, Value] = {"rows": 64, "columns": 64, "step": 1, "transposed": False}


def drawn(seed: int) -> tuple[Scenario, ...]:
    found: tuple[Scenario, ...] = scenarios.draw_scenarios(np.random.default_rng(seed))
    return found


def seconds(scenario: Scenario, case: dict[str, Value]) -> float:
    found = scenario.call("measure", ("mix", case))
    assert isinstance(found, float)
    return found


def test_what_is_slow_is_clearly_slow_and_what_is_not_clearly_not() -> None:
    for scene in drawn(0)[:4]:
        for _ in range(100):
            case = scene.call("fuzzer", ())
            assert isinstance(case, dict)
            twin = {**case, "step": 1, "transposed": False}
            ratio = min(seconds(scene, case), seconds(scene, case)) / min(seconds(scene, twin), seconds(scene, twin))
            slow = scene.slowness.is_slow(scenarios.read(case))  # type: ignore[attr-defined]
            assert ratio > 4.5 if slow else ratio < 1.6


def test_a_measurement_is_disturbed_now_and_then_and_never_two_in_a_row() -> None:
    scenario = drawn(0)[0]
    times = [seconds(scenario, PLAIN) for _ in range(400)]
    disturbed = [time > 2 * min(times) for time in times]
    assert 400 / 14 <= sum(disturbed) <= 400 / 6
    assert not any(one and other for one, other in itertools.pairwise(disturbed))


def test_what_is_no_case_is_refused_and_is_no_answer() -> None:
    scenario = drawn(0)[0]
    for change, words in (
        ({"rows": 0}, "rows is a whole number from 1 to 4096"),
        ({"step": 2.0}, "step is a whole number from 1 to 16"),
        ({"transposed": 1}, "transposed is True or False"),
        ({"rows": True}, "rows is a whole number"),
        ({"rows": 4096, "columns": 4096}, "spans more than"),
        ({"depth": 3}, "a case is a dict of rows, columns, step, transposed"),
    ):
        case: dict[str, Value] = {**PLAIN, **change}
        with pytest.raises(ValueError, match=words):
            scenario.call("measure", ("mix", case))
        mismatch = scenario.judge(case)
        assert mismatch is not None
        assert words in mismatch.remark
    assert scenario.cost == 1  # the least cost


def test_a_slow_case_that_is_not_the_smallest_is_answered_with_a_smaller_one() -> None:
    scenario = drawn(2)[0]
    least = scenario.slowness.least  # type: ignore[attr-defined]
    larger = scenarios.Case(least.rows + 5, least.columns, 4, transposed=True)
    assert scenario.judge(least.to_value()) is None
    mismatch = scenario.judge(larger.to_value())
    assert mismatch is not None
    assert f"{scenarios.Case(least.rows, least.columns, 4, transposed=True)} is slow too" in mismatch.remark


def test_every_exam_has_lucky_and_unlucky_first_draws_alike() -> None:
    """Otherwise the tier would depend on the number of draws before the first slow case."""
    for seed in range(3):
        met = []
        for scenario in drawn(seed):
            cases = (scenarios.read(scenario.call("fuzzer", ())) for _ in range(100))
            met.append(next(place for place, case in enumerate(cases) if scenario.slowness.is_slow(case)))  # type: ignore[attr-defined]
        assert min(met) == 0
        assert max(met) == 19
        assert 8 < sum(met) / len(met) < 11
