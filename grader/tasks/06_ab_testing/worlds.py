"""The simulated worlds of `is_slower`: pairs of times, and a slowdown that is there or is not.

The logarithm of a pair's ratio is effect + noise, and how the noise is distributed is known here to the last digit: so
each world can also say how much less likely its own pairs would have been without the slowdown (`log_odds`). What both
sides of a pair have in common, such as a machine that slows down, tells nothing about the effect.

The cost is how many pairs were asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import shown
from grader.tasks.simulated import shuffled, want_no_arguments
from grader.values import Value

THRESHOLD: Final = 0.05
"""The slowdown that matters: a world has all of it, or none."""

SLOWED, EQUAL = 24, 20
"""Worlds of each kind that are slowed, and that are not."""

MOST_PAIRS: Final = 2000
PLAIN_PAIRS: Final = 300
"""How many pairs the plain way asks for in each world."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of a log ratio: a mixture of two scaled Student distributions, of which the normal one is the limit.

    A share of `wild` pairs has the scale `wild_scale`, the others `scale`; `freedom` is the degrees of freedom.
    """

    scale: float
    freedom: float = math.inf
    wild: float = 0.0
    wild_scale: float = 1.0

    def draw(self, rng: np.random.Generator, count: int) -> list[float]:
        """Draw so many values."""
        scales = np.where(rng.random(count) < self.wild, self.wild_scale, self.scale)
        plain = rng.standard_normal(count) if math.isinf(self.freedom) else rng.standard_t(self.freedom, count)
        drawn: list[float] = (scales * plain).tolist()
        return drawn

    def log_density(self, value: float) -> float:
        """Return the logarithm of the density at `value`, but for a constant."""
        usual = (1 - self.wild) / self.scale * math.exp(self._log_shape(value / self.scale))
        return math.log(usual + self.wild / self.wild_scale * math.exp(self._log_shape(value / self.wild_scale)))

    def _log_shape(self, x: float) -> float:
        if math.isinf(self.freedom):
            return -x * x / 2
        return -(self.freedom + 1) / 2 * math.log1p(x * x / self.freedom)


@dataclass
class PairWorld:
    """Pairs of seconds of A and of B, which takes `effect` longer. `level_s` is what both have in common, by pair.

    `log_odds` is the logarithm of how likely the pairs asked for so far are without the effect, over how likely they
    are with it. `answer` is what was answered.
    """

    kind: str
    effect: float
    noise: Noise
    level_s: tuple[float, ...]
    errors: tuple[float, ...]
    asked: int = 0
    log_odds: float = 0.0
    answer: bool | None = None
    function: str = "is_slower"
    arguments: tuple[Value | Metered, ...] = field(default=(Metered("next_pair"), THRESHOLD))

    @property
    def title(self) -> str:
        """What kind of world it is; whether B is slower is not told."""
        return self.kind

    @property
    def cost(self) -> float:
        """How many pairs were asked for; asking for none costs as much as one, for it says nothing."""
        return max(1, self.asked)

    @property
    def plain_cost(self) -> float:
        """As many pairs everywhere."""
        return PLAIN_PAIRS

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer `next_pair()` with seconds of A and of B."""
        want_no_arguments(name, arguments)
        if self.asked == MOST_PAIRS:
            raise ValueError(f"There are {MOST_PAIRS} pairs and no more; decide before.")
        shift, error, level_s = math.log1p(self.effect), self.errors[self.asked], self.level_s[self.asked]
        self.log_odds += self.noise.log_density(error + shift) - self.noise.log_density(error)
        self.asked += 1
        half = math.exp((shift + error) / 2)
        return (level_s / half, level_s * half)

    def judge(self, answer: Value) -> Mismatch | None:
        """Take yes or no for an answer; right or wrong is told over all worlds (see `judging`)."""
        if not isinstance(answer, bool):
            return Mismatch("True or False", shown(answer), "Return whether B is slower.")
        self.answer = answer
        return None


def draw_worlds(rng: np.random.Generator) -> tuple[PairWorld, ...]:
    """Draw all worlds of one exam, slowed and equal ones of three kinds, in random order."""
    worlds = [
        draw(rng, THRESHOLD if number < SLOWED else 0.0)
        for draw in (_plain, _heavy, _drifting)
        for number in range(SLOWED + EQUAL)
    ]
    return shuffled(rng, worlds)


def _plain(rng: np.random.Generator, effect: float) -> PairWorld:
    noise = Noise(float(rng.uniform(0.03, 0.07)))
    return _world(rng, "noise as in a textbook", effect, noise, np.zeros(MOST_PAIRS))


def _heavy(rng: np.random.Generator, effect: float) -> PairWorld:
    """Now and then one side is interrupted: it takes up to several times as long."""
    noise = Noise(float(rng.uniform(0.025, 0.045)), freedom=2.0)
    return _world(rng, "heavy tails: some pairs are wildly off", effect, noise, np.zeros(MOST_PAIRS))


def _drifting(rng: np.random.Generator, effect: float) -> PairWorld:
    """The machine gets slower as it warms up, steps up and down, and sometimes steps between A and B."""
    noise = Noise(float(rng.uniform(0.03, 0.06)), wild=0.1, wild_scale=0.3)
    warming = np.log1p(0.01 * np.arange(MOST_PAIRS))
    steps = np.cumsum(np.where(rng.random(MOST_PAIRS) < 0.02, rng.normal(0, 0.02, MOST_PAIRS), 0.0))
    return _world(rng, "drift: the machine gets slower all the time", effect, noise, warming + steps)


def _world(
    rng: np.random.Generator,
    kind: str,
    effect: float,
    noise: Noise,
    drift: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> PairWorld:
    level_s = np.exp(drift) * rng.uniform(0.5e-3, 5e-3)
    return PairWorld(kind, effect, noise, tuple(level_s.tolist()), tuple(noise.draw(rng, MOST_PAIRS)))
