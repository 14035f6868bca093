"""Explain why a submission did not find the crossing: the size at which the faster of two functions changes.

The explanations use only the measurements of the submission.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.rendering import units

MOVED: Final = 1.2
"""A pair was disturbed if the slowdowns of its two measurements differ by at least this factor."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement: its number from 0, function, size, seconds, and the factor by which it was slowed."""

    place: int
    which: str
    size: int
    seconds: float
    factor: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The measurements of both functions at one size, in pairs: the first of f with the first of g, and so on."""

    size: int
    pairs: tuple[tuple[Measurement, Measurement], ...]

    def misleading(self, apart: Callable[[float], float]) -> list[tuple[Measurement, Measurement]]:
        """Return the pairs in which the truly slower function took less time.

        `apart(size)` is the logarithm of f's true cost divided by g's.
        """
        return [(f, g) for f, g in self.pairs if (f.seconds > g.seconds) != (apart(self.size) > 0)]

    @property
    def smallest(self) -> "Comparison":
        """Return a comparison of one pair: the smallest measurement of f and the smallest of g."""
        f, g = (min(side, key=lambda one: one.seconds) for side in zip(*self.pairs, strict=True))
        return Comparison(self.size, ((f, g),))


def why(
    answer: float | None, log: Sequence[Measurement], apart: Callable[[float], float], truth: float | None, clear: float
) -> str:
    """Return an explanation of a wrong answer, or an empty text if the measurements do not explain it.

    `apart(size)` is the logarithm of f's true cost divided by g's. Only sizes at which this logarithm is larger than
    `clear`, or smaller than -`clear`, are considered.
    """
    compared = sorted(comparisons(log), key=lambda one: one.size)
    for one in _beside(answer, [each for each in compared if abs(apart(each.size)) > clear]):
        if 2 * len(one.misleading(apart)) >= len(one.pairs):
            return " ".join(_fooled(one, apart))
        if one.smallest.misleading(apart):
            return " ".join(_smallest_fooled(one, apart))
    if not compared:
        return "There is no size at which you measured both functions."
    if truth is None:
        return "Your measurements show the same function as the faster one at every size that you compared."
    return _gap([one.size for one in compared], truth, clear)


def _beside(answer: float | None, compared: Sequence[Comparison]) -> Sequence[Comparison]:
    if answer is None:
        return [*compared[:1], *compared[-1:]]
    at = bisect_left([one.size for one in compared], answer)
    return compared[max(at - 1, 0) : at + 2]


def comparisons(log: Sequence[Measurement]) -> Iterator[Comparison]:
    """Yield one comparison for each size at which both functions were measured, in order of the first measurement."""
    by_size: dict[int, dict[str, list[Measurement]]] = {}
    for one in log:
        by_size.setdefault(one.size, {}).setdefault(one.which, []).append(one)
    for size, times in by_size.items():
        if len(times) == len("fg"):
            yield Comparison(size, tuple(zip(times["f"], times["g"], strict=False)))


def _fooled(one: Comparison, apart: Callable[[float], float]) -> Iterator[str]:
    pairs, wrong = one.pairs, one.misleading(apart)
    times = f"{len(wrong)} of your {len(pairs)} pairs of measurements show" if len(pairs) > 1 else "your one pair shows"
    slower = _slower(one, apart)
    yield f"At size {units.count(one.size)}, {times} {slower} as the faster function, but it is the slower function."
    off = max(max(f.factor / g.factor, g.factor / f.factor) for f, g in wrong)
    if off > MOVED:
        yield f"In such a pair the machine was {units.ratio(off, 2)} slower for one measurement than for the other."
    if len(pairs) == 1:
        yield "Compare more than once at each size."
    elif off > MOVED and not _in_turn(wrong):
        yield (
            "You made other measurements between the two measurements of a pair: measure f and g right after each "
            "other."
        )


def _smallest_fooled(one: Comparison, apart: Callable[[float], float]) -> Iterator[str]:
    ((f, g),) = one.smallest.pairs
    apart_in_time = max(f.factor / g.factor, g.factor / f.factor) > MOVED
    yield (
        f"At size {units.count(one.size)}, the smallest of your {len(one.pairs)} measurements of each function show "
        f"{_slower(one, apart)} as the faster function, but it is the slower function"
        f"{': the machine had different speeds when you took them' if apart_in_time else ''}."
    )
    yield (
        "Compare the two measurements of each pair, and count which function wins more often."
        if _in_turn(one.pairs)
        else (
            "You made other measurements between the two measurements of a pair: measure f and g right after each "
            "other."
        )
    )


def _slower(one: Comparison, apart: Callable[[float], float]) -> str:
    return "f" if apart(one.size) > 0 else "g"


def _in_turn(pairs: Sequence[tuple[Measurement, Measurement]]) -> bool:
    return all(abs(f.place - g.place) == 1 for f, g in pairs)


def _gap(sizes: Sequence[int], truth: float, clear: float) -> str:
    below = max((size for size in sizes if size < truth), default=None)
    above = min((size for size in sizes if size >= truth), default=None)
    if below is None or above is None:
        return f"You compared no size {'below' if below is None else 'above'} the crossing."
    if math.log(above / below) <= clear:
        return ""
    between = f"{units.count(below)} and {units.count(above)}"
    return f"Around the crossing, you compared f and g at sizes {between}, but at no size between these two."
