"""Measure the two functions of a duel, in which a submission and the baseline, a simple function, run alternately.

A turn is one measurement of one function: one warm-up call, and then a few measured calls. In each round, both
functions get the same new inputs, drawn from a secret seed. The submission's answers are compared with the baseline's
answers to the same inputs. If two answers differ, the oracle decides: a slow and exact function. It is seldom called,
so it may be slow. A fast oracle would be a solution, and students get the oracles.

A fast submission makes three measured calls, and a slow baseline makes one. The baseline then answers one of the other
two inputs, chosen secretly after the turns. The last input stays unanswered, which saves a slow call. The cost of a
turn is the median of its calls, so a submission must save work in two calls to lower it. If both answers are wrong,
the grader always finds one of them. If only one is wrong, every second round finds it.

A request to a process also takes time. This overhead is measured in every round by no-op calls of a process with
trusted code, and its median is subtracted.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from grader.errors import GraderFault
from grader.seeds import independent
from grader.task import Inputs, TensorExam
from grader.trials.correctness import INPUTS_CHANGED, Answer, Expected, judge
from grader.trials.faults import wrong_after_all
from grader.trials.inputs import Packed, pack
from grader.trials.worker_client import WorkerClient
from harness.paired.rounds import Reading
from harness.processes.process_env import Cores

FIRST_CALLS: Final = 4
"""The number of first calls in each new process. They are not measured, because they load code and allocate memory.

The first call of a function with arrays of 2 MiB caused 2,200 page faults, and took twice as long as later calls. From
the seventh call on, malloc had kept enough memory, and there were no page faults.
"""

FEW_FIRST_CALLS: Final = 2
"""The number of first calls of a function whose calls take `SLOW_CALL_S` or more."""

SLOW_CALL_S: Final = 0.01
"""If both of the first two calls take at least this many seconds, a new process makes only `FEW_FIRST_CALLS`."""

TURN_S: Final = 1e-3
"""Seconds of measured calls in one turn, each call with a new input. A single call of 0.1 ms would be too noisy."""

MOST_CALLS: Final = 3
"""The most measured calls per turn. For each call, an input is drawn before the turn."""

NULL_CALLS: Final = 1
"""The number of measured no-op calls per round. One more no-op call comes before them."""

WATCHED: Final = 0.3
"""The share of the inputs that are checked for changes after the call. They are chosen secretly."""

LEAST_NET: Final = 0.25
"""The smallest cost of a turn without the overhead of its requests, as a share of this overhead.

Smaller costs are regarded as noise.
"""

Blame = Callable[[str], AbstractContextManager[None]]
"""A function that takes the name of the measured function and returns a context manager.

The context manager blames the submission or the grader for an exception inside the `with` block.
"""


@dataclass(eq=False)
class Drawn:
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

        An answer that is equal to `plain`, the baseline's answer, is right. Otherwise the exact answer decides. Raise
        `GraderFault` if the baseline's answer is wrong.
        """
        if plain is not None and self._identical(plain, answer):
            return
        if plain is not None and plain.array is not None:
            like_plain = Expected(plain.array.astype(np.float64), self.allowed, self.dtype)
            if judge(like_plain, answer) is None:
                return
        if mismatch := judge(self.expected, answer):
            raise wrong_after_all(mismatch, when)
        if plain is not None and (mismatch := judge(self.expected, plain)):
            raise GraderFault(f"The baseline is wrong {when}: expected {mismatch.expected}, got {mismatch.got}.")

    def _identical(self, plain: Answer, answer: Answer) -> bool:
        """Return whether two answers have the same bytes, which takes a twentieth of the time of `judge`."""
        one, other = plain.array, answer.array
        return (
            one is not None
            and other is not None
            and answer.inputs_unchanged
            and one.shape == other.shape == self.allowed.shape
            and one.dtype == other.dtype == self.dtype
            and one.tobytes() == other.tobytes()
        )


class Supply:
    """An endless supply of random inputs, drawn from a secret seed.

    The allowed errors are computed only for the first input, because this takes longer than computing an answer. All
    other inputs are drawn in the same way, so twice the largest of these errors is allowed in each of their elements.
    """

    def __init__(self, exam: TensorExam, rng: np.random.Generator) -> None:
        self._exam, self._inputs, self._rng = exam, exam.timed(independent(rng)), rng
        first = next(self._inputs)
        allowed = exam.allowed(*first)
        self._allowed = np.full_like(allowed, 2 * allowed.max(initial=0.0))
        self.first = Drawn(exam, first, allowed, watched=False)

    def large(self) -> "Supply | None":
        """Return a supply of the task's large inputs, or None if it has none."""
        large = self._exam.large
        return Supply(replace(self._exam, timed=large, large=None), self._rng) if large else None

    def draw(self, count: int) -> list[Drawn]:
        """Return `count` new inputs."""
        watched = self._rng.random(count) < WATCHED
        return [Drawn(self._exam, next(self._inputs), self._allowed, bool(watch)) for watch in watched]

    def choose(self, places: range) -> list[int]:
        """Return one of these places, or no place if there is none."""
        return [int(self._rng.choice(places))] if places else []


