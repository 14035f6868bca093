"""Why a measured time is wrong, in words: from what the simulated machine saw, and from nothing else.

Where the answer is found among the student's own blocks, the explanation names the block, what added to it, and what
would have left that out. Where it is not, the explanation lists what was seen and names no cause.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.tasks.basis import Basis, basis_of, some
from grader.tasks.intervals import Interval, Part, Recorder, blocks
from harness import units

WORTH_NAMING: Final = 1 / 3
"""An effect is named when it is at least this share of the largest one."""

LOOKS_LONGER: Final = 1.5
"""A block that lasted this many times its undisturbed time may have misled the student's choice of a block size."""

DISTURBANCES: Final = frozenset({Part.INTERRUPTED, Part.TAKEN})


@dataclass(frozen=True, slots=True)
class Truth:
    """What is planted, and how it is spoken of.

    `measured` is the name of the measured function and `noun` what a call of it is called. `quiet_s` is for how long
    nothing disturbs, on average. On a `device`, launching and waiting add to an interval; elsewhere only the clock.
    """

    measured: str
    per_call_s: float
    step_s: float
    noun: str = "call"
    quiet_s: float = math.inf
    device: bool = False

    def undisturbed_s(self, interval: Interval) -> float:
        """Return what the calls of an interval take when nothing disturbs."""
        return interval.calls * self.per_call_s

    def rest_s(self, interval: Interval) -> float:
        """Return what neither the calls nor a part of the interval accounts for: the clock, launching and waiting."""
        return interval.shown_s - self.undisturbed_s(interval) - sum(seconds for _, seconds in interval.parts)


def why(answer_s: float, seen: Recorder, truth: Truth) -> str:
    """Return what is known of why an answer is wrong."""
    found = blocks(seen.intervals)
    if not found:
        return _nothing_timed(seen, truth)
    basis = basis_of(answer_s, seen.intervals, truth.noun)
    if basis is None:
        return " ".join(_seen(found, truth))
    words = [f"That is exactly {basis.words}."]
    if not basis.divided:
        return f"{words[0]} Divide it by the number of {_plural(truth.noun)}."
    for part, seconds in _named(_effects(basis.intervals, truth)):
        words += _effect(part, seconds, basis, truth)
        words += _misled(basis, found, truth) if part is None else ()
    return " ".join(words)


def _named(effects: Mapping[Part | None, float]) -> list[tuple[Part | None, float]]:
    """Return the effects worth naming, the largest first; that one alone where another block's work is in it."""
    ordered = sorted(effects.items(), key=lambda effect: -abs(effect[1]))
    largest = ordered[0]
    if largest[0] in {Part.EARLIER, Part.UNFINISHED}:
        return [largest]
    return [effect for effect in ordered if abs(effect[1]) >= WORTH_NAMING * abs(largest[1])]


def _effects(chosen: Sequence[Interval], truth: Truth) -> dict[Part | None, float]:
    """Sum up what made intervals longer or shorter than their calls; None is the clock, or launching and waiting."""
    effects: Counter[Part | None] = Counter()
    for one in chosen:
        for part, seconds in one.parts:
            effects[part] += seconds  # type: ignore[assignment]  # a Counter adds up floats as well
        effects[None] += truth.rest_s(one)  # type: ignore[assignment]
    return dict(effects)


def _effect(part: Part | None, seconds: float, basis: Basis, truth: Truth) -> Iterator[str]:
    """Yield what an effect came to, and what would have left it out."""
    if part is None:
        yield from _rest(seconds, basis, truth)
        return
    total_s = sum(one.shown_s for one in basis.intervals)
    where = f" of {'its' if len(basis.intervals) == 1 else 'their'} {units.seconds(total_s)}" if seconds > 0 else ""
    yield f"{units.seconds(abs(seconds))}{where} {_spoken(part, truth)}."
    if part in DISTURBANCES:
        yield _left_alone(basis, truth)
    else:
        yield {
            Part.FIRST_CALLS: "Make the first calls before you read the clock.",
            Part.MAKING: "Make the lists before the first reading, or after the second.",
            Part.SORTED: "Give each call a new list.",
            Part.EARLIER: "Call synchronize() before the first reading.",
            Part.UNFINISHED: "Call synchronize() before the second reading.",
        }[part].replace("calls", _plural(truth.noun))


def _spoken(part: Part, truth: Truth) -> str:
    return part.replace("calls", _plural(truth.noun))


