"""Change plain arguments of a task's test cases: no items, one item, a different order, a neighbouring number.

A task may not allow changed arguments. But if all right submissions give the same answer, the task probably does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from grader.task import Scenario, SimulatedFunction
from grader.trials import simulated
from grader.trials.simulated import MOST_SHOWN

MOST: Final = 200
"""The maximum number of changed calls. They are chosen evenly from all test cases."""


@dataclass(frozen=True)
class Asked:
    """A call with changed arguments, which a function answers like a test case. `words` describe the change."""

    words: str
    function: str
    arguments: tuple[Any, ...]

    def __str__(self) -> str:
        text = f"{self.function}({', '.join(map(repr, self.arguments))})"
        return text if len(text) <= MOST_SHOWN else self.words


def varied(scenarios: Sequence[Scenario], rng: np.random.Generator) -> list[Asked]:
    """Return calls with changed arguments of these test cases, or [] if an argument is a function."""
    found: dict[str, Asked] = {}
    for scenario in scenarios:
        if any(isinstance(given, SimulatedFunction) for given in scenario.arguments):
            return []
        plain = [simulated.as_plain(given) for given in scenario.arguments]
        for at, given in enumerate(plain):
            for words, other in _of_value(given, rng):
                arguments = (*plain[:at], other, *plain[at + 1 :])
                told = f"{scenario.title}, argument {at + 1}: {words}"
                found.setdefault(repr(arguments), Asked(told, scenario.function, arguments))
    asked = list(found.values())
    chosen = np.linspace(0, len(asked) - 1, min(MOST, len(asked))).astype(int)
    return [asked[at] for at in chosen]


def _of_value(value: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield "the opposite", not value
    elif isinstance(value, int):
        yield from ((f"{other} for {value}", other) for other in (0, value - 1, value + 1, -value) if other != value)
    elif isinstance(value, float):
        yield from ((f"{other:g} for {value:g}", other) for other in (0.0, 2 * value, -value) if other != value)
    elif isinstance(value, str):
        yield from ((f"{other!r} for {value!r}", other) for other in ("", 2 * value, value.upper()) if other != value)
    elif isinstance(value, list) and value:
        yield from _of_list(value, rng)
    elif isinstance(value, dict) and value:
        key = list(value)[int(rng.integers(len(value)))]
        yield from ((f"under {key!r} {words}", {**value, key: other}) for words, other in _of_value(value[key], rng))


def _of_list(value: list[Any], rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    at, other = (int(place) for place in rng.integers(len(value), size=2))
    yield "no items", []
    yield "the first item alone", value[:1]
    yield "without the last item", value[:-1]
    yield f"without item {at + 1}", value[:at] + value[at + 1 :]
    yield "backwards", value[::-1]
    yield "twice", value + value
    yield f"item {at + 1} twice", [*value[:at], value[at], *value[at:]]
    yield f"item {at + 1} as item {other + 1}", [*value[:at], value[other], *value[at + 1 :]]
    for words, item in _of_value(value[at], rng):
        yield f"in item {at + 1} {words}", [*value[:at], item, *value[at + 1 :]]
