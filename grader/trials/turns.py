"""Measure the two functions of a duel, in which a submission and the baseline, a simple function, run alternately.

A turn is one measurement of one function: one warm-up call, and then a few measured calls. In each round, both
functions get the same new inputs, drawn from a secret seed. If their answers differ, the oracle decides: a slow and
exact function. Nothing is subtracted from a cost: a submission could avoid a part of the overhead of a request.

A fast submission makes three measured calls, and a slow baseline makes one. The baseline then answers one of the other
two inputs, chosen secretly after the turns, which saves a slow call. The cost of a turn is the median of its calls, so
a submission must save work in two calls to lower it. Then the grader always finds one of the two wrong answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from grader.errors import WorkerFault
from grader.isolation.forkserver import ForkServer
from grader.records import Status
from grader.source import Source
from grader.trials.correctness import INPUTS_CHANGED
from grader.trials.faults import untrusted, wrong_after_all
from grader.trials.worker_client import WorkerClient
from harness.machine.clocks import Clock, wall
from harness.paired.rounds import Reading
from harness.processes.process_env import Cores
from harness.rendering.units import seconds

FIRST_CALLS: Final = 4
"""The number of first calls in each new process. They are not measured, because they load code and allocate memory."""

FEW_FIRST_CALLS: Final = 2
"""The number of first calls of a function whose calls take `SLOW_CALL_S` or more."""

SLOW_CALL_S: Final = 0.01
"""If both of the first two calls take at least this many seconds, a new process makes only `FEW_FIRST_CALLS`."""

TURN_S: Final = 1e-3
"""Seconds of measured calls in one turn, each call with a new input. A single call of 0.1 ms would be too noisy."""

MOST_CALLS: Final = 3
"""The most measured calls per turn. For each call, an input is drawn before the turn."""

SLACK_PART: Final = 0.05
"""The largest share of the baseline's measuring time in which a submission may compute."""

SLACK_S: Final = 0.005
"""CPU seconds that a submission may use in addition to the share `SLACK_PART`, because measuring times may be short."""

Blame = Callable[[str], AbstractContextManager[None]]
"""A function that takes the name of the measured function, and returns a context manager like `blame_submission`."""


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """The bytes of the answer to a timed call. `inputs_unchanged` is False if it is known that the input changed."""

    raw: bytes
    inputs_unchanged: bool = True


class TimedInput(ABC):
    """One random input of a timed call. Each kind of exam has its own inputs."""

    @abstractmethod
    def arrange(self, worker: WorkerClient, function: str, cores: Cores) -> None:
        """Prepare timed calls in a worker. Later inputs have the memory layout of this one."""

    @abstractmethod
    def call(self, worker: WorkerClient) -> tuple[Reading, TimedAnswer]:
        """Make one timed call with this input. Return its cost and its answer."""

    @abstractmethod
    def check_timed(self, answer: TimedAnswer, plain: TimedAnswer | None) -> None:
        """Raise `WorkerFault` if an answer is wrong, or `GraderFault` if `plain`, the baseline's answer, is wrong.

        The right answer is computed only if `answer` differs from `plain`, because this may take long.
        """


class Supply(ABC):
    """An endless supply of random inputs, drawn from a secret seed, with the memory layout of the untimed `first`."""

    first: TimedInput

    @abstractmethod
    def draw(self, count: int) -> Sequence[TimedInput]:
        """Return `count` new inputs."""

    def choose(self, places: range) -> list[int]:
        """Return the places of a turn's inputs, out of `places`, that only the baseline still has to answer."""
        return list(places)

    def limit_s(self, trusted: ForkServer, cores: Cores) -> float | None:  # noqa: ARG002 - needs no process if unknown
        """Return the shortest time in which one core can compute an answer, or None if it is unknown."""
        return None


