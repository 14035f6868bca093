"""Time a function at several input sizes. The size at which it gains least over the baseline decides the points.

The mean over the sizes is not used, because a function that is slow at one size could make up for it at another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.isolation.forkserver import ForkServer
from grader.records import Attempt, Control, Speed, Status
from grader.seeds import generator, independent
from grader.session import Session
from grader.task import Drawing, Task, TensorExam
from grader.trials import speed
from grader.trials.tensor_supply import TensorSupply
from harness.paired.rounds import Outcome
from harness.rendering.units import ratio


@dataclass(frozen=True, slots=True)
class SizedDuel:
    """The result of timing a submission against the baseline at one input size.

    `inputs` describes the size, or is "" if there is only one size.
    """

    inputs: str
    outcome: Outcome
    control: Control

    @property
    def tier(self) -> int:
        """The number of the task's tiers (required ratios) that the submission reaches, rounded up in case of doubt."""
        return self.outcome.highest_tier_index(self.control.benefit)


def compare(
    task: Task,
    exam: TensorExam,
    tree: ForkServer,
    source: str,
    session: Session,
    seed: Sequence[str],
    *,
    by_wall: bool = False,
) -> Attempt:
    """Return the result of timing a right submission, run in `tree`, against the baseline at each input size.

    CPU times are compared, or wall times if `by_wall`.
    """
    return graded(duels(task, exam, tree, source, session, generator(*seed, "timed"), by_wall=by_wall))


def graded(ended: Sequence[SizedDuel]) -> Attempt:
    """Return the graded result of a right submission, from the results of all input sizes."""
    deciding = worst(ended)
    outcome, known = deciding.outcome, deciding.outcome.estimate
    tier = 0 if deciding.control.impossible else deciding.tier
    return Attempt(
        status_of(ended),
        rationale=in_words(ended),
        speed=Speed(known.ratio, known.low, known.high, known.rounds, tier, outcome.undecided),
        rounds=outcome.rounds,
        control=deciding.control,
    )


def duels(
    task: Task,
    exam: TensorExam,
    tree: ForkServer,
    source: str,
    session: Session,
    rng: np.random.Generator,
    *,
    by_wall: bool = False,
) -> tuple[SizedDuel, ...]:
    """Time a submission against the baseline at each input size. Return the results in the order of the sizes."""
    ended = []
    sizes = (exam.timed, *exam.also_timed)
    for timed, plain in zip(sizes, exam.baselines or (task.plain,) * len(sizes), strict=True):
        sized = replace(exam, timed=timed, also_timed=())
        inputs = _shapes(exam, timed) if exam.also_timed else ""
        sized_task = replace(task, plain=plain)
        outcome, control = speed.duel(sized_task, TensorSupply(sized, rng), tree, source, session, rng, by_wall=by_wall)
        ended.append(SizedDuel(inputs, outcome, control))
    return tuple(ended)


def worst(ended: Sequence[SizedDuel]) -> SizedDuel:
    """Return the result that decides: an impossible time, or else the fewest tiers reached and the lowest ratio."""
    return min(ended, key=lambda one: (not one.control.impossible, one.tier, one.outcome.estimate.ratio))


def status_of(ended: Sequence[SizedDuel]) -> Status:
    """Return the status of a right submission, from the result of the size that decides."""
    deciding = worst(ended)
    if deciding.control.impossible:
        return Status.IMPOSSIBLE
    return Status.UNDECIDED if deciding.outcome.undecided else Status.PASSED


def in_words(ended: Sequence[SizedDuel]) -> str:
    """Return the ratio at each size as text for the student, or "" if there is only one size."""
    if len(ended) == 1:
        return ""
    deciding = worst(ended)
    lines = [f"  {ratio(one.outcome.estimate.ratio)} with {one.inputs}{_mark(one, deciding)}" for one in ended]
    return "\n".join([f"The worst of {len(ended)} sizes counts:", *lines])


def _mark(one: SizedDuel, deciding: SizedDuel) -> str:
    if one.control.impossible:
        return " (impossible)"
    return " (the worst)" if one is deciding else ""


def _shapes(exam: TensorExam, timed: Drawing) -> str:
    drawn = next(timed(independent(generator("any input"))))
    return ", ".join(f"{name} {array.shape}" for name, array in zip(exam.parameters, drawn, strict=True))
