"""Test cases with plain values: the submission gets arguments, returns an answer, and calls no grader function."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from grader.task import Mismatch
from grader.tasks.answers import compare_rows
from grader.values import Value


class PlainScenario:
    """A test case without simulated functions."""

    def call(self, name: str, _: Sequence[Value]) -> Value:
        """Raise `ValueError`, because there is no simulated function."""
        raise ValueError(f"There is no function {name}.")


class RowsScenario(PlainScenario, ABC):
    """A test case whose right answer is a list of rows. The student reads `advice` if the answer differs."""

    advice: str

    @property
    @abstractmethod
    def right(self) -> list[list[Value]]:
        """The rows of the right answer."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first row that differs from the right row, or None."""
        return compare_rows(answer, self.right, self.advice)


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
