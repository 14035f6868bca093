"""Worlds of plain values: arguments in, an answer out, and nothing to be called in between."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from grader.task import Mismatch, Scenario
from grader.tasks.answers import compare_rows
from grader.values import Value


class PlainWorld:
    """A world without metered functions."""

    def call(self, name: str, _: Sequence[Value]) -> Value:
        """Nothing can be called."""
        raise ValueError(f"There is no function {name}.")


class RowsWorld(PlainWorld, ABC):
    """A plain world whose right answer is a list of rows. `advice` is the way on where an answer differs."""

    advice: str

    @property
    @abstractmethod
    def right(self) -> list[list[Value]]:
        """The rows that are asked for."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the right rows; the first that differs is told."""
        return compare_rows(answer, self.right, self.advice)


def right_rows(world: Scenario) -> Value:
    """Return the right answer to a world of rows."""
    assert isinstance(world, RowsWorld)
    return list(world.right)
