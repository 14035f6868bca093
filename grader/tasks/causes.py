"""Explain to a student why a measured time is wrong, from the record of the simulated machine alone.

A submission calls a function several times in a row and reads the clock before and after: this is a block. It returns
the shortest, the mean or the median time of some blocks, and may divide it by the number of calls. Each of these
formulas gives a different number. So if one formula gives the answer to the last digits, the submission used it. The
explanation then names these blocks, the causes of the added time, and a remedy. Otherwise it describes all blocks.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.tasks.intervals import AddedTime, CallRecorder, ClockInterval, blocks
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
    intervals: tuple[ClockInterval, ...]
    divided: bool = True
    peers: tuple[ClockInterval, ...] = ()


def basis_of(answer_s: float, intervals: list[ClockInterval], noun: str) -> Basis | None:
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


def _one_block(one: ClockInterval, found: Sequence[ClockInterval], noun: str) -> Basis:
    peers = tuple(other for other in found if other.calls == one.calls)
    which = "one block"
    if len(peers) > 1:
        shortest = one.shown_s <= min(peer.shown_s for peer in peers) * (1 + SAME)
        which = f"{'the shortest' if shortest else 'one'} of {units.count(len(peers))} blocks"
    return Basis(f"the time per {noun} in {which} of {some(one.calls, noun)}", (one,), peers=peers)


def _sets(found: Sequence[ClockInterval], noun: str) -> Iterator[tuple[str, tuple[ClockInterval, ...]]]:
    for calls in sorted({one.calls for one in found}):
        peers = [one for one in found if one.calls == calls]
        for first in range(len(peers) - 1):
            chosen = tuple(peers[first:])
            yield f"{units.count(len(chosen))} blocks of {some(calls, noun)}", chosen
            if len(peers) > MOST_COMBINED:
                break
    if len({one.calls for one in found}) > 1:
        yield f"all {units.count(len(found))} blocks", tuple(found)


def _mean(chosen: Sequence[ClockInterval]) -> float:
    return statistics.fmean(one.shown_s / one.calls for one in chosen)


def _same(one_s: float, other_s: float) -> bool:
    return math.isclose(one_s, other_s, rel_tol=SAME)


WORTH_NAMING: Final = 1 / 3
"""An explanation names each cause that added at least this share of the largest added time."""

LOOKS_LONGER: Final = 1.5
"""A block that took this many times its undisturbed time may have made the student choose too small a block."""

DISTURBANCES: Final = frozenset({AddedTime.INTERRUPTED, AddedTime.TAKEN})


@dataclass(frozen=True, slots=True)
class CallTruth:
    """The right answer of a simulated measurement, and the words that explanations use for it.

    `measured` is the name of the measured function, and `noun` the word for a call of it. `quiet_s` is the mean time
    between disturbances. If `device` is True, launching and waiting add time to an interval; otherwise only reading the
    clock does.
    """

    measured: str
    per_call_s: float
    step_s: float
    noun: str = "call"
    quiet_s: float = math.inf
    device: bool = False

    def undisturbed_s(self, interval: ClockInterval) -> float:
        """Return the seconds that the calls in an interval take without disturbances."""
        return interval.calls * self.per_call_s

    def rest_s(self, interval: ClockInterval) -> float:
        """Return the seconds that reading the clock, or launching and waiting, added to an interval."""
        return interval.shown_s - self.undisturbed_s(interval) - sum(seconds for _, seconds in interval.parts)


def why(answer_s: float, seen: CallRecorder, truth: CallTruth) -> str:
    """Return an explanation of the wrong answer `answer_s`, for the student."""
    found = blocks(seen.intervals)
    if not found:
        return _nothing_timed(seen, truth)
    basis = basis_of(answer_s, seen.intervals, truth.noun)
    if basis is None:
        return " ".join(_all_blocks(found, truth))
    words = [f"That is exactly {basis.words}."]
    if not basis.divided:
        return f"{words[0]} Divide it by the number of {_plural(truth.noun)}."
    for part, seconds in _worth_naming(_effects(basis.intervals, truth)):
        words += _effect(part, seconds, basis, truth)
        words += _misled(basis, found, truth) if part is None else ()
    return " ".join(words)


def _worth_naming(effects: Mapping[AddedTime | None, float]) -> list[tuple[AddedTime | None, float]]:
    ordered = sorted(effects.items(), key=lambda effect: -abs(effect[1]))
    largest = ordered[0]
    if largest[0] in {AddedTime.EARLIER, AddedTime.UNFINISHED}:
        return [largest]
    return [effect for effect in ordered if abs(effect[1]) >= WORTH_NAMING * abs(largest[1])]


def _effects(chosen: Sequence[ClockInterval], truth: CallTruth) -> dict[AddedTime | None, float]:
    effects: Counter[AddedTime | None] = Counter()
    for one in chosen:
        for part, seconds in one.parts:
            effects[part] += seconds  # type: ignore[assignment]  # a Counter adds up floats as well
        effects[None] += truth.rest_s(one)  # type: ignore[assignment]
    return dict(effects)


def _effect(part: AddedTime | None, seconds: float, basis: Basis, truth: CallTruth) -> Iterator[str]:
    if part is None:
        yield from _clock_effect(seconds, basis, truth)
        return
    total_s = sum(one.shown_s for one in basis.intervals)
    where = f" of {'its' if len(basis.intervals) == 1 else 'their'} {units.seconds(total_s)}" if seconds > 0 else ""
    yield f"{units.seconds(abs(seconds))}{where} {_in_words(part, truth)}."
    if part in DISTURBANCES:
        yield _how_to_avoid(basis, truth)
    else:
        yield {
            AddedTime.FIRST_CALLS: "Make the first calls before you read the clock.",
            AddedTime.MAKING: "Make the lists before the first reading of the clock, or after the second.",
            AddedTime.SORTED: "Give each call a new list.",
            AddedTime.EARLIER: "Call synchronize() before the first reading.",
            AddedTime.UNFINISHED: "Call synchronize() before the second reading.",
        }[part].replace("calls", _plural(truth.noun))


def _in_words(part: AddedTime, truth: CallTruth) -> str:
    return part.replace("calls", _plural(truth.noun))


def _how_to_avoid(basis: Basis, truth: CallTruth) -> str:
    only_adds = "A disturbance only adds time"
    if len(basis.intervals) > 1:
        return f"{only_adds}: the shortest block has the fewest disturbances."
    peers = basis.peers
    if len(peers) < 2:
        return f"{only_adds}: time several blocks, and take the shortest."
    free = sum(not peer.added_s for peer in peers)
    if free:
        return f"{only_adds}, and {free} of the {len(peers)} blocks of this size had no disturbance: take the shortest."
    block_s = truth.undisturbed_s(peers[0])
    if block_s >= truth.quiet_s / 2:
        return (
            f"All {len(peers)} blocks of this size were disturbed. Such a block lasts {units.seconds(block_s)}, but "
            f"the time between two disturbances is only about {units.seconds(truth.quiet_s)}: "
            f"put fewer {_plural(truth.noun)} in a block."
        )
    return f"All {len(peers)} blocks of this size were disturbed: time more blocks of this size."


def _clock_effect(seconds: float, basis: Basis, truth: CallTruth) -> Iterator[str]:
    chosen, nouns = basis.intervals, _plural(truth.noun)
    total_s = sum(one.shown_s for one in chosen)
    waits = sum(one.waits for one in chosen) / len(chosen)
    if truth.device:
        yield f"{units.seconds(abs(seconds))} of {units.seconds(total_s)} went to launching and synchronizing."
        yield (
            f"A block calls synchronize() {units.number(waits)} times: call it only once, after the last launch."
            if waits > 1
            else "Put more launches in a block."
        )
        return
    steps = sum(map(truth.undisturbed_s, chosen)) / len(chosen) / truth.step_s
    yield (
        f"Without disturbances, such a block lasts {units.number(steps, 2)} steps of this clock. The difference of two "
        f"readings of this clock can be wrong by one step. Put more {nouns} between two readings."
    )


def _misled(basis: Basis, found: Sequence[ClockInterval], truth: CallTruth) -> Iterator[str]:
    last = max(place for place, one in enumerate(found) if one.end_s <= basis.intervals[-1].end_s)
    first = {one.calls: one for one in reversed(found[:last])}  # the first block of each size
    earlier = [one for one in first.values() if one not in basis.intervals]
    same_size = [one for one in earlier if one.calls == basis.intervals[-1].calls]
    if longest := _longest_looking(same_size, truth) or _longest_looking(earlier, truth):
        yield _longer_in_words(longest, truth)
        yield f"If you chose the number of {_plural(truth.noun)} from the time of that block, you chose too few."


def _longest_looking(found: Sequence[ClockInterval], truth: CallTruth) -> ClockInterval | None:
    longer = [one for one in found if one.added_s > 0 and one.shown_s >= LOOKS_LONGER * truth.undisturbed_s(one)]
    return max(longer, key=lambda one: one.shown_s, default=None)


def _longer_in_words(one: ClockInterval, truth: CallTruth) -> str:
    part = max(one.parts, key=lambda each: each[1])[0]
    return (
        f"An earlier block of {some(one.calls, truth.noun)} lasted {units.seconds(one.shown_s)} instead of "
        f"{units.seconds(truth.undisturbed_s(one))}: the rest {_in_words(part, truth)}."
    )


def _all_blocks(found: Sequence[ClockInterval], truth: CallTruth) -> Iterator[str]:
    least, most = min(one.calls for one in found), max(one.calls for one in found)
    sizes = some(most, truth.noun) if least == most else f"{units.count(least)} to {some(most, truth.noun)}"
    yield f"You timed {units.some(len(found), 'block')} of {sizes}."
    if not truth.device:
        longest_s = max(map(truth.undisturbed_s, found))
        steps = units.number(longest_s / truth.step_s, 2)
        yield f"Without disturbances, the longest block lasts {steps} steps of this clock."
    for part in AddedTime:
        seconds = [each for one in found for kind, each in one.parts if kind is part]
        if seconds:
            yield f"In {len(seconds)} of these blocks, {units.seconds(abs(sum(seconds)))} {_in_words(part, truth)}."
    if longest := _longest_looking(found, truth):
        yield _longer_in_words(longest, truth).replace("An earlier", "One")


def _nothing_timed(seen: CallRecorder, truth: CallTruth) -> str:
    called, readings = units.some(seen.calls, "time"), units.some(seen.readings, "time")
    return (
        f"{truth.measured}() was called {called}, and the clock was read {readings}. "
        "No call was made between two readings."
    )


def _plural(noun: str) -> str:
    return "launches" if noun == "launch" else f"{noun}s"
