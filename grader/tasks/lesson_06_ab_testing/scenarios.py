"""The simulated scenarios of the task `is_slower`: pairs of times, with or without a slowdown.

The logarithm of a pair's ratio is effect + noise, and the distribution of the noise is known exactly. So each scenario
can compute the likelihood of its pairs without a slowdown, divided by their likelihood with a slowdown (`log_odds`).
Disturbances that A and B of a pair have in common, such as a drift of the machine, do not change this ratio. The cost
is the number of pairs that the submission measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from grader.task import Mismatch, SimulatedFunction
from grader.tasks.plain import shown
from grader.tasks.simulated import shuffled, stratified, want_no_arguments
from grader.values import Value

THRESHOLD: Final = 0.05
"""The slowdown, as a share, of each scenario that has a slowdown."""

SLOWED, EQUAL = 24, 20
"""The numbers of scenarios per kind of noise: with a slowdown, and without a slowdown."""

QUIET: Final = (0.6, 0.005, 0.03)
NOISY: Final = (0.4, 0.2, 0.3)
"""A share of the scenarios, and the smallest and largest scale of their noise.

With a scale of 0.03, ten pairs show a slowdown. With 0.3, a fixed number of pairs needs about 600. So each fixed number
is too small for the noisy scenarios, or too expensive for the quiet ones.
"""

MOST_PAIRS: Final = 2000
PLAIN_PAIRS: Final = 600
"""The number of pairs that the baseline, with which submissions are compared, measures in each scenario."""


@dataclass(frozen=True, slots=True)
class LogRatioNoise:
    """The noise of a log ratio: a mixture of two scaled Student distributions. For infinite `freedom`, both are normal.

    `freedom` is the degrees of freedom. A share `outlier_rate` of the pairs has the scale `outlier_scale`, and the
    others have the scale `scale`.
    """

    scale: float
    freedom: float = math.inf
    outlier_rate: float = 0.0
    outlier_scale: float = 1.0

    def draw(self, rng: np.random.Generator, count: int) -> list[float]:
        """Return `count` random values of the noise."""
        scales = np.where(rng.random(count) < self.outlier_rate, self.outlier_scale, self.scale)
        plain = rng.standard_normal(count) if math.isinf(self.freedom) else rng.standard_t(self.freedom, count)
        drawn: list[float] = (scales * plain).tolist()
        return drawn

    def log_density(self, value: float) -> float:
        """Return the logarithm of the noise's probability density at `value`, up to a constant."""
        usual = (1 - self.outlier_rate) / self.scale * math.exp(self._log_shape(value / self.scale))
        return math.log(
            usual + self.outlier_rate / self.outlier_scale * math.exp(self._log_shape(value / self.outlier_scale))
        )

    def _log_shape(self, x: float) -> float:
        if math.isinf(self.freedom):
            return -x * x / 2
        return -(self.freedom + 1) / 2 * math.log1p(x * x / self.freedom)


@dataclass
class PairScenario:
    """Pairs of seconds of A and of B, where B takes the share `effect` longer.

    `level_s` holds the common level of each pair. `log_odds` is a logarithm: the likelihood of the pairs measured so
    far without a slowdown, divided by their likelihood with one. `answer` is the submission's answer.
    """

    title: str
    effect: float
    noise: LogRatioNoise
    level_s: tuple[float, ...]
    errors: tuple[float, ...]
    pairs: int = 0
    log_odds: float = 0.0
    answer: bool | None = None
    function = "is_slower"
    arguments = (SimulatedFunction("next_pair"), THRESHOLD)
    plain_cost: ClassVar[float] = PLAIN_PAIRS

    @property
    def cost(self) -> float:
        """The number of pairs measured, or 1 if no pair was measured."""
        return max(1, self.pairs)

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return one measured pair for `next_pair()`: the seconds of A and of B."""
        want_no_arguments(name, arguments)
        if self.pairs == MOST_PAIRS:
            raise ValueError(f"The scenario has only {MOST_PAIRS} pairs. Decide earlier.")
        log_ratio, level_s = math.log1p(self.effect) + self.errors[self.pairs], self.level_s[self.pairs]
        self.log_odds += self.noise.log_density(log_ratio) - self.noise.log_density(log_ratio - math.log1p(THRESHOLD))
        self.pairs += 1
        half = math.exp(log_ratio / 2)
        return (level_s / half, level_s * half)

    def judge(self, answer: Value) -> Mismatch | None:
        """Return None if the answer is a bool, else a `Mismatch`. `is_slower.judge` decides whether it is right."""
        if answer not in (True, False):
            return Mismatch("True or False", shown(answer), "Return True if B is slower, else False.")
        self.answer = bool(answer)
        return None


def draw_scenarios(rng: np.random.Generator) -> tuple[PairScenario, ...]:
    """Return the scenarios for one grading, of three kinds with and without a slowdown, in random order."""
    scenarios = [
        draw(rng, effect, scale)
        for draw in (_plain, _heavy, _drifting)
        for effect, count in ((THRESHOLD, SLOWED), (0.0, EQUAL))
        for share, low, high in (QUIET, NOISY)
        for scale in np.exp(stratified(rng, math.log(low), math.log(high), round(share * count))).tolist()
    ]
    return shuffled(rng, scenarios)


def _plain(rng: np.random.Generator, effect: float, scale: float) -> PairScenario:
    return _scenario(rng, "normal noise", effect, LogRatioNoise(scale), np.zeros(MOST_PAIRS))


def _heavy(rng: np.random.Generator, effect: float, scale: float) -> PairScenario:
    noise = LogRatioNoise(0.7 * scale, freedom=2.0)
    return _scenario(rng, "heavy tails: some pairs are outliers", effect, noise, np.zeros(MOST_PAIRS))


def _drifting(rng: np.random.Generator, effect: float, scale: float) -> PairScenario:
    noise = LogRatioNoise(scale, outlier_rate=0.1, outlier_scale=5 * scale)
    warming = np.log1p(0.01 * np.arange(MOST_PAIRS))
    steps = np.cumsum(np.where(rng.random(MOST_PAIRS) < 0.02, rng.normal(0, 0.02, MOST_PAIRS), 0.0))
    return _scenario(rng, "drift: the machine becomes slower all the time", effect, noise, warming + steps)


def _scenario(
    rng: np.random.Generator,
    title: str,
    effect: float,
    noise: LogRatioNoise,
    drift: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> PairScenario:
    level_s = np.exp(drift) * rng.uniform(0.5e-3, 5e-3)
    return PairScenario(title, effect, noise, tuple(level_s.tolist()), tuple(noise.draw(rng, MOST_PAIRS)))
