"""Turns: what one side of a duel does when it is its turn, and what that cost.

A side is one worker with its code loaded. All sides of a round get the same inputs, drawn for this round from a secret
seed. Every answer of the submission is compared with the baseline's answer to the same input; where the two differ, the
oracle decides. So an oracle may be slow, and a fast one would be a solution that lies in the student's kit. Asking
itself has a price: it is measured by calls of nothing on a trusted worker, in every round, and its median is taken off.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.errors import GraderFault
from grader.task import Inputs, TensorExam
from grader.trials.correctness import Answer, Expected, judge
from grader.trials.faults import wrong_after_all
from grader.trials.inputs import Packed, pack
from grader.trials.supervisor import Worker
from harness.rounds import Reading
from harness.twins import Cores

WARM_UP_CALLS: Final = 4
"""Calls of each new worker that are checked but not counted: first ones load kernels and grow the heap."""

TURN_S: Final = 1e-3
"""A turn makes as many paid calls as fit, on inputs of their own: one call of 0.1 ms is mostly luck."""

MOST_CALLS: Final = 3
"""Paid calls of a turn at most: each needs an input of its own, drawn before the turn and checked after it."""

NULL_CALLS: Final = 1
"""Calls of nothing in each round that count; one before them does not."""

WATCHED: Final = 0.3
"""Part of the inputs after which is looked, in secret, if a call changed them."""

LEAST_NET: Final = 0.25
"""A net cost below this part of the price of asking is not resolved: it counts as this much."""

Blame = Callable[[str], AbstractContextManager[None]]
"""Says whose fault it is when the code within raises."""


@dataclass(frozen=True)
class Drawn:
    """One fresh input of the timed size. Its right answer is worked out when it is asked for, once.

    `allowed` has one element for each of the answer.
    """

    exam: TensorExam
    inputs: Inputs
    allowed: NDArray[np.float64]
    watched: bool
    """Whether to look after the call if it left the inputs as they were: to look after each would disturb the next."""

    @property
    def size_bytes(self) -> int:
        """Bytes of a right answer."""
        return self.allowed.size * self.inputs[0].itemsize

    @cached_property
    def packed(self) -> Packed:
        """The inputs as they are laid out in a worker's memory."""
        return pack(self.inputs)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of a right answer."""
        return self.inputs[0].dtype

    @cached_property
    def expected(self) -> Expected:
        """The oracle's answer, with the error that the supply allows. Raises `GraderFault` where it has none."""
        try:
            return Expected(self.exam.oracle(*self.inputs), self.allowed, self.dtype)
        except Exception as error:
            raise GraderFault(f"The oracle failed on an input that is timed: {error!r}.") from error

    def check(self, answer: Answer, plain: Answer | None = None, when: str = "in a timed call") -> None:
        """Raise a `WorkerFault` for a wrong answer, given `when`; `plain` is the baseline's answer.

        An answer like the baseline's is right. Otherwise the oracle decides; where it finds the baseline wrong, that is
        a `GraderFault`.
        """
        if plain is not None and plain.array is not None:
            like_plain = Expected(plain.array.astype(np.float64), self.allowed, self.dtype)
            if judge(like_plain, answer) is None:
                return
        if mismatch := judge(self.expected, answer):
            raise wrong_after_all(mismatch, when)
        if plain is not None and (mismatch := judge(self.expected, plain)):
            raise GraderFault(f"The baseline is wrong {when}: expected {mismatch.expected}, got {mismatch.got}.")


class Supply:
    """Fresh inputs from a secret seed.

    What error is allowed is worked out for the first input alone, which costs more than an answer does; the largest of
    it, twice, is allowed for each element of the others, which are drawn alike.
    """

    def __init__(self, exam: TensorExam, rng: np.random.Generator) -> None:
        self._exam, self._inputs, self._rng = exam, exam.timed(rng), rng
        first = next(self._inputs)
        allowed = exam.allowed(*first)
        self._allowed = np.full_like(allowed, 2 * allowed.max(initial=0.0))
        self.first = Drawn(exam, first, allowed, watched=False)

    def draw(self, count: int) -> list[Drawn]:
        """Draw so many."""
        watched = self._rng.random(count) < WATCHED
        return [Drawn(self._exam, next(self._inputs), self._allowed, bool(watch)) for watch in watched]


