"""Test cases with plain values, and comparisons of an answer, which can be any plain value, with the right answer."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Final, TypeGuard

import numpy as np

from grader.task import Mismatch
from grader.values import Value
from harness.rendering import units


class PlainScenario:
    """A test case without simulated functions: the submission gets arguments, and returns an answer."""

    cost: float = 1.0
    order: ClassVar[str] = ""

    def call(self, name: str, _: Sequence[Value]) -> Value:
        """Raise `ValueError`, because there is no simulated function."""
        raise ValueError(f"There is no function {name}.")


@dataclass
class RowsScenario(PlainScenario, ABC):
    """A test case whose right answer is a list of rows. The student reads `advice` if the answer differs.

    `order` is the rule for the order of the rows. The student reads it if only the order differs.
    """

    function: ClassVar[str]
    title: str
    advice: str

    @property
    @abstractmethod
    def right(self) -> list[list[Value]]:
        """The rows of the right answer."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first row that differs from the right row, or None."""
        right = self.right
        if not isinstance(answer, list):
            return Mismatch("a list of rows", shown(answer), self.advice)
        for number, row in enumerate(right):
            got = answer[number] if number < len(answer) else "nothing"
            if got != row:
                return Mismatch(f"{row} as row {number + 1}", shown(got), self.advice)
        if len(answer) > len(right):
            return Mismatch(units.some(len(right), "row"), units.count(len(answer)), self.advice)
        return None


def as_number(value: Value) -> float | None:
    """Return a finite number as a float, or None for any other value."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_whole(value: Value, least: float = -math.inf, most: float = math.inf) -> TypeGuard[int]:
    """Return whether a value is equal to a whole number from `least` to `most`, such as 3, 3.0 or True."""
    return isinstance(value, int | float) and value % 1 == 0 and least <= value <= most


def shown(value: Value) -> str:
    """Return the repr of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def off_by(got: float, truth: float) -> float:
    """Return the relative error of `got`: positive above the truth, negative below."""
    return got / truth - 1


def compare_seconds(answer: Value, truth_s: float, allowed: float, why: Callable[[float], str]) -> Mismatch | None:
    """Return a `Mismatch` if the relative error of an answer exceeds `allowed`, else None.

    `truth_s` is the right answer in seconds. `why` returns the explanation of a wrong number.
    """
    expected = f"{units.seconds(truth_s, 4)} per call, within {units.percent(allowed)}"
    got_s = as_number(answer)
    if got_s is None:
        return Mismatch(expected, shown(answer), "Return one number: the seconds that one call takes.")
    if abs(off_by(got_s, truth_s)) <= allowed:
        return None
    size = units.deviation(got_s, truth_s, "too long", "too short")
    return Mismatch(expected, units.seconds(got_s, 4), f"That is {size}. {why(got_s)}")


VERBS: Final = ("add", "bind", "cast", "draw", "emit", "find", "join", "load", "make", "pack", "read", "scan", "walk")
THINGS: Final = ("block", "cell", "edge", "field", "group", "item", "key", "line", "node", "page", "row", "tag")
FUNCTION_NAMES: Final = (VERBS, "_", THINGS)
"""The parts of a function's name."""


def invented(rng: np.random.Generator, number: int, *parts: Iterable[str]) -> list[str]:
    """Return `number` different names. Each is joined from one random item of each of the `parts`."""
    return [str(name) for name in rng.choice(["".join(each) for each in product(*parts)], number, replace=False)]


def renamed(rng: np.random.Generator, names: Iterable[str], *parts: Iterable[str]) -> dict[str, str]:
    """Return an invented name (`invented`) for each of the recorded `names`, which may be repeated."""
    known = list(dict.fromkeys(names))
    return dict(zip(known, invented(rng, len(known), *parts), strict=True))


def random_depths(rng: np.random.Generator, number: int, deeper: float, back: int, most: int) -> list[int]:
    """Return the depths of the nodes of a random tree with one root, in the order of a walk from the root.

    The next node is one deeper with the probability `deeper`, up to the depth `most`. Otherwise it is up to `back`
    levels less deep, with equal probabilities.
    """
    chances, steps = rng.random(number).tolist(), rng.integers(back + 1, size=number).tolist()
    depths = [0]
    for chance, step in zip(chances[1:], steps[1:], strict=True):
        last = depths[-1]
        depths.append(last + 1 if chance < deeper and last < most else max(1, last - step))
    return depths
