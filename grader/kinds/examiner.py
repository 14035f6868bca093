"""What every kind of exam does: it examines a submission, and it judges trusted code in this process."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from grader import overlays
from grader.errors import GraderFault, WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.records import Attempt, Cost
from grader.session import Session
from grader.source import Source
from grader.task import Mismatch, SimulatedExam, Task, TensorExam, ValueExam, tier_of
from grader.trials import known_mistakes, native
from grader.trials.faults import Raised, untrusted
from grader.trials.known_mistakes import KnownMistakes, Probed
from grader.trials.turns import Supply

E = TypeVar("E", TensorExam, SimulatedExam, ValueExam)

Solver = Callable[[Any], Any]
"""A function that answers one test case: a scenario, or a tuple of NumPy arrays."""

TIMED: Final = 2
"""The number of judged inputs of each timed size. A function that always returns its first answer fails the second."""

DOUBTS: Final = 4
"""The number of extra estimates of a function that seems fast enough to earn points."""


@dataclass
class Examiner(ABC, Generic[E]):
    """Grades submissions for one task, and judges trusted code in this process, with test cases drawn from one seed.

    In this process, simulated costs are exact, and all other costs are estimates, which can distinguish a function from
    one that is twice as fast.
    """

    task: Task
    exam: E
    seed: tuple[str, ...]
    timed: int = TIMED

    @abstractmethod
    def examine(self, source: Source, session: Session) -> Attempt:
        """Grade a source text. Raise `WorkerFault` if it ends its own grading, or `GraderFault`: an internal error."""

    @property
    def cost(self) -> "MeasuredCost":
        """The task's cost. Raise `GraderFault` if it cannot be measured."""
        if isinstance(self.task.cost, MeasuredCost):
            return self.task.cost
        raise self.cannot_measure()

    def cannot_measure(self) -> GraderFault:
        """Return the error that this kind of exam cannot measure the task's cost."""
        exam, cost = type(self.exam).__name__, self.task.cost.name
        return GraderFault(f"{self.task.full_name}: a {exam} cannot measure {cost}.")

    def supplies(self, rng: np.random.Generator) -> Iterator[tuple[str, Task, Supply]]:  # noqa: ARG002 - none is drawn
        """Yield the name of each timed size, the task with the baseline for this size, and random inputs."""
        raise self.cannot_measure()

    @property
    @abstractmethod
    def given(self) -> Sequence[Any]:
        """What a function gets in each test case: a scenario, or a tuple of NumPy arrays."""

    @property
    @abstractmethod
    def probes(self) -> Sequence[Any]:
        """New test cases from the public seed, to some of which the answers of known mistakes are recorded."""

    @abstractmethod
    def probed(self, solver: Solver, case: Any) -> Probed:
        """Return a function's answer to a test case in plain values, and whether this answer is wrong."""

    def tolerance(self, case: Any) -> float:  # noqa: ARG002 - most kinds of exams have none
        """Return the absolute error that the task allows in numbers of the answer to a test case."""
        return 0.0

    def explanation(self, probed: Callable[[Any], Probed]) -> str:
        """Return the explanation of the known mistake that gives the same answers to the probes, or "".

        `probed` calls a wrong submission, and returns its answer in plain values, and whether this answer is wrong.
        """
        known = known_mistakes.read().get(self.task.full_name, KnownMistakes())
        cases = dict(enumerate(self.probes))  # a played scenario is large, so each probe is removed before it is played
        with suppress(Raised, WorkerFault), untrusted(self.task.name):
            return known.explanation(probed(cases.pop(place)) for place in known.probes)
        return ""

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
        """Execute a source text of the kit, or a mutant of it, and return the function that it defines for the task."""
        names: dict[str, Any] = {"__name__": "submission"}
        text = native.built_once(self.task, source).timed
        exec(compile(str(text), "submission.py", "exec"), names)  # noqa: S102 - it is part of the kit, like this line
        return self.bound(names)

    @abstractmethod
    def bound(self, names: Mapping[str, Any]) -> Solver:
        """Return a function that answers a test case with the functions in `names`."""

    def ratio(self, solver: Solver) -> float:
        """Return the estimated ratio of a right function: the baseline's cost divided by its cost."""
        ratio = self._estimate(solver)
        for _ in range(DOUBTS):  # another process may have slowed the baseline, so both are measured again
            if tier_of(ratio, self.task.tiers):
                ratio = min(ratio, self._estimate(solver))
        return ratio

    def _estimate(self, solver: Solver) -> float:
        cost = self.cost.estimate
        baselines = [self.solver(overlays.whole(path)) for path in self.task.baselines]
        every = zip(baselines if len(baselines) > 1 else baselines * len(self.calls), self.calls, strict=True)
        return min(cost(plain, calls) / cost(solver, calls) for plain, calls in every)

    @property
    def calls(self) -> list[list[Any]]:
        """The test cases whose cost is estimated together, for each timed size."""
        raise self.cannot_measure()


def told(words: str, mismatch: Mismatch | None) -> str:
    """Return the description of a test case with how its answer is wrong, or "" if it is right."""
    return f"{words}: expected {mismatch.expected}, got {mismatch.got}" if mismatch else ""


class MeasuredCost(Cost, ABC):
    """A kind of cost that is measured from outside the submission's process."""

    @abstractmethod
    def measure(self, examiner: Examiner[Any], tree: ForkServer, source: Source, session: Session) -> Attempt:
        """Compare the cost of a right submission, run in new processes of `tree`, with the baseline's cost."""

    @abstractmethod
    def estimate(self, solver: Solver, calls: Sequence[Any]) -> float:
        """Return the cost of answering these test cases in this process, without a sandbox."""
