"""What a kind of exam does: it examines a submission, and judges trusted code in this process."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from grader import overlays
from grader.kinds.estimates import least_s, peak_bytes
from grader.records import Attempt, Cost
from grader.session import Session
from grader.task import Array, Mismatch, SimulatedExam, Task, TensorExam, ValueExam, tier_of
from grader.trials import native

E = TypeVar("E", TensorExam, SimulatedExam, ValueExam)

Solver = Callable[[Any], Any]
"""A function that answers one test case: a scenario, or a tuple of NumPy arrays."""

Change = tuple[int, Callable[[Array], Array]]
"""A change of an input array, and the number of dimensions that it needs."""

DOUBTS: Final = 4
"""The number of extra estimates of a function that seems fast enough to earn points."""


@dataclass
class Draw(ABC, Generic[E]):
    """The random test cases of one task for one seed, on which trusted code is judged in this process.

    Answers are judged as in grading. Simulated costs are exact, and all other costs are estimates, which can
    distinguish a function from one that is twice as fast. `timed` is the number of timed inputs of each size that are
    judged too, besides the test cases for correctness.
    """

    task: Task
    exam: E
    seed: str
    timed: int

    @property
    @abstractmethod
    def given(self) -> Sequence[Any]:
        """What a function gets in each test case: a scenario, or a tuple of NumPy arrays."""

    @property
    def measures(self) -> bool:
        """Whether the function takes measurements. Even a right one then fails in a few random cases."""
        return False

    def mistake(self, solver: Solver) -> str:
        """Return a description of the first test case with a wrong answer, or "" if enough answers are right."""
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            return self._mistake(solver)

    @abstractmethod
    def _mistake(self, solver: Solver) -> str: ...

    def solver(self, source: str) -> Solver:
        """Execute a source text, and return the function that it defines for the task.

        A function in C is compiled first. Exceptions of the source text are not caught.
        """
        source = native.built_once(self.task, source, native.LocalPlace()).timed
        names: dict[str, Any] = {"__name__": "submission"}
        exec(compile(source, "submission.py", "exec"), names)  # noqa: S102 - it is part of the kit, or a mutant of it
        return self._solver(names)

    @abstractmethod
    def _solver(self, names: Mapping[str, Any]) -> Solver: ...

    def ratio(self, solver: Solver) -> float:
        """Return the estimated ratio of a right function: the baseline's cost divided by its cost."""
        ratio = self._estimate(solver)
        for _ in range(DOUBTS):  # another process may have slowed the baseline, so both are measured again
            if tier_of(ratio, self.task.tiers):
                ratio = min(ratio, self._estimate(solver))
        return ratio

    def _estimate(self, solver: Solver) -> float:
        cost = peak_bytes if self.task.cost is Cost.PEAK_MEMORY else least_s
        baselines = [self.solver(overlays.whole(path)) for path in self.task.baselines]
        every = baselines if len(baselines) > 1 else baselines * len(self.calls)
        return min(cost(plain, calls) / cost(solver, calls) for plain, calls in zip(every, self.calls, strict=True))

    @property
    def calls(self) -> list[list[Any]]:
        """The test cases whose cost is estimated together, for each timed size. A simulated cost needs none."""
        return []

    def vary(self, changes: Mapping[str, Change], solvers: Sequence[Solver]) -> None:
        """Add test cases with changed input arrays, for which all `solvers` are right. By default, add none."""


def told(words: str, mismatch: Mismatch | None) -> str:
    """Return the description of a test case with how its answer is wrong, or "" if it is right."""
    return f"{words}: expected {mismatch.expected}, got {mismatch.got}" if mismatch else ""


@dataclass(frozen=True)
class Kind(Generic[E]):
    """The functions for exams of the class `exam`, which can measure the kinds of cost `costs`.

    `examine(task, exam, source, session, seed)` grades a source text. `examine_known` grades a source text of the kit
    with the same result, but in a shorter time, if there is a shorter way. `try_out(exam, function)` calls a student's
    function on one small case, and returns a description of the case and a mismatch if the answer is wrong.
    """

    exam: type[E]
    costs: Collection[Cost]
    examine: Callable[[Task, E, str, Session, Sequence[str]], Attempt]
    try_out: Callable[[E, Callable[..., Any]], tuple[str, Mismatch | None]]
    draw: Callable[[Task, E, str, int], Draw[E]]
    examine_known: Callable[[Task, E, str, Session, Sequence[str]], Attempt] | None = None
