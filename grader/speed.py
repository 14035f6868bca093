"""Paired rounds → Duel → tier, for tensor tasks: the submission against the baseline, each in a process of its own.

A round draws one fresh secret input, gives the same bytes to both workers, lets each make one timed call in random
order, and checks both answers with the oracle. Asking itself has a price: the supervisor measures it on its own trusted
worker by calls of nothing, in every round, and takes its median off both sides.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np

from grader.correctness import Answer, Expected, judge
from grader.errors import GraderFault, WorkerFault
from grader.inputs import pack
from grader.records import Status
from grader.supervisor import Settings, Worker, worker
from grader.task import Task, TensorExam
from harness.decide import Rules
from harness.rounds import Outcome, Reading, Round, contest

WARM_UP_ROUNDS: Final = 5
"""Rounds of each pair that are played and checked but not counted: first calls load kernels and fill caches."""

LEAST_NET: Final = 0.25
"""A net cost below this part of the price of asking is not resolved: it counts as this much."""

RULES: Final = Rules()


@dataclass
class TensorPair:
    """A baseline and a submission, both loaded and pinned to the same core, with the oracle beside them."""

    number: int
    task: Task
    exam: TensorExam
    baseline: Worker
    candidate: Worker
    rng: np.random.Generator
    asking: list[Reading] = field(default_factory=list)

    def play(self, *, baseline_first: bool) -> Round:
        """One round on a fresh input."""
        inputs = self.exam.timed(self.rng)
        expected, packed = Expected.of(self.exam, inputs), pack(inputs)
        self.asking.append(self.baseline.timed(expected.size_bytes, null=True)[0])
        readings = {}
        for side in (self.baseline, self.candidate) if baseline_first else (self.candidate, self.baseline):
            packed.write(side.inputs)
            side.outputs.poison(expected.size_bytes)
            readings[side], raw = side.timed(expected.size_bytes)
            array = np.frombuffer(raw, dtype=expected.dtype).reshape(expected.want.shape)
            self._check(side, expected, Answer(array, "Tensor", packed.unchanged(side.inputs)))
        return Round(
            self.number, self._net(readings[self.baseline]), self._net(readings[self.candidate]), baseline_first
        )

    def arrange(self) -> None:
        """Take the core, lay out the timed calls, warm up."""
        inputs = self.exam.timed(self.rng)
        expected = Expected.of(self.exam, inputs)
        for side in (self.baseline, self.candidate):
            side.arrange(self.task.name, pack(inputs), str(expected.dtype), expected.want.shape)
        for number in range(WARM_UP_ROUNDS):
            self.play(baseline_first=number % 2 == 0)
        self.asking.clear()

    def _check(self, side: Worker, expected: Expected, answer: Answer) -> None:
        mismatch = judge(expected, answer)
        if mismatch is None:
            return
        if side is self.baseline:
            raise GraderFault(f"The baseline of {self.task.full_name} gave a wrong answer: {mismatch}.")
        raise WorkerFault(
            Status.WRONG,
            f"Right in the correctness cases, wrong in a timed call: expected {mismatch.expected}, "
            f"got {mismatch.got}. {mismatch.remark}",
            "Each timed call has an input of its own, and each answer is checked.",
        )

    def _net(self, reading: Reading) -> Reading:
        cpu_s = median(null.cpu_s for null in self.asking)
        wall_s = median(null.wall_s for null in self.asking)
        net_s = max(reading.cpu_s - cpu_s, LEAST_NET * cpu_s)
        return Reading(net_s, max(reading.wall_s - wall_s, net_s))


def duel(task: Task, exam: TensorExam, source: str, settings: Settings, rng: np.random.Generator) -> Outcome:
    """Measure a right submission against the baseline until its tier is clear, on fresh pairs of workers."""
    with ExitStack() as stack:
        waiting: list[tuple[Worker, Worker]] = []

        def prepare() -> None:
            pair = [stack.enter_context(worker(task.limits, settings, tensors=True)) for _ in range(2)]
            waiting.append((pair[0], pair[1]))

        @contextmanager
        def open_pair(number: int) -> Iterator[TensorPair]:
            if not waiting:
                prepare()
            baseline, candidate = waiting.pop(0)
            if number + 1 < RULES.min_pairs:
                prepare()
            baseline.load(task.baseline)
            candidate.load(source)
            pair = TensorPair(number, task, exam, baseline, candidate, rng)
            pair.arrange()
            yield pair
            _alone(candidate)
            baseline.close()
            candidate.close()

        thresholds = [tier.ratio for tier in task.tiers]
        return contest(open_pair, thresholds, RULES, rng=random.Random(int(rng.integers(1 << 62))))


def _alone(candidate: Worker) -> None:
    if candidate.helpers():
        raise WorkerFault(
            Status.CRASHED,
            "The submission started processes of its own while it was being timed.",
            "Do the work in the function that is called; helpers are not seen by the clock and not allowed.",
        )