@dataclass
class Side:
    """A process that is measured with one function, the submission's or the baseline's.

    `calls` is the number of measured calls per turn. `answers` are the answers of the last turn or of the warm-up, in
    the order of the calls.
    """

    worker: WorkerClient
    function: str
    blame: Blame
    calls: int = 1
    answers: list[TimedAnswer] = field(default_factory=list)

    def inputs(self, *, warm_up: bool = True) -> int:
        """Return the number of inputs per turn: one for each measured call, and one for a warm-up call."""
        return self.calls + warm_up

    def start(self, source: Source, first: TimedInput, drawn: Sequence[TimedInput], cores: Cores) -> None:
        """Load a source text, prepare timed calls on these cores, warm up, and set the number of calls per turn.

        Later inputs must have the memory layout of `first`. `drawn` are the inputs of the first calls.
        """
        with self.blame("The file"):
            self.worker.load(source)
        with self.blame(self.function):
            first.arrange(self.worker, self.function, cores)
        call_s = min(call.cpu_s for call in self._play(drawn[:FEW_FIRST_CALLS]))
        if call_s < SLOW_CALL_S:
            call_s = min([call_s, *(call.cpu_s for call in self._play_more(drawn[FEW_FIRST_CALLS:]))])
        self.calls = max(1, min(MOST_CALLS, round(TURN_S / call_s)))

    def turn(self, drawn: Sequence[TimedInput], *, warm_up: bool = True) -> Reading:
        """Make one call per input. Return the median cost times the number of measured calls.

        With `warm_up`, the first call does not count. A short first call costs 25 % more and is three times as noisy,
        because the caches hold other data. No call can be skipped, because any of its answers may be checked.
        """
        paid = self._play(drawn[: self.inputs(warm_up=warm_up)])[warm_up:]
        cpu_s, wall_s = median(call.cpu_s for call in paid), median(call.wall_s for call in paid)
        return Reading(cpu_s * self.calls, wall_s * self.calls, self.calls)

    def check_no_helpers(self) -> None:
        """Raise an exception if other processes compute for the function, whose CPU time would not be measured."""
        with self.blame(self.function):
            self.worker.check_no_helpers()

    def answer(self, one: TimedInput) -> TimedAnswer:
        """Return the answer to one more input of the last turn."""
        self._play_more([one])
        return self.answers[-1]

    def check_inputs_unchanged(self) -> None:
        """Raise an exception if a call of the last turn changed one of the inputs that are watched."""
        with self.blame(self.function):
            if not all(answer.inputs_unchanged for answer in self.answers):
                raise wrong_after_all(INPUTS_CHANGED, "in a timed call")

    def check(self, drawn: Sequence[TimedInput], plain: Mapping[int, TimedAnswer | None]) -> None:
        """Raise an exception if an answer to one of these inputs is wrong.

        The keys of `plain` are the places in `drawn` to check. The values are the baseline's answers, or None to ask
        the oracle.
        """
        with self.blame(self.function):
            for place, answer in plain.items():
                if place < len(self.answers) and self.answers[place] != answer:
                    drawn[place].check_timed(self.answers[place], answer)

    def _play_more(self, drawn: Sequence[TimedInput]) -> list[Reading]:
        answers, readings = self.answers, self._play(drawn)
        self.answers = [*answers, *self.answers]
        return readings

    def _play(self, drawn: Sequence[TimedInput]) -> list[Reading]:
        with self.blame(self.function):
            played = [one.call(self.worker) for one in drawn]
        self.answers = [answer for _, answer in played]
        return [reading for reading, _ in played]


@dataclass
class OutOfTurn:
    """The CPU time that a submission uses while only the baseline should run, for example to slow the baseline down.

    Submissions of `tests/honest` used up to 0.1 % of the watched time. A thread that never sleeps used at least 16 %.

    `cpu` reads the CPU seconds of the submission's processes. They used `used_s` of them in `watched_s` wall seconds in
    which only the baseline should have run.
    """

    cpu: Clock
    now: Clock = wall
    used_s: float = 0.0
    watched_s: float = 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Sum up the CPU time that the submission uses in the `with` block. Raise `WorkerFault` if it is too large."""
        began_s, had_s = self.now(), self._read()
        yield
        self.used_s += self._read() - had_s
        self.watched_s += self.now() - began_s
        if self.used_s > SLACK_S + SLACK_PART * self.watched_s:
            said = (
                f"The submission kept computing while it was not its turn: for {seconds(self.used_s)} of "
                f"{seconds(self.watched_s)} in which only the baseline should have run."
            )
            help_text = "Compute only during a call: let your threads end or wait before you return the answer."
            raise WorkerFault(Status.CRASHED, said, help_text)

    def _read(self) -> float:
        with untrusted("the submission"):
            return self.cpu()
