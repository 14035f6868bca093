"""A simulated machine: time passes only when work is done on it or its clock is read.

Scenarios that teach measuring plant their truth on it. Everything that can happen is drawn before the play
begins, as stretches of *weather* along the simulated time, so two players who do the same things see the same
times.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import numpy as np

from grader.values import Value

T = TypeVar("T")


class Weather:
    """How fast the machine works over time: stretches of (length in seconds, slowness), repeated for ever.

    At slowness 2 a second of work takes two seconds; at 1 the machine works as it does when nobody disturbs
    it.
    """

    def __init__(self, stretches: Iterable[tuple[float, float]]) -> None:
        stretches = tuple(stretches)
        self._times_s = (0.0, *accumulate(length_s for length_s, _ in stretches))
        self._works_s = (0.0, *accumulate(length_s / slowness for length_s, slowness in stretches))
        usual = min(slowness for _, slowness in stretches)
        quiet_s = [length_s for length_s, slowness in stretches if slowness == usual]
        self.quiet_s = math.inf if len(quiet_s) == len(stretches) else sum(quiet_s) / len(quiet_s)
        """How long a stretch at the best pace lasts, on average; infinite where there is no other."""

    def end_s(self, start_s: float, work_s: float) -> float:
        """Return when `work_s` seconds of undisturbed work are done that begin at `start_s`."""
        done_s = _follow(start_s, self._times_s, self._works_s)
        return _follow(done_s + work_s, self._works_s, self._times_s)


def _follow(value: float, along: Sequence[float], onto: Sequence[float]) -> float:
    """Map `value` through the line whose corners are `along` and `onto`, repeated for ever."""
    rounds, rest = divmod(value, along[-1])
    left = min(bisect_right(along, rest), len(along) - 1) - 1
    share = (rest - along[left]) / (along[left + 1] - along[left])
    return rounds * onto[-1] + onto[left] + share * (onto[left + 1] - onto[left])


ROUNDING = 1e-6
"""What is added to work by rounding alone is less than this share of it."""


class LateWeather(Weather):
    """A weather that begins at a moment which the play decides (`begin`); until then nobody disturbs."""

    def __init__(self, stretches: Iterable[tuple[float, float]]) -> None:
        super().__init__(stretches)
        self._began_s = math.inf

    def begin(self, moment_s: float) -> None:
        """Let it begin at this moment, which is not in the past."""
        self._began_s = moment_s

    def end_s(self, start_s: float, work_s: float) -> float:
        """Return when `work_s` seconds of undisturbed work are done that begin at `start_s`."""
        undisturbed_s = max(0.0, self._began_s - start_s)
        if work_s <= undisturbed_s:
            return start_s + work_s
        since_s = max(0.0, start_s - self._began_s)
        return self._began_s + super().end_s(since_s, work_s - undisturbed_s)


CALM = Weather([(1.0, 1.0)])
"""Nobody disturbs."""

STANDSTILL = 1e9
"""The slowness of an interruption: nothing gets done while it lasts."""


@dataclass
class Machine:
    """A clock and a weather.

    The clock shows whole ticks of `tick_s`, and reading it takes `reading_s`, whatever the weather: one reading in a
    thousand that is interrupted would make right code wrong once in a few hundred gradings. It started `origin_s`
    before the play.
    """

    tick_s: float
    reading_s: float
    origin_s: float
    weather: Weather = CALM
    now_s: float = 0.0

    @property
    def step_s(self) -> float:
        """The smallest change that two readings can show, hence what a measurement can be wrong by."""
        return max(self.tick_s, self.reading_s)

    def work(self, work_s: float) -> float:
        """Let the time pass that `work_s` seconds of undisturbed work take; return what the weather added."""
        began_s, self.now_s = self.now_s, self.weather.end_s(self.now_s, work_s)
        return added_s(began_s, self.now_s, work_s)

    def read(self) -> float:
        """Read the clock, in seconds."""
        self.now_s += self.reading_s
        return math.floor((self.origin_s + self.now_s) / self.tick_s) * self.tick_s


def added_s(began_s: float, ended_s: float, work_s: float) -> float:
    """Return what was added to work of `work_s` seconds between two moments; 0 where that is rounding alone."""
    added = ended_s - began_s - work_s
    return added if added > ROUNDING * work_s else 0.0


def stratified(rng: np.random.Generator, low: float, high: float, count: int) -> list[float]:
    """Return one uniform draw from each of `count` equal parts of [low, high], in random order.

    Independent draws leave gaps: a method that fails in a tenth of all cases would pass a dozen of them once in four
    times. These cover the whole range, so such a method fails every time.
    """
    places = (np.arange(count) + rng.random(count)) / count
    drawn: list[float] = rng.permutation(low + (high - low) * places).tolist()
    return drawn


def shuffled(rng: np.random.Generator, items: Sequence[T]) -> tuple[T, ...]:
    """Return the items in random order."""
    return tuple(items[place] for place in rng.permutation(len(items)))


def doubled(length_s: float, per_call_s: float) -> int:
    """Return the calls in blocks of 1, 2, 4 and so on, up to the first block that takes `length_s`."""
    doublings = max(0, math.ceil(math.log2(length_s / per_call_s)))
    return (2 << doublings) - 1


def early_calls(rng: np.random.Generator, most: int, count: int) -> list[int]:
    """Return `count` numbers of calls from 0 to `most`, stratified on a logarithmic scale.

    Interruptions that begin at these calls hit each stage of a search that doubles its block.
    """
    return [int(math.exp(log)) - 1 for log in stratified(rng, 0.0, math.log(most + 1), count)]


def want_no_arguments(name: str, arguments: Sequence[Value]) -> None:
    """Refuse arguments to a metered function that takes none."""
    if arguments:
        raise ValueError(f"{name}() takes no arguments; it was given {len(arguments)}.")
