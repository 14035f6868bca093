"""Task (a) of lesson 16: estimate the share of a function from few samples of a simulated live program.

The stacks are random. The true share is drawn first, and each sample is then drawn independently with this
probability. The cost is the number of samples. Stopping as soon as the confidence interval is narrow enough gains so
much, because the shares of most programs are far from one half.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import as_number, invented, random_depths, shown
from grader.tasks.simulated import shuffled, stratified, want_no_arguments
from grader.values import Value
from harness.rendering import units

from .changes import WORDS

MARGINS: Final = (0.05, 0.08, 0.12)
OF_EACH: Final = 18
"""The number of scenarios with a small share, and of scenarios with a large share. Twice as many lie between them."""

FORGIVEN: Final = 10
"""The number of the 72 scenarios in which an answer may be wrong.

Half of the shares are so small or so large that a right method misses them very rarely. With 5 % of misses in the
other 36 scenarios, more than 10 misses have a probability below 1 in 100 000.
"""

MOST_DOUBT: Final = 0.1
"""An answer counts as wrong if the true share is outside the margin with a larger probability than this.

The probability follows from the samples that the submission took. A method with too few samples could pass otherwise:
10 answers may be wrong, and shares near 0 or 1 are hardly ever missed. A right method has about 5 %.
"""

TELLS: Final = "A sample is a measurement of the share, and costs as much as every other sample."

GRID: Final = (np.arange(4000) + 0.5) / 4000
"""The shares at which the posterior distribution is computed."""

PLAIN: Final = 4.0
"""The baseline takes this number divided by the square of the margin as busy samples."""

PLACES: Final = ("", "_all", "_each", "_fast", "_first", "_inner", "_next", "_once", "_pair", "_rows", "_step", "_tail")

Names = tuple[str, ...]


@dataclass
class LiveScenario:
    """A simulated live program. `within` and `outside` are its stacks with and without the function `name`."""

    title: str
    name: str
    share: float
    idle: float
    margin: float
    within: tuple[Names, ...]
    outside: tuple[Names, ...]
    chance: random.Random
    samples: int = 0
    busy: int = 0
    hits: int = 0
    function: str = "share"
    arguments: tuple[Value | SimulatedFunction, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.arguments = (SimulatedFunction("sample"), self.name, self.margin)

    @property
    def cost(self) -> float:
        """The number of samples taken, or 1 if no sample was taken."""
        return max(1, self.samples)

    @property
    def plain_cost(self) -> float:
        """The mean number of samples that the baseline takes."""
        return math.ceil(PLAIN / self.margin**2) / (1 - self.idle)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return one sample for `sample()`: the names on the stack, the outermost first, or [] if it is idle."""
        want_no_arguments(name, arguments)
        self.samples += 1
        if self.chance.random() < self.idle:
            return []
        hit = self.chance.random() < self.share
        self.busy += 1
        self.hits += hit
        return list(self.chance.choice(self.within if hit else self.outside))

    def judge(self, answer: Value) -> Mismatch | None:
        """Return None if the answer is within the margin of the true share, else a `Mismatch`."""
        got = as_number(answer)
        expected = f"{units.percent(self.share)}, within {units.percent(self.margin)}"
        if got is None:
            return Mismatch(expected, shown(answer), "Return one number from 0 to 1.")
        taken = f"You took {units.some(self.samples, 'sample')}"
        if abs(got - self.share) > self.margin:
            return Mismatch(expected, units.percent(got), f"{taken}.")
        doubt = miss_probability(self.hits, self.busy, got, self.margin)
        if doubt <= MOST_DOUBT:
            return None
        remark = f"{taken}. From these, the true share is outside the margin with a probability of"
        return Mismatch(f"more samples than {self.samples}", units.percent(got), f"{remark} {units.percent(doubt)}.")