def _left_alone(basis: Basis, truth: Truth) -> str:
    """How to get a block that nothing disturbed, given the blocks of this size that there were."""
    only_adds = "Such disturbances only add time"
    if len(basis.intervals) > 1:
        return f"{only_adds}: the shortest block has the least of it."
    peers = basis.peers
    if len(peers) < 2:
        return f"{only_adds}: time several blocks, and take the shortest."
    free = sum(not peer.added_s for peer in peers)
    if free:
        return f"{only_adds}, and {free} of the {len(peers)} blocks of this size were left alone: take the shortest."
    block_s = truth.undisturbed_s(peers[0])
    if block_s >= truth.quiet_s / 2:
        return (
            f"All {len(peers)} blocks of this size were disturbed. Such a block lasts {units.seconds(block_s)}, and "
            f"nothing disturbs for about {units.seconds(truth.quiet_s)} at a time: "
            f"put fewer {_plural(truth.noun)} in it."
        )
    return f"All {len(peers)} blocks of this size were disturbed: time more of them."


def _rest(seconds: float, basis: Basis, truth: Truth) -> Iterator[str]:
    """Yield what the clock, or launching and waiting, did to the intervals."""
    chosen, nouns = basis.intervals, _plural(truth.noun)
    total_s = sum(one.shown_s for one in chosen)
    waits = sum(one.waits for one in chosen) / len(chosen)
    if truth.device:
        yield f"{units.seconds(abs(seconds))} of {units.seconds(total_s)} went to launching and synchronizing."
        yield (
            f"A block calls synchronize() {units.number(waits)} times: once, after its last launch, is enough."
            if waits > 1
            else "Put more launches in a block."
        )
        return
    steps = sum(map(truth.undisturbed_s, chosen)) / len(chosen) / truth.step_s
    yield (
        f"Undisturbed, such a block lasts {units.number(steps, 2)} steps of this clock, and two readings can be off by "
        f"a step. Put more {nouns} between two readings."
    )


def _misled(basis: Basis, found: Sequence[Interval], truth: Truth) -> Iterator[str]:
    """Yield which earlier block looked longer than it is: it may have chosen the number of calls."""
    last = max(place for place, one in enumerate(found) if one.end_s <= basis.intervals[-1].end_s)
    first = {one.calls: one for one in reversed(found[:last])}  # the one that may have led to the next size
    earlier = [one for one in first.values() if one not in basis.intervals]
    same_size = [one for one in earlier if one.calls == basis.intervals[-1].calls]
    if longest := _longest_looking(same_size, truth) or _longest_looking(earlier, truth):
        yield _looked_longer(longest, truth)
        yield f"If you chose the number of {_plural(truth.noun)} by that block, it led to too few."


def _longest_looking(found: Sequence[Interval], truth: Truth) -> Interval | None:
    longer = [one for one in found if one.added_s > 0 and one.shown_s >= LOOKS_LONGER * truth.undisturbed_s(one)]
    return max(longer, key=lambda one: one.shown_s, default=None)


def _looked_longer(one: Interval, truth: Truth) -> str:
    part = max(one.parts, key=lambda each: each[1])[0]
    return (
        f"An earlier block of {some(one.calls, truth.noun)} lasted {units.seconds(one.shown_s)}, where "
        f"{units.seconds(truth.undisturbed_s(one))} are undisturbed: the rest {_spoken(part, truth)}."
    )


def _seen(found: Sequence[Interval], truth: Truth) -> Iterator[str]:
    """Yield what was seen of the blocks, where the answer does not tell which of them it comes from."""
    least, most = min(one.calls for one in found), max(one.calls for one in found)
    sizes = some(most, truth.noun) if least == most else f"{units.count(least)} to {some(most, truth.noun)}"
    yield f"You timed {units.some(len(found), 'block')} of {sizes}."
    if not truth.device:
        longest_s = max(map(truth.undisturbed_s, found))
        yield f"Undisturbed, the longest lasts {units.number(longest_s / truth.step_s, 2)} steps of this clock."
    for part in Part:
        seconds = [each for one in found for kind, each in one.parts if kind is part]
        if seconds:
            yield f"In {len(seconds)} of them, {units.seconds(abs(sum(seconds)))} {_spoken(part, truth)}."
    if longest := _longest_looking(found, truth):
        yield _looked_longer(longest, truth).replace("An earlier", "One")


def _nothing_timed(seen: Recorder, truth: Truth) -> str:
    """What to say where no call stands between two readings of the clock."""
    called, readings = units.some(seen.calls, "time"), units.some(seen.readings, "time")
    return f"{truth.measured}() was called {called} and the clock read {readings}; no call lies between two readings."


def _plural(noun: str) -> str:
    return "launches" if noun == "launch" else f"{noun}s"
