"""Variations of a scenario's plain arguments: each is close to the original, and functions stay unchanged."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.authoring.plain_variations import MOST, Asked, varied
from grader.task import Mismatch, SimulatedFunction
from grader.tasks.plain import PlainScenario
from grader.values import Value


@dataclass
class Given(PlainScenario):
    """A scenario with any arguments."""

    given: Any
    function: str = "f"
    title: str = "a scenario"
    cost: float = 1.0

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        return tuple(self.given)

    def judge(self, answer: Value) -> Mismatch | None:
        del answer
        return None


def arguments(*given: Any) -> list[tuple[Any, ...]]:
    return [asked.arguments for asked in varied([Given(given)], np.random.default_rng(0))]


def test_numbers_have_neighbours_and_text_is_emptied() -> None:
    assert arguments(3) == [(0,), (2,), (4,), (-3,)]
    assert arguments(0.5) == [(0.0,), (1.0,), (-0.5,)]
    assert arguments("ab") == [("",), ("abab",), ("AB",)]
    assert [value for (value,) in arguments(True)] == [False]


def test_a_list_is_shortened_reversed_and_repeated_and_an_item_is_varied() -> None:
    assert arguments([5]) == [([],), ([5],), ([5, 5],), ([0],), ([4],), ([6],), ([-5],)]
    found = arguments([1, 2, 3])
    assert ([3, 2, 1],) in found
    assert ([1, 2, 3, 1, 2, 3],) in found
    assert ([1, 2],) in found


def test_one_argument_is_varied_at_a_time_and_each_variation_comes_once() -> None:
    assert arguments(0, 0) == [(-1, 0), (1, 0), (0, -1), (0, 1)]


def test_a_scenario_that_gives_functions_is_not_varied() -> None:
    assert arguments(3, SimulatedFunction("probe")) == []


def test_many_variations_are_thinned_out_evenly() -> None:
    scenarios = [Given((number,)) for number in range(10, 400, 3)]
    found = varied(scenarios, np.random.default_rng(0))
    assert len(found) == MOST
    assert found[0].arguments == (0,)
    assert found[-1].arguments == (-397,)


def test_a_short_call_is_shown_and_a_long_one_is_described() -> None:
    assert str(Asked("a scenario, argument 1: no items", "f", ([], 2))) == "f([], 2)"
    assert str(Asked("a scenario, argument 1: twice", "f", (list(range(500)),))) == "a scenario, argument 1: twice"