@dataclass
class Side:
    """A process that is measured with one function, the submission's or the baseline's.

    `calls` is the number of measured calls per turn. `asked` are the costs of no-op calls. `answers` are the answers to
    the inputs of the last turn or of the warm-up, in the order of the calls.
    """

    worker: WorkerClient
    function: str
    blame: Blame
    calls: int = 1
    asked: list[Reading] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def inputs(self, *, warm_up: bool = True) -> int:
        """Return the number of inputs per turn: one for each measured call, and one for a warm-up call."""
        return self.calls + warm_up

    def load(self, source: str) -> None:
        """Load a source text in the process."""
        with self.blame("The file"):
            self.worker.load(source)

    def arrange(self, first: Drawn, drawn: Sequence[Drawn], cores: Cores) -> None:
        """Prepare timed calls on the given CPU cores, warm the process up, and set the number of calls per turn.

        Later inputs must have the memory layout of `first`. `drawn` are the inputs of the first calls.
        """
        with self.blame(self.function):
            self.worker.arrange(self.function, first.packed, str(first.dtype), first.allowed.shape, cores)
        call_s = min(call.cpu_s for call in self._play(drawn[:FEW_FIRST_CALLS]))
        if call_s < SLOW_CALL_S:
            call_s = min([call_s, *(call.cpu_s for call in self._play_more(drawn[FEW_FIRST_CALLS:]))])
        self.calls = max(1, min(MOST_CALLS, round(TURN_S / call_s)))

    def turn(self, drawn: Sequence[Drawn], *, warm_up: bool = True) -> Reading:
        """Make one call per input. Return the median cost times the number of measured calls, overhead included.

        With `warm_up`, the first call does not count. A short first call costs 25 % more and is three times as noisy,
        because the caches hold other data. The median hardly changes if one call is interrupted. No call can be
        skipped, because any of its answers may be checked.
        """
        paid = self._play(drawn[: self.inputs(warm_up=warm_up)])[warm_up:]
        cpu_s, wall_s = median(call.cpu_s for call in paid), median(call.wall_s for call in paid)
        return Reading(cpu_s * self.calls, wall_s * self.calls, self.calls)

    def check_no_helpers(self) -> None:
        """Raise an exception if other processes compute for the function, whose CPU time would not be measured."""
        with self.blame(self.function):
            self.worker.check_no_helpers()

    def ask(self, size_bytes: int) -> None:
        """Measure the overhead of a request with no-op calls."""
        with self.blame(self.function):
            calls = [self.worker.timed(size_bytes, null=True)[0] for _ in range(1 + NULL_CALLS)]
        self.asked += calls[1:]

    def answer(self, one: Drawn) -> Answer:
        """Return the answer to one more input of the last turn."""
        self._play_more([one])
        return self.answers[-1]

    def check_inputs_unchanged(self) -> None:
        """Raise an exception if a call of the last turn changed one of the inputs that are watched."""
        with self.blame(self.function):
            if not all(answer.inputs_unchanged for answer in self.answers):
                raise wrong_after_all(INPUTS_CHANGED, "in a timed call")

    def check(self, drawn: Sequence[Drawn], plain: Mapping[int, Answer | None]) -> None:
        """Raise an exception if an answer to one of these inputs is wrong.

        The keys of `plain` are the places in `drawn` to check, and the values are the baseline's answers. If a value is
        None, the oracle decides. Places without a call of this side are left out.
        """
        with self.blame(self.function):
            for place, answer in plain.items():
                if place < len(self.answers):
                    drawn[place].check(self.answers[place], answer)

    def _play_more(self, drawn: Sequence[Drawn]) -> list[Reading]:
        answers = self.answers
        readings = self._play(drawn)
        self.answers = [*answers, *self.answers]
        return readings

    def _play(self, drawn: Sequence[Drawn]) -> list[Reading]:
        readings, taken = [], []
        with self.blame(self.function):
            for one in drawn:
                one.packed.write(self.worker.inputs)
                self.worker.outputs.poison(one.size_bytes)
                reading, raw = self.worker.timed(one.size_bytes)
                readings.append(reading)
                taken.append((raw, not one.watched or one.packed.unchanged(self.worker.inputs)))
        # Checked only after the turn: other data in the core's caches would make the next call noisy.
        self.answers = [
            Answer(np.frombuffer(raw, one.dtype).reshape(one.allowed.shape), "Tensor", inputs_unchanged=unchanged)
            for one, (raw, unchanged) in zip(drawn, taken, strict=True)
        ]
        return readings


def net(turn: Reading, asked: Sequence[Reading]) -> Reading:
    """Return the cost of a turn without the overhead of its requests. `asked` are the costs of no-op calls."""
    asking_cpu_s = turn.calls * median(one.cpu_s for one in asked)
    asking_wall_s = turn.calls * median(one.wall_s for one in asked)
    cpu_s = max(turn.cpu_s - asking_cpu_s, LEAST_NET * asking_cpu_s)
    return Reading(cpu_s, max(cpu_s, turn.wall_s - asking_wall_s), turn.calls)
