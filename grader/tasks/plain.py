"""Scenarios of plain values: the submission gets arguments and returns an answer, and calls no simulated function."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from grader.task import Mismatch, Scenario
from grader.tasks.answers import compare_rows
from grader.values import Value


class PlainScenario:
    """A scenario without simulated functions."""

    def call(self, name: str, _: Sequence[Value]) -> Value:
        """Raise `ValueError`, because there is no simulated function."""
        raise ValueError(f"There is no function {name}.")


class RowsScenario(PlainScenario, ABC):
    """A plain scenario whose right answer is a list of rows. The student reads `advice` if the answer differs."""

    advice: str

    @property
    @abstractmethod
    def right(self) -> list[list[Value]]:
        """The right rows."""

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` for the first row that differs from the right row, or None."""
        return compare_rows(answer, self.right, self.advice)


def right_rows(scenario: Scenario) -> Value:
    """Return the right answer of a `RowsScenario`."""
    assert isinstance(scenario, RowsScenario)
    return list(scenario.right)
