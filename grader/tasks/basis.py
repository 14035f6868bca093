"""Find the timed blocks of calls from which a submission computed its answer.

A submission calls a function several times in a row and reads the clock before and after: this is a block. It returns
the shortest, the mean or the median time of some blocks, and may divide it by the number of calls. Each of these
formulas gives a different number. So if one formula gives the answer to the last digits, the submission used it.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.tasks.intervals import Interval, blocks
from harness.rendering import units

SAME: Final = 1e-9
"""Two numbers count as equal if their relative difference is at most this. Rounding can cause such a difference."""

MOST_COMBINED: Final = 300
"""If there are more blocks, medians are not tried, nor means of only the last blocks of a size."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The timed blocks of calls from which a submission computed its answer.

    `words` describe the computation, such as "the mean of 20 blocks of 32 calls". `divided` is True if the answer is
    the time of one call, and False if it is the time of whole blocks. If the answer comes from one block, `peers` holds
    all blocks with the same number of calls.
    """

    words: str
    intervals: tuple[Interval, ...]
    divided: bool = True
    peers: tuple[Interval, ...] = ()


def basis_of(answer_s: float, intervals: list[Interval], noun: str) -> Basis | None:
    """Return the blocks whose times give the answer by a usual formula, such as the mean, or None.

    `noun` names what the blocks contain: "call" or "launch".
    """
    found = blocks(intervals)
    for one in reversed(found):
        if _same(one.shown_s / one.calls, answer_s):
            return _one_block(one, found, noun)
    for one in reversed(found):
        if one.calls > 1 and _same(one.shown_s, answer_s):
            return Basis(f"the time of a whole block of {some(one.calls, noun)}", (one,), divided=False)
    few = len(intervals) <= MOST_COMBINED
    for words, chosen in _sets(found, noun):
        calls = sum(one.calls for one in chosen)
        total_s = sum(one.shown_s for one in chosen)
        if _same(total_s / calls, answer_s) or _same(_mean(chosen), answer_s):
            return Basis(f"the mean of {words}", chosen)
        if calls > len(chosen) and (_same(total_s / len(chosen), answer_s) or _same(total_s, answer_s)):
            return Basis(f"the time of {words} without the division by the {noun}s", chosen, divided=False)
        if few and _same(statistics.median(one.shown_s / one.calls for one in chosen), answer_s):
            return Basis(f"the median of {words}", chosen)
    return None


def some(number: int, noun: str) -> str:
    """Return a number of calls or launches as text, such as "32 calls"."""
    return units.some(number, noun) if noun != "launch" or number == 1 else f"{units.count(number)} launches"


def _one_block(one: Interval, found: Sequence[Interval], noun: str) -> Basis:
    peers = tuple(other for other in found if other.calls == one.calls)
    which = "one block"
    if len(peers) > 1:
        shortest = one.shown_s <= min(peer.shown_s for peer in peers) * (1 + SAME)
        which = f"{'the shortest' if shortest else 'one'} of {units.count(len(peers))} blocks"
    return Basis(f"the time per {noun} in {which} of {some(one.calls, noun)}", (one,), peers=peers)


def _sets(found: Sequence[Interval], noun: str) -> Iterator[tuple[str, tuple[Interval, ...]]]:
    for calls in sorted({one.calls for one in found}):
        peers = [one for one in found if one.calls == calls]
        for first in range(len(peers) - 1):
            chosen = tuple(peers[first:])
            yield f"{units.count(len(chosen))} blocks of {some(calls, noun)}", chosen
            if len(peers) > MOST_COMBINED:
                break
    if len({one.calls for one in found}) > 1:
        yield f"all {units.count(len(found))} blocks", tuple(found)


def _mean(chosen: Sequence[Interval]) -> float:
    return statistics.fmean(one.shown_s / one.calls for one in chosen)


def _same(one_s: float, other_s: float) -> bool:
    return math.isclose(one_s, other_s, rel_tol=SAME)
