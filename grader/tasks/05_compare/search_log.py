"""Why a search for the crossing went wrong: from the measurements that it asked for, and from nothing else."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness import units

MOVED: Final = 1.2
"""A pair was disturbed when one side of it was slowed by this factor more than the other."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was asked for, what came back, and by which factor that was disturbed; `place` counts from 0."""

    place: int
    which: str
    size: int
    seconds: float
    factor: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The measurements of both functions at one size: the first of f with the first of g, and so on."""

    size: int
    pairs: tuple[tuple[Measurement, Measurement], ...]

    def misleading(self, apart: Callable[[float], float]) -> list[tuple[Measurement, Measurement]]:
        """Return the pairs whose order is not the true one; `apart` is the logarithm of f's cost over g's."""
        return [(f, g) for f, g in self.pairs if (f.seconds > g.seconds) != (apart(self.size) > 0)]

    @property
    def smallest(self) -> "Comparison":
        """Return the smallest measurement of each as the only pair."""
        f, g = (min(side, key=lambda one: one.seconds) for side in zip(*self.pairs, strict=True))
        return Comparison(self.size, ((f, g),))


def why(
    answer: float | None,
    log: Sequence[Measurement],
    apart: Callable[[float], float],
    truth: float | None,
    clear: float,
) -> str:
    """Return what the measurements show of why the answer is wrong; empty where they show nothing.

    `apart(size)` is the logarithm of f's true cost over g's. A comparison counts where both are `clear` apart.
    """
    compared = sorted(comparisons(log), key=lambda one: one.size)
    for one in _beside(answer, [each for each in compared if abs(apart(each.size)) > clear]):
        if 2 * len(one.misleading(apart)) >= len(one.pairs):
            return " ".join(_fooled(one, apart))
        if one.smallest.misleading(apart):
            return " ".join(_smallest_fooled(one, apart))
    if not compared:
        return "You measured both functions at no size."
    if truth is None:
        return "Your measurements show the same winner at every size that you compared."
    return _gap([one.size for one in compared], truth, clear)


def _beside(answer: float | None, compared: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the comparisons next to the answer, which decided it; those at both ends where the answer is None."""
    if answer is None:
        return [*compared[:1], *compared[-1:]]
    at = bisect_left([one.size for one in compared], answer)
    return compared[max(at - 1, 0) : at + 2]


def comparisons(log: Sequence[Measurement]) -> Iterator[Comparison]:
    """Yield one comparison for each size at which both functions were measured, in the order of asking."""
    by_size: dict[int, dict[str, list[Measurement]]] = {}
    for one in log:
        by_size.setdefault(one.size, {}).setdefault(one.which, []).append(one)
    for size, times in by_size.items():
        if len(times) == len("fg"):
            yield Comparison(size, tuple(zip(times["f"], times["g"], strict=False)))


def _fooled(one: Comparison, apart: Callable[[float], float]) -> Iterator[str]:
    """Yield how most pairs at a size came out wrong."""
    pairs, wrong = one.pairs, one.misleading(apart)
    times = f"{len(wrong)} of your {len(pairs)} pairs of measurements show" if len(pairs) > 1 else "your one pair shows"
    yield f"At size {units.count(one.size)}, {times} {_slower(one, apart)} as the faster one, and it is the slower one."
    off = max(max(f.factor / g.factor, g.factor / f.factor) for f, g in wrong)
    if off > MOVED:
        yield f"In such a pair one side was slowed {units.ratio(off, 2)} and the other was not."
    if len(pairs) == 1:
        yield "Compare more than once at each size."
    elif off > MOVED and not _in_turn(wrong):
        yield "Other measurements lie between the two of a pair: measure both right after each other."


def _smallest_fooled(one: Comparison, apart: Callable[[float], float]) -> Iterator[str]:
    """Yield how the smallest measurements at a size came out wrong, where most pairs are right."""
    ((f, g),) = one.smallest.pairs
    apart_in_time = max(f.factor / g.factor, g.factor / f.factor) > MOVED
    yield (
        f"At size {units.count(one.size)}, the smallest of your {len(one.pairs)} measurements of each show "
        f"{_slower(one, apart)} as the faster one, and it is the slower one"
        f"{': they were taken while the machine had different speeds' if apart_in_time else ''}."
    )
    yield (
        "Compare the two of each pair, and count which one wins more often."
        if _in_turn(one.pairs)
        else "Other measurements lie between the two of a pair: measure both right after each other."
    )


def _slower(one: Comparison, apart: Callable[[float], float]) -> str:
    return "f" if apart(one.size) > 0 else "g"


def _in_turn(pairs: Sequence[tuple[Measurement, Measurement]]) -> bool:
    return all(abs(f.place - g.place) == 1 for f, g in pairs)


def _gap(sizes: Sequence[int], truth: float, clear: float) -> str:
    """Say between which two sizes the crossing lies, and that nothing was compared in between."""
    below = max((size for size in sizes if size < truth), default=None)
    above = min((size for size in sizes if size >= truth), default=None)
    if below is None or above is None:
        return f"You compared no size {'below' if below is None else 'above'} the crossing."
    if math.log(above / below) <= clear:
        return ""
    return f"Around the crossing, you compared at {units.count(below)} and {units.count(above)} and nowhere in between."