@dataclass
class Side:
    """A worker that takes turns with one function. `calls` is how many paid calls make a turn of it.

    `answers` are those of its last turn, or of its warm-up: one for each input, in their order.
    """

    worker: Worker
    function: str
    blame: Blame
    calls: int = 1
    asked: list[Reading] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """How many inputs a turn takes."""
        return 1 + self.calls

    def load(self, source: str) -> None:
        """Load its code."""
        with self.blame("The file"):
            self.worker.load(source)

    def arrange(self, first: Drawn, drawn: Sequence[Drawn], cores: Cores) -> None:
        """Lay out the timed calls on `cores` for inputs like the `first`, warm up, and see how many calls make a turn.

        `drawn` are the inputs to warm up with, `WARM_UP_CALLS` of them.
        """
        with self.blame(self.function):
            self.worker.arrange(self.function, first.packed, str(first.dtype), first.allowed.shape, cores)
        call_s = min(call.cpu_s for call in self._play(drawn))
        self.calls = max(1, min(MOST_CALLS, round(TURN_S / call_s)))

    def turn(self, drawn: Sequence[Drawn]) -> Reading:
        """One turn, on the first of these inputs: its paid calls, each at the price of their median, asking included.

        The first call is not paid: it meets the caches as another side has left them, costs a quarter more and scatters
        three times as much. The median forgives a call that met an interrupt. It forgives nothing else: every call has
        an answer to give.
        """
        paid = self._play(drawn[: self.inputs])[1:]
        cpu_s, wall_s = median(call.cpu_s for call in paid), median(call.wall_s for call in paid)
        return Reading(cpu_s * self.calls, wall_s * self.calls, self.calls)

    def vouch(self) -> None:
        """Let what its process tree does beside its turns be its fault."""
        with self.blame(self.function):
            self.worker.vouch()

    def ask(self, size_bytes: int) -> None:
        """Note what asking alone costs."""
        with self.blame(self.function):
            calls = [self.worker.timed(size_bytes, null=True)[0] for _ in range(1 + NULL_CALLS)]
        self.asked += calls[1:]

    def answer(self, drawn: Sequence[Drawn]) -> Sequence[Answer]:
        """Return its answers to the inputs of a round: those of its turn, and of more calls where there are more."""
        answers = list(self.answers)
        self._play(drawn[len(answers) :])
        self.answers = answers + self.answers
        return self.answers

    def check(self, drawn: Sequence[Drawn], plain: Sequence[Answer] = ()) -> None:
        """Check its answers to these inputs, with the baseline's answers where there are any."""
        with self.blame(self.function):
            for number, (one, answer) in enumerate(zip(drawn, self.answers, strict=False)):
                one.check(answer, plain[number] if plain else None)

    def _play(self, drawn: Sequence[Drawn]) -> list[Reading]:
        """A call on each input. Between calls only the next input arrives; answers are checked after the turn.

        Whatever passes through the core's caches before a call makes it scatter.
        """
        readings, taken = [], []
        with self.blame(self.function):
            for one in drawn:
                one.packed.write(self.worker.inputs)
                self.worker.outputs.poison(one.size_bytes)
                reading, raw = self.worker.timed(one.size_bytes)
                readings.append(reading)
                taken.append((raw, not one.watched or one.packed.unchanged(self.worker.inputs)))
        self.answers = [
            Answer(np.frombuffer(raw, one.dtype).reshape(one.allowed.shape), "Tensor", inputs_unchanged=unchanged)
            for one, (raw, unchanged) in zip(drawn, taken, strict=True)
        ]
        return readings


def net(turn: Reading, asked: Sequence[Reading]) -> Reading:
    """A turn less the price of asking."""
    asking_cpu_s = turn.calls * median(one.cpu_s for one in asked)
    asking_wall_s = turn.calls * median(one.wall_s for one in asked)
    cpu_s = max(turn.cpu_s - asking_cpu_s, LEAST_NET * asking_cpu_s)
    return Reading(cpu_s, max(cpu_s, turn.wall_s - asking_wall_s), turn.calls)
