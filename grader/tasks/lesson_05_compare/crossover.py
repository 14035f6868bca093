"""Task (a) of lesson 05: find the size at which the faster of two functions changes, from noisy measurements.

The right answer is the size at which both functions cost the same. The cost is the number of measurements. The baseline
tries the sizes in steps of 8 %. Bisection on a logarithmic scale needs about 13 times fewer measurements.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import numpy as np

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, SimulatedExam, SimulatedFunction, Task, Tier
from grader.tasks.plain import as_number, is_whole, shown
from grader.tasks.simulated import shuffled
from grader.values import Value
from harness.rendering import units

from .search_log import Measurement, why

ALLOWED: Final = 0.05
"""An answer may differ from the true size by this share.

A size at which the two costs differ by at most this share is right too, because no measurement could separate them.
"""

LOW, HIGH = 1, 1_000_000
MOST_MEASUREMENTS: Final = 20_000

PLAIN_SIZES: Final = tuple(accumulate(range(160), lambda size, _: max(size + 1, round(size * 1.08)), initial=LOW))
"""The sizes that the baseline, with which submissions are compared, tries: in steps of 8 %."""

Seconds = Callable[[float], float]
"""A function that returns the undisturbed seconds of one call at a size."""


@dataclass
class CrossingScenario:
    """Two functions "f" and "g" with their costs, and a disturbance of each measurement.

    `disturbance` holds one factor per measurement. After the last factor, the first follows again. `truth` is the size
    where the faster function changes, or None if it never changes.
    """

    title: str
    costs: dict[str, Seconds]
    truth: float | None
    disturbance: tuple[float, ...]
    log: list[Measurement] = field(default_factory=list)
    function = "crossover"
    arguments = ("f", "g", SimulatedFunction("measure"), LOW, HIGH)

    @property
    def cost(self) -> float:
        """The number of measurements, or 1 if there was no measurement."""
        return max(1, len(self.log))

    @property
    def plain_cost(self) -> float:
        """Return the number of the baseline's measurements: 9 pairs at each size that it tries."""
        last = HIGH if self.truth is None else self.truth
        return 18 * (1 + sum(size < last for size in PLAIN_SIZES))

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Return the disturbed seconds that `measure(which, size)` measures."""
        which, size = arguments if len(arguments) == 2 else (None, None)
        if not isinstance(which, str) or which not in self.costs or not is_whole(size, LOW, HIGH):
            given = ", ".join(map(shown, arguments))
            raise ValueError(
                f"{name}(which, size) takes 'f' or 'g' and a whole number from {LOW} to {HIGH}. It got: {given}"
            )
        place = len(self.log)
        factor = self.disturbance[place % len(self.disturbance)]
        seconds = self.costs[which](size) * factor
        self.log.append(Measurement(place, which, size, seconds, factor))
        return seconds

    def apart(self, size: float) -> float:
        """Return the logarithm of the ratio (f's cost ÷ g's cost) at a size."""
        return math.log(self.costs["f"](size) / self.costs["g"](size))

    def judge(self, answer: Value) -> Mismatch | None:
        """Return a `Mismatch` if the answer is wrong. The answer must be None if one function is always faster."""
        if self._is_right(answer):
            return None
        size = as_number(answer)
        remark = why(size, self.log, self.apart, self.truth, math.log1p(ALLOWED))
        if self.truth is None:
            return Mismatch("None: one function is faster at every size", shown(answer), remark)
        expected = f"about {units.count(self.truth)}"
        if size is None:
            never = f"The faster function is not the same at all sizes. {remark}".rstrip()
            said = never if answer is None else "Return the size as one number."
            return Mismatch(expected, shown(answer), said)
        if not LOW <= size <= HIGH:
            return Mismatch(expected, units.number(size), f"Sizes lie between {LOW} and {units.count(HIGH)}.")
        more = units.percent(math.expm1(abs(self.apart(size))))
        costs = f"At this size, one function costs {more} more than the other."
        return Mismatch(expected, units.number(size), f"{costs} {remark}".rstrip())

    def _is_right(self, answer: Value) -> bool:
        size = as_number(answer)
        if self.truth is None or size is None:
            return answer is None and self.truth is None
        if not LOW <= size <= HIGH:
            return False
        return min(abs(math.log(size / self.truth)), abs(self.apart(size))) <= math.log1p(ALLOWED)


EACH: Final = {"scatter": 4, "interrupted": 24, "changing": 192, "jump": 6, "none": 12}
"""The number of scenarios of each kind.