def miss_probability(hits: int, samples: int, answer: float, margin: float) -> float:
    """Return the probability that a share is farther from `answer` than `margin`, given the hits among the samples.

    The prior distribution of the share is that of Jeffreys, Beta(1/2, 1/2).
    """
    log = (hits - 0.5) * np.log(GRID) + (samples - hits - 0.5) * np.log1p(-GRID)
    weights = np.exp(log - log.max())
    return float(weights[np.abs(GRID - answer) > margin].sum() / weights.sum())


def draw_scenarios(rng: np.random.Generator) -> tuple[LiveScenario, ...]:
    """Return the scenarios of one grading, in random order. The function takes a small or a large part of the time."""
    shares = [
        *stratified(rng, 0.003, 0.03, OF_EACH),
        *(1 - share for share in stratified(rng, 0.003, 0.03, OF_EACH)),
        *stratified(rng, 0.15, 0.85, 2 * OF_EACH),
    ]
    scenarios = [
        _drawn(rng, share, MARGINS[number % 3], recursive=number // 3 % 2 == 0, idles=number // 6 % 2 == 0)
        for number, share in enumerate(shares)
    ]
    return shuffled(rng, scenarios)


STACKS: Final = 12
"""The number of nodes in the random call tree of a program."""


def _drawn(rng: np.random.Generator, share: float, margin: float, *, recursive: bool, idles: bool) -> LiveScenario:
    name, main, *others = invented(rng, STACKS, WORDS, PLACES)
    outside: list[Names] = [(main,)]
    for depth in random_depths(rng, STACKS, 0.6, 2, 8)[1:]:
        outside.append((*outside[-1][:depth], str(rng.choice(others))))
    within = []
    for names in outside[1:]:  # the function is never innermost, so it calls all the others
        first = int(rng.integers(1, len(names)))
        times = int(rng.integers(2, 5)) if recursive else 1
        within.append((*names[:first], *[name] * times, *names[first:]))
    title = f"a program {'that calls itself' if recursive else 'with a training loop'}{', sometimes idle' * idles}"
    idle = float(rng.uniform(0.35, 0.6)) if idles else 0.0
    chance = random.Random(int(rng.integers(2**60)))
    return LiveScenario(title, name, share, idle, margin, tuple(within), tuple(outside), chance)


SHARE = Task(
    summary="estimate a function's share of the time from as few samples as possible",
    cost=CALLS,
    tiers=(Tier(1.4, 0.6), Tier(3.0, 0.8), Tier(6.8, 1.0)),
    hints=(
        "Which samples contain the function? A function can be anywhere on the stack, also more than once.",
        (
            "The margin of n samples is about 2 * sqrt(p * (1 - p) / n) for the share p. It is largest for p = 1/2. So "
            "1 / margin ** 2 samples are enough for every share. How many samples do you need if p is near 0 or near 1?"
        ),
        (
            "After each sample, compute a confidence interval of the share, and stop as soon as half of its width is "
            "at most the margin. The formula 2 * sqrt(p * (1 - p) / n) gives 0 if all samples agree, also for a single "
            "sample. Use Wilson's interval with z = 2: half of its width is z * sqrt(p * (1 - p) / n + (z / (2 * n)) "
            "** 2) / (1 + z ** 2 / n). Leave out samples without functions."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, max_calls=20_000, forgiven=FORGIVEN, tells=TELLS),
    read="lesson 16, “How many samples are enough?”",
    idea=(
        "The number of samples that a margin needs depends on the share. For a share near 0 or 1, almost all samples "
        "agree, so a few dozen samples are enough. The solution stops as soon as Wilson's interval is narrow enough. "
        "This interval does not become narrow only because the first samples agree."
    ),
    references=(
        "Brown, Cai and DasGupta 2001, “Interval Estimation for a Binomial Proportion”, compares the intervals. The "
        "option --duration of py-spy sets the time of a recording, and --rate its samples per second."
    ),
    least_gain=1.3,
)
