"""A simulated machine, whose time passes only when work is done on it or its clock is read.

The true time of each call is known, so an answer can be graded. All disturbances are drawn beforehand, as stretches of
simulated time in which the machine is slower. So two submissions that make the same calls measure the same times.
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
    """The disturbances of a simulated machine: stretches of (length in seconds, slowness), repeated without end.

    At slowness 2, a second of work takes two seconds. At slowness 1, the machine is undisturbed.
    """

    def __init__(self, stretches: Iterable[tuple[float, float]]) -> None:
        stretches = tuple(stretches)
        self._times_s = (0.0, *accumulate(length_s for length_s, _ in stretches))
        self._works_s = (0.0, *accumulate(length_s / slowness for length_s, slowness in stretches))
        usual = min(slowness for _, slowness in stretches)
        quiet_s = [length_s for length_s, slowness in stretches if slowness == usual]
        self.quiet_s = math.inf if len(quiet_s) == len(stretches) else sum(quiet_s) / len(quiet_s)
        """The mean length of the fastest stretches, in seconds; infinite if all stretches are equally fast."""

    def end_s(self, start_s: float, work_s: float) -> float:
        """Return the time at which work ends. It begins at `start_s`, and takes `work_s` seconds if undisturbed."""
        done_s = _follow(start_s, self._times_s, self._works_s)
        return _follow(done_s + work_s, self._works_s, self._times_s)


def _follow(value: float, along: Sequence[float], onto: Sequence[float]) -> float:
    rounds, rest = divmod(value, along[-1])
    left = min(bisect_right(along, rest), len(along) - 1) - 1
    share = (rest - along[left]) / (along[left + 1] - along[left])
    return rounds * onto[-1] + onto[left] + share * (onto[left + 1] - onto[left])


ROUNDING = 1e-6
"""Rounding errors of an added time are below this share of the work's seconds."""


class LateWeather(Weather):
    """Disturbances that begin when `begin` is called. Until then the simulated machine is undisturbed."""

    def __init__(self, stretches: Iterable[tuple[float, float]]) -> None:
        super().__init__(stretches)
        self._began_s = math.inf

    def begin(self, moment_s: float) -> None:
        """Let the disturbances begin at this simulated time, which must not be in the past."""
        self._began_s = moment_s

    def end_s(self, start_s: float, work_s: float) -> float:
        """Return the time at which work ends. It begins at `start_s`, and takes `work_s` seconds if undisturbed."""
        undisturbed_s = max(0.0, self._began_s - start_s)
        if work_s <= undisturbed_s:
            return start_s + work_s
        since_s = max(0.0, start_s - self._began_s)
        return self._began_s + super().end_s(since_s, work_s - undisturbed_s)


CALM = Weather([(1.0, 1.0)])
"""The `Weather` of a simulated machine without disturbances."""

STANDSTILL = 1e9
"""The slowness during an interruption, in which practically no work is done."""


@dataclass
class Machine:
    """A simulated machine with a clock and disturbances.

    The clock shows whole ticks of `tick_s` seconds, and shows `origin_s` at the start. A reading takes `reading_s`, and
    disturbances never lengthen it. If they hit one reading in a thousand, right code would fail in one of a few hundred
    gradings.
    """

    tick_s: float
    reading_s: float
    origin_s: float
    weather: Weather = CALM
    now_s: float = 0.0

    @property
    def step_s(self) -> float:
        """The smallest change between two clock readings, in seconds. It is also the error of a measured time."""
        return max(self.tick_s, self.reading_s)

    def work(self, work_s: float) -> float:
        """Do work that takes `work_s` seconds undisturbed, and return the seconds that disturbances added."""
        began_s, self.now_s = self.now_s, self.weather.end_s(self.now_s, work_s)
        return added_s(began_s, self.now_s, work_s)

    def read(self) -> float:
        """Return the clock's reading in seconds. The reading itself takes time."""
        self.now_s += self.reading_s
        return math.floor((self.origin_s + self.now_s) / self.tick_s) * self.tick_s


def added_s(began_s: float, ended_s: float, work_s: float) -> float:
    """Return the seconds that disturbances added to `work_s` seconds of work, or 0 if rounding alone explains them."""
    added = ended_s - began_s - work_s
    return added if added > ROUNDING * work_s else 0.0


def stratified(rng: np.random.Generator, low: float, high: float, count: int) -> list[float]:
    """Return one uniform random number from each of `count` equal parts of [low, high], in random order.

    With 12 independent numbers, a method that fails in a tenth of the range would pass in one grading of four. These
    numbers cover the whole range, so that method fails in every grading.
    """
    places = (np.arange(count) + rng.random(count)) / count
    drawn: list[float] = rng.permutation(low + (high - low) * places).tolist()
    return drawn


def shuffled(rng: np.random.Generator, items: Sequence[T]) -> tuple[T, ...]:
    """Return the items in random order."""
    return tuple(items[place] for place in rng.permutation(len(items)))


def doubled(length_s: float, per_call_s: float) -> int:
    """Return the sum of the block sizes 1, 2, 4 … calls, up to the first block that lasts `length_s` seconds."""
    doublings = max(0, math.ceil(math.log2(length_s / per_call_s)))
    return (2 << doublings) - 1


def early_calls(rng: np.random.Generator, most: int, count: int) -> list[int]:
    """Return `count` whole numbers from 0 to `most`, spread evenly on a logarithmic scale.

    If interruptions begin at calls with these numbers, they hit every stage of a search that doubles its block size.
    """
    return [int(math.exp(log)) - 1 for log in stratified(rng, 0.0, math.log(most + 1), count)]


def want_no_arguments(name: str, arguments: Sequence[Value]) -> None:
    """Raise `ValueError` if a simulated function that takes no arguments gets any."""
    if arguments:
        raise ValueError(f"{name}() takes no arguments; it got {len(arguments)}.")