In 192 scenarios, the machine changes its speed. A comparison of two minima is wrong in about 16 of these, so it passes
by luck in less than one of 10,000 draws. A method that is wrong in one scenario of a hundred passes.
"""


def draw_scenarios(rng: np.random.Generator) -> tuple[CrossingScenario, ...]:
    """Return the scenarios for one grading, of six kinds, in random order."""
    scatter = "g is faster at small sizes, noise of 1 %"
    cold = "the first measurement is cold, some later ones are interrupted"
    changes = "the machine changes its speed now and then"
    scenarios = [
        _crossing(rng, "exact measurements", _noise(rng, 0.0)),
        *(_crossing(rng, scatter, _noise(rng), swapped=True) for _ in range(EACH["scatter"])),
        *(_crossing(rng, cold, _interrupted(rng), swapped=_either(rng)) for _ in range(EACH["interrupted"])),
        *(_crossing(rng, changes, _changing(rng), swapped=_either(rng)) for _ in range(EACH["changing"])),
        *(_jump(rng) for _ in range(EACH["jump"])),
        *(_no_crossing(rng) for _ in range(EACH["none"])),
    ]
    return shuffled(rng, scenarios)


def _either(rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.5)


def _crossing(
    rng: np.random.Generator, title: str, disturbance: tuple[float, ...], *, swapped: bool = False
) -> CrossingScenario:
    light, heavy, truth = _costs(rng, float(np.exp(rng.uniform(math.log(300), math.log(100_000)))))
    costs = {"f": heavy, "g": light} if swapped else {"f": light, "g": heavy}
    return CrossingScenario(title, costs, truth, disturbance)


def _costs(rng: np.random.Generator, truth: float) -> tuple[Seconds, Seconds, float]:
    start_s = float(rng.uniform(1e-6, 5e-6))
    start_ratio, cheaper = float(rng.uniform(3, 6)), float(rng.uniform(2, 4))
    unit = truth * (1 - 1 / cheaper) / (start_ratio - 1)
    return (
        lambda size: start_s * (1 + size / unit),
        lambda size: start_s * (start_ratio + size / unit / cheaper),
        truth,
    )


def _jump(rng: np.random.Generator) -> CrossingScenario:
    truth = float(np.exp(rng.uniform(math.log(300), math.log(100_000))))
    start_s = float(rng.uniform(1e-6, 5e-6))
    before, after = float(rng.uniform(0.7, 0.8)), float(rng.uniform(1.3, 1.5))

    def steady(size: float) -> float:
        return start_s * (1 + size / 1000)

    costs: dict[str, Seconds] = {"f": steady, "g": lambda size: steady(size) * (before if size < truth else after)}
    return CrossingScenario("one function becomes slower where its data leave the cache", costs, truth, _noise(rng))


def _no_crossing(rng: np.random.Generator) -> CrossingScenario:
    light, heavy, _ = _costs(rng, 100.0 * HIGH)
    costs = {"f": heavy, "g": light} if _either(rng) else {"f": light, "g": heavy}
    return CrossingScenario("one function is faster at every size", costs, None, _interrupted(rng))


def _noise(rng: np.random.Generator, sd: float = 0.01, length: int = 1024) -> tuple[float, ...]:
    return tuple(np.exp(rng.normal(0, sd, length)).tolist())


def _interrupted(rng: np.random.Generator) -> tuple[float, ...]:
    factors = np.array(_noise(rng))
    hit = np.cumsum(rng.integers(8, 25, len(factors) // 8))
    hit = hit[hit < len(factors)]
    factors[hit] = rng.uniform(1.5, 4, len(hit))
    factors[0] = rng.uniform(8, 12)
    return tuple(factors.tolist())


def _changing(rng: np.random.Generator) -> tuple[float, ...]:
    stretches = rng.integers(12, 31, 64)
    slowness = np.where(np.arange(64) % 2, rng.uniform(3, 5, 64), 1.0)
    speeds = np.repeat(slowness, stretches)
    return tuple((speeds * np.array(_noise(rng, length=len(speeds)))).tolist())


CROSSOVER = Task(
    summary="find the size at which the faster function changes, in few measurements",
    cost=CALLS,
    tiers=(Tier(1.3, 0.6), Tier(2.5, 0.8), Tier(5.8, 1.0)),
    hints=(
        (
            "If f is faster at one size and g at a larger size, the change lies between them. Which size between these "
            "two do you try next?"
        ),
        (
            "Write a helper that returns which function is faster at one size. This helper measures f and g right "
            "after each other, several times, and counts how often each function wins. First call this helper for the "
            "smallest and the largest size."
        ),
        (
            "Sizes range from 1 to a million, and an error of 5 % is allowed. So take sqrt(low × high) as the middle "
            "of the sizes low and high, and stop when high is 2 % above low. Let the helper stop when one function has "
            "won five rounds. If one function is clearly faster, five rounds are enough."
        ),
    ),
    exam=SimulatedExam(draw_scenarios, max_calls=MOST_MEASUREMENTS, forgiven=2),
    read="lesson 05, “Where the winner changes”",
    idea=(
        "The solution bisects on a logarithmic scale. The middle of two sizes is the square root of their product. So "
        "about a dozen sizes between 1 and a million are enough. At each size, the solution measures f and g "
        "alternately until one of them was faster in five rounds. An interruption spoils only one round, however long "
        "it is. A change of the machine's speed affects f and g alike in nearly every round."
    ),
    references=(
        "Lesson 06 turns such a comparison into a test with guaranteed error rates. harness.paired.duel can also "
        "report SAME, if there is no difference."
    ),
)
