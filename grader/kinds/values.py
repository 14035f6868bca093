"""Grade a Python function of plain values: check its answers to all test cases, then time it against the baseline.

One timed request makes a few calls. The process decodes the arguments, calls the function, and encodes the answers as
JSON. All of this is timed, so work that a submission hides in the decoder, the encoder or its answer is timed too. The
inputs are so large that decoding and encoding take a small part of the time. The arguments are new in every request,
and their shapes are random too, so no answer can be taken from a cache.
"""

import marshal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from grader.errors import GraderFault
from grader.inside import protocol
from grader.kinds import simulated
from grader.kinds.examiner import Examiner, Solver
from grader.records import Attempt, Status
from grader.seeds import generator, independent
from grader.session import Session
from grader.source import Source
from grader.task import Mismatch, Scenario, SimulatedExam, Task, ValueExam
from grader.trials.faults import wrong_after_all
from grader.trials.inputs import SharedMemory
from grader.trials.known_mistakes import Probed
from grader.trials.turns import Supply, TimedAnswer, TimedInput
from grader.trials.worker_client import WorkerClient
from harness.paired.rounds import Reading
from harness.processes.process_env import Cores

MOST_ANSWER_BYTES: Final = 1 << 20
"""At most this number of bytes of the answers to one request is read."""


@dataclass
class ValueExaminer(Examiner[ValueExam]):
    """Grades a function of plain values."""

    def examine(self, source: Source, session: Session) -> Attempt:
        """Check a submission's answers to all test cases. If all are right, time it against the baseline."""
        with session.pool.fresh(tensors=simulated.imports_torch(source)) as tree:
            checked = self._correctness.examine_in(tree, source)
            if checked.status is not Status.PASSED:
                return checked
            attempt = self.cost.measure(self, tree, source, session)
        return replace(attempt, cases_passed=checked.cases, cases=checked.cases, output_tail=checked.output_tail)

    @cached_property
    def _correctness(self) -> simulated.SimulatedExaminer:
        exam = SimulatedExam(self.exam.scenarios, scenario_noun="cases")
        return simulated.SimulatedExaminer(replace(self.task, tiers=()), exam, (*self.seed, "cases"))

    def supplies(self, rng: np.random.Generator) -> Iterator[tuple[str, Task, "ValueSupply"]]:
        """Yield no name of a size, the task, and random inputs: there is one timed size."""
        yield "", self.task, ValueSupply(self.exam, rng)

    @cached_property
    def given(self) -> Sequence[Scenario]:
        """The scenarios for correctness, and those of one timed request."""
        return [*self._correctness.given, *(self.calls[0] if self.timed else [])]

    @cached_property
    def calls(self) -> list[list[Scenario]]:
        """The calls of one timed request."""
        return [list(self.exam.timed(generator(*self.seed, "timed")))]

    @property
    def probes(self) -> Sequence[Scenario]:
        """New scenarios from the public seed of known mistakes."""
        return self._correctness.probes

    def probed(self, solver: Solver, case: Scenario) -> Probed:
        """Return a function's answer to a scenario, and whether this answer is wrong."""
        return self._correctness.probed(solver, case)

    def _mistake(self, solver: Solver) -> str:
        return self._correctness.mistake_in(solver, self.given)

    def bound(self, names: Mapping[str, Any]) -> Solver:
        """Return a function that answers a scenario with the functions in `names`."""
        return self._correctness.bound(names)


@dataclass(eq=False)
class ValueInput(TimedInput):
    """The calls of one timed request: each scenario gives the arguments of one call, and judges its answer."""

    scenarios: Sequence[Scenario]

    @cached_property
    def encoded(self) -> bytes:
        """The arguments of all calls in Python's marshal format."""
        return marshal.dumps([scenario.arguments for scenario in self.scenarios])

    def arrange(self, worker: WorkerClient, function: str, cores: Cores) -> None:
        """Prepare timed calls in a worker."""
        worker.arrange(protocol.ARRANGE_VALUES, function, cores)

    def call(self, worker: WorkerClient) -> tuple[Reading, TimedAnswer]:
        """Make one timed request with these calls. Return its cost and the JSON text of the answers."""
        worker.inputs.bytes[: len(self.encoded)] = np.frombuffer(self.encoded, np.uint8)
        worker.outputs.poison(protocol.LENGTH_BYTES)
        reading, raw = worker.timed(_read)
        return reading, TimedAnswer(raw)

    def check_timed(self, answer: TimedAnswer, plain: TimedAnswer | None) -> None:
        """Raise `WorkerFault` if one of the answers is wrong. `plain` has the baseline's answers."""
        if mismatch := self._mismatch(answer):
            raise wrong_after_all(mismatch, "in a timed call")
        if plain is not None and (mismatch := self._mismatch(plain)):
            raise GraderFault(f"The baseline is wrong in a timed call: {' '.join(mismatch.lines)}")

    def _mismatch(self, answer: TimedAnswer) -> Mismatch | None:
        try:
            answers = protocol.parse(b'{"answers":' + answer.raw + b"}")["answers"]
            pairs = list(zip(self.scenarios, [*answers], strict=True))
        except (protocol.ProtocolError, KeyError, TypeError, ValueError):
            return Mismatch(f"{len(self.scenarios)} answers", "bytes that are no JSON text of as many answers")
        return next(filter(None, (scenario.judge(each) for scenario, each in pairs)), None)


class ValueSupply(Supply):
    """An endless supply of random calls, drawn from a secret seed."""

    def __init__(self, exam: ValueExam, rng: np.random.Generator) -> None:
        self._exam, self._rngs = exam, independent(rng)
        (self.first,) = self.draw(1)

    def draw(self, count: int) -> list[ValueInput]:
        """Return the calls of `count` new requests."""
        return [ValueInput(self._exam.timed(next(self._rngs))) for _ in range(count)]


def _read(outputs: SharedMemory) -> bytes:
    size = int.from_bytes(outputs.read(protocol.LENGTH_BYTES), "little")
    return outputs.read(protocol.LENGTH_BYTES + min(size, MOST_ANSWER_BYTES))[protocol.LENGTH_BYTES :]
