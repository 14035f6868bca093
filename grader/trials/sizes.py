"""Several timed sizes: a duel at each, and the worst of them decides.

A function that is to be fast at every size is as good as it is at its worst one. Averaged over sizes, a function that
is hopeless at one of them could buy that off at the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.isolation.forkserver import ForkServer
from grader.records import Control
from grader.settings import Settings
from grader.task import Drawing, Task, TensorExam
from grader.trials import speed
from grader.trials.inputs import generator
from harness.rounds import Outcome
from harness.units import ratio


@dataclass(frozen=True, slots=True)
class Fought:
    """How the duel at one size ended; `inputs` says in words which size, where there are several."""

    inputs: str
    outcome: Outcome
    control: Control

    @property
    def tier(self) -> int:
        """Tiers reached, or still possible as far as the control was in doubt, too."""
        return self.outcome.upper_cell(self.control.benefit)


def duels(
    task: Task, exam: TensorExam, tree: ForkServer, source: str, settings: Settings, rng: np.random.Generator
) -> tuple[Fought, ...]:
    """Fight one duel at each timed size of the exam, in their order (see `speed.duel`)."""
    fought = []
    sizes = (exam.timed, *exam.also_timed)
    for timed, plain in zip(sizes, exam.baselines or (task.plain,) * len(sizes), strict=True):
        sized = replace(exam, timed=timed, also_timed=())
        inputs = _shapes(exam, timed) if exam.also_timed else ""
        fought.append(Fought(inputs, *speed.duel(replace(task, plain=plain), sized, tree, source, settings, rng)))
    return tuple(fought)


def worst(fought: Sequence[Fought]) -> Fought:
    """Return the duel that decides: the lowest tier that is still possible, and of those the lowest ratio."""
    return min(fought, key=lambda one: (one.tier, one.outcome.estimate.ratio))


def in_words(fought: Sequence[Fought]) -> str:
    """Say that the worst size counts, with a line for the ratio at each; nothing where there is one size."""
    if len(fought) == 1:
        return ""
    deciding = worst(fought)
    lines = [
        f"  {ratio(one.outcome.estimate.ratio)} with {one.inputs}{' (the worst)' if one is deciding else ''}"
        for one in fought
    ]
    return "\n".join([f"The worst of {len(fought)} sizes counts:", *lines])


def _shapes(exam: TensorExam, timed: Drawing) -> str:
    """Say which shapes are drawn: `signal (13000,), weights (20,)`."""
    drawn = next(timed(generator("any input")))
    return ", ".join(f"{name} {array.shape}" for name, array in zip(exam.parameters, drawn, strict=True))
