"""Paired rounds → Duel → tier, for tensor tasks: the submission against the baseline, each in a process of its own.

A round draws one fresh secret input, gives the same bytes to both workers, lets each make one timed call in random
order, and checks both answers with the oracle. Asking itself has a price: the supervisor measures it on its own trusted
worker by calls of nothing, in every round, and takes its median off both sides.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np

from grader.correctness import Answer, Expected, judge
from grader.errors import WorkerFault
from grader.faults import ours, theirs
from grader.inputs import Packed, pack
from grader.records import Status
from grader.supervisor import Settings, Worker, worker
from grader.task import Task, TensorExam
from harness import twins
from harness.decide import Rules
from harness.rounds import Outcome, Reading, Round, contest

WARM_UP_CALLS: Final = 8
"""Calls of each side in each pair that are checked but not counted: first ones load kernels and grow the heap."""

TURN_S: Final = 1e-3
"""A turn makes as many calls as fit, on inputs of their own: one call of 0.1 ms is mostly luck."""

LEAST_CALLS: Final = 3
"""Paid calls of a turn at least: their median forgives one that met an interrupt."""

MOST_CALLS: Final = 4
"""Paid calls of a turn at most: each needs an input of its own, drawn before the turn and checked after it."""

NULL_CALLS: Final = 3
"""Calls of nothing in each round."""

LEAST_NET: Final = 0.25
"""A net cost below this part of the price of asking is not resolved: it counts as this much."""

RULES: Final = Rules(slice_s=0.3)
"""Twice the time on a pair that a verdict needs, so that the ratio shown is steady too: beside three busy neighbours
its 95th percentile of deviation was 2.4 % with 0.15 s and 1.0 % with 0.3 s (tests/benchmarks/regrade.py)."""


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
    calls: dict[Worker, int] = field(default_factory=dict)

    def play(self, *, baseline_first: bool) -> Round:
        """One round: a turn of each side, on the same inputs drawn for this round."""
        drawn = [self._draw() for _ in range(1 + max(self.calls.values()))]
        sides = (self.baseline, self.candidate) if baseline_first else (self.candidate, self.baseline)
        turns = {side: self._turn(side, drawn[: 1 + self.calls[side]]) for side in sides}
        asking = [median(getattr(null, name) for null in self.asking) for name in ("cpu_s", "wall_s")]
        return Round(
            self.number, _net(turns[self.baseline], asking), _net(turns[self.candidate], asking), baseline_first
        )

    def arrange(self) -> None:
        """Lay out the timed calls, warm up, and see how many calls make a turn of each side."""
        expected, packed = self._draw()
        for side in (self.baseline, self.candidate):
            with self._blaming(side, self.task.name):
                side.arrange(self.task.name, packed, str(expected.dtype), expected.want.shape)
        for side in (self.baseline, self.candidate):
            drawn = [self._draw() for _ in range(WARM_UP_CALLS)]
            call_s = min(call.cpu_s for call in self._turn(side, drawn))
            self.calls[side] = max(LEAST_CALLS, min(MOST_CALLS, round(TURN_S / call_s)))

    def load(self, source: str) -> None:
        """Load the baseline on its side and the submission on the other."""
        for side, text in ((self.baseline, self.task.baseline), (self.candidate, source)):
            with self._blaming(side, "The file"):
                side.load(text)

    def _draw(self) -> tuple[Expected, Packed]:
        inputs = self.exam.timed(self.rng)
        return Expected.of(self.exam, inputs), pack(inputs)

    def _turn(self, side: Worker, drawn: Sequence[tuple[Expected, Packed]]) -> list[Reading]:
        """A call on each input, the first of them unpaid; between calls only the next input arrives.

        After one call, drawn in secret, the inputs must be as they were: to look after each would disturb the next.
        """
        watched, unchanged, calls = int(self.rng.integers(len(drawn))), True, []
        with self._blaming(side, self.task.name):
            for number, (expected, packed) in enumerate(drawn):
                packed.write(side.inputs)
                side.outputs.poison(expected.size_bytes)
                calls.append(side.timed(expected.size_bytes))
                if number == watched:
                    unchanged = packed.unchanged(side.inputs)
            side.vouch()
            if side is self.baseline:
                asked = [side.timed(drawn[-1][0].size_bytes, null=True)[0] for _ in range(1 + NULL_CALLS)]
                self.asking += asked[1:]
            for number, ((expected, _), (_, raw)) in enumerate(zip(drawn, calls, strict=True)):
                array = np.frombuffer(raw, dtype=expected.dtype).reshape(expected.want.shape)
                _check(expected, Answer(array, "Tensor", inputs_unchanged=unchanged or number != watched))
        return [reading for reading, _ in calls[1:]]

    def _blaming(self, side: Worker, where: str) -> AbstractContextManager[None]:
        """What goes wrong within is the fault of whose code it is."""
        return ours(f"The baseline of {self.task.full_name}") if side is self.baseline else theirs(where)


def _check(expected: Expected, answer: Answer) -> None:
    if mismatch := judge(expected, answer):
        raise WorkerFault(
            Status.WRONG,
            f"Right in the correctness cases, wrong in a timed call: expected {mismatch.expected}, "
            f"got {mismatch.got}. {mismatch.remark}".rstrip(),
            "Each timed call has an input of its own, and each answer is checked.",
        )


def _net(calls: Sequence[Reading], asking: Sequence[float]) -> Reading:
    """The median call of a turn, less the price of asking (CPU and wall seconds).

    The median forgives a call that met an interrupt. It forgives nothing else: every call has an answer to give.
    """
    cpu_s = max(median(call.cpu_s for call in calls) - asking[0], LEAST_NET * asking[0])
    return Reading(cpu_s, max(cpu_s, median(call.wall_s for call in calls) - asking[1]))


def duel(task: Task, exam: TensorExam, source: str, settings: Settings, rng: np.random.Generator) -> Outcome:
    """Measure a right submission against the baseline until its tier is clear, on fresh pairs of workers."""
    with ExitStack() as stack:

        def start() -> tuple[Worker, Worker]:
            one, other = (stack.enter_context(worker(task.limits, settings, tensors=True)) for _ in range(2))
            return one, other

        # All at once: a worker that starts up while another is being timed takes its memory bandwidth.
        waiting = [start() for _ in range(RULES.min_pairs)]

        @contextmanager
        def open_pair(number: int) -> Iterator[TensorPair]:
            baseline, candidate = waiting.pop(0) if waiting else start()
            pair = TensorPair(number, task, exam, baseline, candidate, rng)
            pair.load(source)
            with twins.pinned(settings.core):
                pair.arrange()
                yield pair
            baseline.close()
            candidate.close()

        thresholds = [tier.ratio for tier in task.tiers]
        return contest(open_pair, thresholds, RULES, rng=random.Random(int(rng.integers(1 << 62))))
