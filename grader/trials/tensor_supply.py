"""Draw random tensors for timed calls, and check the answers to them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.errors import GraderFault
from grader.inside import protocol
from grader.isolation.forkserver import ForkServer
from grader.seeds import independent
from grader.task import Inputs, TensorExam
from grader.trials import physical_limit
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.faults import wrong_after_all
from grader.trials.inputs import Packed, pack
from grader.trials.turns import Supply, TimedAnswer, TimedInput
from grader.trials.worker_client import WorkerClient
from harness.paired.rounds import Reading
from harness.processes.process_env import Cores

WATCHED: Final = 0.3
"""The share of the inputs that are checked for changes after the call. They are chosen secretly."""


@dataclass(eq=False)
class Drawn(TimedInput):
    """One random input. Its right answer is computed only when it is first needed.

    `allowed` is the error allowed for each element of the answer. `watched` is True if the input must be checked for
    changes after the call. Checking every input would disturb the next call.
    """

    exam: TensorExam
    inputs: Inputs
    allowed: NDArray[np.float64]
    watched: bool

    @property
    def size_bytes(self) -> int:
        """The number of bytes of a right answer."""
        return self.allowed.size * self.inputs[0].itemsize

    @cached_property
    def packed(self) -> Packed:
        """The contents of the input's arrays, and the place of each array in shared memory."""
        return pack(self.inputs)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of a right answer."""
        return self.inputs[0].dtype

    @cached_property
    def expected(self) -> Expected:
        """The right answer with the allowed errors. Raise `GraderFault` if the function that computes it fails."""
        try:
            return Expected(self.exam.oracle(*self.inputs), self.allowed, self.dtype)
        except Exception as error:
            raise GraderFault(f"The oracle failed on an input that is timed: {error!r}.") from error

    def check(self, answer: Answer, plain: Answer | None = None, when: str = "in a timed call") -> None:
        """Raise `WorkerFault` if an answer is wrong. `when` names the call of the wrong answer for the student.

        An answer that agrees with `plain`, the baseline's answer, is right. Otherwise the exact answer decides. Raise
        `GraderFault` if the baseline's answer is wrong.
        """
        if plain is not None and plain.array is not None:
            like_plain = Expected(plain.array.astype(np.float64), self.allowed, self.dtype)
            if judge(like_plain, answer) is None:
                return
        if mismatch := judge(self.expected, answer):
            raise wrong_after_all(mismatch, when)
        if plain is not None and (mismatch := judge(self.expected, plain)):
            raise GraderFault(f"The baseline is wrong {when}: expected {mismatch.expected}, got {mismatch.got}.")

    def arrange(self, worker: WorkerClient, function: str, cores: Cores) -> None:
        """Prepare timed calls in a worker, with tensors of this input's layout."""
        layout = {"inputs": self.packed.layouts, "dtype": str(self.dtype), "shape": list(self.allowed.shape)}
        worker.arrange(protocol.ARRANGE, function, cores, **layout)

    def call(self, worker: WorkerClient) -> tuple[Reading, TimedAnswer]:
        """Make one timed call with this input. Return its cost and its answer."""
        self.packed.write(worker.inputs)
        worker.outputs.poison(self.size_bytes)
        reading, raw = worker.timed(lambda outputs: outputs.read(self.size_bytes))
        return reading, TimedAnswer(raw, not self.watched or self.packed.unchanged(worker.inputs))

    def check_timed(self, answer: TimedAnswer, plain: TimedAnswer | None) -> None:
        """Raise `WorkerFault` if the answer to a timed call is wrong. `plain` is the baseline's answer."""
        self.check(self._tensor(answer), self._tensor(plain) if plain else None)

    def _tensor(self, answer: TimedAnswer) -> Answer:
        array = np.frombuffer(answer.raw, self.dtype).reshape(self.allowed.shape)
        return Answer(array, "Tensor", inputs_unchanged=answer.inputs_unchanged)


class TensorSupply(Supply):
    """An endless supply of random inputs, drawn from a secret seed.

    The allowed errors are computed only for the first input, because this takes long. Twice the largest is allowed in
    all other inputs, which are drawn in the same way.
    """

    first: Drawn

    def __init__(self, exam: TensorExam, rng: np.random.Generator) -> None:
        self._exam, self._inputs, self._rng = exam, exam.timed(independent(rng)), rng
        first = next(self._inputs)
        allowed = exam.allowed(*first)
        self._allowed = np.full_like(allowed, 2 * allowed.max(initial=0.0))
        self.first = Drawn(exam, first, allowed, watched=False)

    def draw(self, count: int) -> list[Drawn]:
        """Return `count` new inputs."""
        watched = self._rng.random(count) < WATCHED
        return [Drawn(self._exam, next(self._inputs), self._allowed, bool(watch)) for watch in watched]

    def choose(self, places: range) -> list[int]:
        """Return one of these places, or no place if there is none."""
        return [int(self._rng.choice(places))] if places else []

    def limit_s(self, trusted: ForkServer, cores: Cores) -> float:
        """Return the shortest time in which one core can compute an answer."""
        one = self.first
        return physical_limit.seconds(self._exam, one.inputs, one.size_bytes, trusted, cores)
