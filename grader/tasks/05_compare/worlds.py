"""The simulated worlds of `crossover`: two functions whose costs cross, and a noisy way to measure them.

The planted truth is the size at which both cost the same. The cost is how often something was measured.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import numpy as np

from grader.task import Metered, Mismatch
from grader.tasks.answers import as_number, shown
from grader.tasks.simulated import shuffled
from grader.values import Value
from harness import units

from .search_log import Measurement, why

ALLOWED: Final = 0.05
"""An answer may be off by this share of the size. It may be farther off where both cost the same within this share:
nobody could tell, and nobody would care."""

LOW, HIGH = 1, 1_000_000
MOST_MEASUREMENTS: Final = 20_000

PLAIN_SIZES: Final = tuple(accumulate(range(160), lambda size, _: max(size + 1, round(size * 1.08)), initial=LOW))
"""The sizes of the plain way, which walks up in steps of 8 %."""

Cost = Callable[[float], float]
"""The undisturbed seconds of one call at a size."""


@dataclass
class CrossingWorld:
    """Functions "f" and "g" with costs of their own, and what disturbs each measurement in turn.

    `disturbance` holds factors, one a measurement, from the beginning again when they are used up. `truth` is the size
    where the winner changes, None where one is faster throughout.
    """

    title: str
    costs: dict[str, Cost]
    truth: float | None
    disturbance: tuple[float, ...]
    log: list[Measurement] = field(default_factory=list)
    function: str = "crossover"

    @property
    def arguments(self) -> tuple[Value | Metered, ...]:
        """The two names, what measures them, and the range of sizes."""
        return ("f", "g", Metered("measure"), LOW, HIGH)

    @property
    def cost(self) -> float:
        """How often something was measured."""
        return len(self.log)

    @property
    def plain_cost(self) -> float:
        """Nine pairs at each of the sizes from the lowest to the crossing, or the highest, in steps of 8 %."""
        last = HIGH if self.truth is None else self.truth
        return 18 * (1 + sum(size < last for size in PLAIN_SIZES))

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Answer `measure(which, size)` with seconds."""
        which, size = arguments if len(arguments) == 2 else (None, None)
        whole = isinstance(size, int) and not isinstance(size, bool) and LOW <= size <= HIGH
        if not isinstance(which, str) or which not in self.costs or not whole:
            given = ", ".join(map(shown, arguments))
            raise ValueError(
                f"{name}(which, size) takes 'f' or 'g' and a whole number from {LOW} to {HIGH}; "
                f"it was called as {name}({given})."
            )
        assert isinstance(size, int)
        place = len(self.log)
        factor = self.disturbance[place % len(self.disturbance)]
        seconds = self.costs[which](size) * factor
        self.log.append(Measurement(place, which, size, seconds, factor))
        return seconds

    def apart(self, size: float) -> float:
        """Return the logarithm of f's cost over g's at a size."""
        return math.log(self.costs["f"](size) / self.costs["g"](size))

    def judge(self, answer: Value) -> Mismatch | None:
        """Compare with the planted size; None is right where one is faster throughout."""
        if self._is_right(answer):
            return None
        size = as_number(answer)
        remark = why(size, self.log, self.apart, self.truth, math.log1p(ALLOWED))
        if self.truth is None:
            return Mismatch("None: one is faster at every size", shown(answer), remark)
        expected = f"about {units.count(self.truth)}"
        if size is None:
            said = (
                "Return the size as one number." if answer is not None else f"The winner does change. {remark}".rstrip()
            )
            return Mismatch(expected, shown(answer), said)
        if not LOW <= size <= HIGH:
            return Mismatch(expected, units.number(size), f"Sizes lie between {LOW} and {units.count(HIGH)}.")
        costs = f"There one costs {units.percent(math.expm1(abs(self.apart(size))))} more than the other."
        return Mismatch(expected, units.number(size), f"{costs} {remark}".rstrip())

    def _is_right(self, answer: Value) -> bool:
        size = as_number(answer)
        if self.truth is None or size is None:
            return answer is None and self.truth is None
        if not LOW <= size <= HIGH:
            return False
        return min(abs(math.log(size / self.truth)), abs(self.apart(size))) <= math.log1p(ALLOWED)


EACH: Final = {"scatter": 4, "interrupted": 24, "changing": 144, "jump": 6, "none": 12}
"""Worlds of each kind. Of 144 in which the machine changes its speed, a comparison of two minima is wrong in some
twelve, so that it passes in no exam by luck. A method that is wrong in one of some hundred worlds passes."""


