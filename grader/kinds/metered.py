"""Compare what a meter shows outside a submission's process with what it shows for the baseline, on the same inputs."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from grader.errors import MachineError
from grader.isolation.forkserver import ForkServer
from grader.kinds.examiner import Examiner, MeasuredCost, Solver
from grader.limits import Limits
from grader.records import Attempt, Speed, Status
from grader.seeds import generator
from grader.session import Session
from grader.source import Source
from grader.task import Task, TensorExam, tier_of
from grader.trials.correctness import Answer
from grader.trials.faults import blame_grader, blame_submission
from grader.trials.inputs import ALIGNMENT
from grader.trials.tensor_supply import Drawn, TensorSupply
from grader.trials.worker_client import worker

CALLS: Final = 3
"""The number of calls per process. With several, what is kept from call to call counts too."""

R = TypeVar("R")


class MeteredCost(MeasuredCost, ABC, Generic[R]):
    """A kind of cost that a meter shows as a reading of type R. Only a function of tensors can be metered."""

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a metered worker."""
        return limits

    @abstractmethod
    def read(self, pid: int) -> R:
        """Return what the meter shows for a process. Raise `MachineError` if this machine has no such meter."""

    @abstractmethod
    def spent(self, baseline: Sequence[R], own: Sequence[R]) -> tuple[float, float]:
        """Return the costs of the baseline and of the submission, each from the four readings of its worker.

        The meter is read before and after the file is loaded, and before and after the last call.
        """

    @abstractmethod
    def said(self, baseline: float, own: float) -> str:
        """Return a sentence for the student with the costs of the baseline and of the submission."""

    def measure(self, examiner: Examiner[Any], tree: ForkServer, source: Source, session: Session) -> Attempt:
        """Compare the cost of a right submission, run in the process tree `tree`, with the baseline's."""
        task, exam = examiner.task, examiner.exam
        if not isinstance(exam, TensorExam):
            raise examiner.cannot_measure()
        drawn = TensorSupply(exam, generator(*examiner.seed, "measured")).draw(CALLS)
        with blame_grader(f"The baseline of {task.full_name}"), session.pool.trusted(tensors=True) as trusted:
            reference, plain = self.readings(task, trusted, task.baseline, drawn)
        with blame_submission(task.name):
            own, answers = self.readings(task, tree, source, drawn)
        for one, answer, other in zip(drawn, answers, plain, strict=True):
            one.check(answer, other, f"when its {self.name} was measured")
        return self.graded(task, reference, own)

    def estimate(self, solver: Solver, calls: Sequence[Any]) -> float:
        """Return what these calls cost in this process, at least 1, or NaN if this machine has no such meter.

        One call is made before, because the first call may load a library, such as torch.
        """
        solver(calls[0])
        try:
            before = self.read(os.getpid())
            for each in calls:
                solver(each)
            readings = [before, before, before, self.read(os.getpid())]
        except MachineError:
            return math.nan
        return max(self.spent(readings, readings)[1], 1.0)

    def graded(self, task: Task, baseline: Sequence[R], own: Sequence[R]) -> Attempt:
        """Return the graded result for the readings of two workers, with the ratio and a sentence for the student."""
        costs = self.spent(baseline, own)
        ratio = costs[0] / max(costs[1], 1)
        speed = Speed(ratio, ratio, ratio, rounds=CALLS, tier=tier_of(ratio, task.tiers))
        return Attempt(Status.PASSED, self.said(*costs), speed=speed)

    def readings(
        self, task: Task, tree: ForkServer, source: Source, drawn: Sequence[Drawn]
    ) -> tuple[list[R], list[Answer]]:
        """Load a source text in a new process of `tree`, call its function on each input, and read the meter."""
        input_bytes = ALIGNMENT + max(at + base.nbytes for one in drawn for at, base in one.packed.bases)
        output_bytes = ALIGNMENT + max(one.size_bytes for one in drawn)
        answers = list[Answer]()
        with worker(tree, self.limits(task.limits), input_bytes, output_bytes) as one:
            found = [one.begin(self.read)]
            one.load(source)
            found.append(one.metered(self.read))
            for number, given in enumerate(drawn, start=1):
                if number == len(drawn):
                    found.append(one.metered(self.read))
                one.outputs.poison(given.size_bytes)
                claim = one.call(task.name, given.packed)
                unchanged = given.packed.unchanged(one.inputs)
                answers.append(Answer.read(claim, one.outputs, inputs_unchanged=unchanged))
            return [*found, one.metered(self.read)], answers
