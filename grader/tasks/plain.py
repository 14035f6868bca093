"""Test cases with plain values: the submission gets arguments, returns an answer, and calls no grader function."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from grader.task import Mismatch, Scenario
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


def right_rows(scenario: Scenario) -> Value:
    """Return the right answer of a `RowsScenario`."""
    assert isinstance(scenario, RowsScenario)
    return list(scenario.right)