def draw_worlds(rng: np.random.Generator) -> tuple[CrossingWorld, ...]:
    """Draw the worlds of one exam, of six kinds, in random order."""
    scatter = "the other one wins at first, measurements scatter by 1 %"
    cold, changes = "the first measurement is cold, some are interrupted", "the machine changes its speed now and then"
    worlds = [
        _crossing(rng, "exact measurements", _noise(rng, 0.0)),
        *(_crossing(rng, scatter, _noise(rng), swapped=True) for _ in range(EACH["scatter"])),
        *(_crossing(rng, cold, _interrupted(rng), swapped=_either(rng)) for _ in range(EACH["interrupted"])),
        *(_crossing(rng, changes, _changing(rng), swapped=_either(rng)) for _ in range(EACH["changing"])),
        *(_jump(rng) for _ in range(EACH["jump"])),
        *(_no_crossing(rng) for _ in range(EACH["none"])),
    ]
    return shuffled(rng, worlds)


def _either(rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.5)


def _crossing(
    rng: np.random.Generator, title: str, disturbance: tuple[float, ...], *, swapped: bool = False
) -> CrossingWorld:
    """One has little to set up and costs much for each element, the other the reverse."""
    light, heavy, truth = _costs(rng, float(np.exp(rng.uniform(math.log(300), math.log(100_000)))))
    costs = {"f": heavy, "g": light} if swapped else {"f": light, "g": heavy}
    return CrossingWorld(title, costs, truth, disturbance)


def _costs(rng: np.random.Generator, truth: float) -> tuple[Cost, Cost, float]:
    """Draw two costs that are equal at the size `truth`: per element, and with a dear start."""
    start_s = float(rng.uniform(1e-6, 5e-6))
    dearer, cheaper = float(rng.uniform(3, 6)), float(rng.uniform(2, 4))
    unit = truth * (1 - 1 / cheaper) / (dearer - 1)
    return (
        lambda size: start_s * (1 + size / unit),
        lambda size: start_s * (dearer + size / unit / cheaper),
        truth,
    )


def _jump(rng: np.random.Generator) -> CrossingWorld:
    """Draw two that hardly differ in anything but where one no longer fits into a cache."""
    truth = float(np.exp(rng.uniform(math.log(300), math.log(100_000))))
    start_s = float(rng.uniform(1e-6, 5e-6))
    before, after = float(rng.uniform(0.7, 0.8)), float(rng.uniform(1.3, 1.5))

    def steady(size: float) -> float:
        return start_s * (1 + size / 1000)

    costs: dict[str, Cost] = {"f": steady, "g": lambda size: steady(size) * (before if size < truth else after)}
    return CrossingWorld("one of them jumps where it leaves the cache", costs, truth, _noise(rng))


def _no_crossing(rng: np.random.Generator) -> CrossingWorld:
    """Draw costs that would cross far above the range, or a function that is dearer throughout."""
    light, heavy, _ = _costs(rng, 100.0 * HIGH)
    costs = {"f": heavy, "g": light} if _either(rng) else {"f": light, "g": heavy}
    return CrossingWorld("one is faster at every size", costs, None, _interrupted(rng))


def _noise(rng: np.random.Generator, sd: float = 0.01, length: int = 1024) -> tuple[float, ...]:
    return tuple(np.exp(rng.normal(0, sd, length)).tolist())


def _interrupted(rng: np.random.Generator) -> tuple[float, ...]:
    """The very first measurement is cold, and every sixteenth or so takes up to four times as long.

    Never two within eight: so ten measurements of each of two, taken in turn, lose three rounds at most.
    """
    factors = np.array(_noise(rng))
    hit = np.cumsum(rng.integers(8, 25, len(factors) // 8))
    hit = hit[hit < len(factors)]
    factors[hit] = rng.uniform(1.5, 4, len(hit))
    factors[0] = rng.uniform(8, 12)
    return tuple(factors.tolist())


def _changing(rng: np.random.Generator) -> tuple[float, ...]:
    """Stretches of 12 to 30 measurements at full speed, and as many at a third of it and less."""
    stretches = rng.integers(12, 31, 64)
    slowness = np.where(np.arange(64) % 2, rng.uniform(3, 5, 64), 1.0)
    speeds = np.repeat(slowness, stretches)
    return tuple((speeds * np.array(_noise(rng, length=len(speeds)))).tolist())
