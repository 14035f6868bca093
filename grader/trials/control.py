"""Control: is this machine fit to judge just now? The baseline against itself, and against itself slowed a little.

It is played right after a duel, on its cores, by the very workers that were the baselines of its pairs: whatever bent
the duel's ratios is likely still there. It fails when it is clear that what was measured is not what was planted, by
the same intervals that decide the duel. Then the duel's verdict is void, and measured again.
"""

import math
import random
from collections.abc import Sequence
from typing import Final

from grader.records import Control
from grader.trials.turns import Side, Supply, net
from harness.decide import BENEFIT, DEFAULT, Rules, estimate
from harness.rounds import Reading

SLOWDOWN: Final = 0.05
"""By so much of its own cost the slowed baseline is slowed: so near to a tier a true ratio should still be judged."""

TOLERANCE: Final = 0.02
"""How far a control may be off, as a log ratio, with nobody's grade in danger: well below `SLOWDOWN`."""

ROUNDS: Final = 5
"""Rounds of each cast that are kept."""

CASTS: Final = 3
"""Times that parts are given out: of three, one that lies badly in memory is outvoted."""


def play(
    sides: Sequence[Side], supply: Supply, baseline_s: float, rng: random.Random, *, by_wall: bool = False
) -> Control:
    """Play the control with warm baselines, each time another of them slowed.

    `baseline_s` is what a call of theirs costs, in seconds of the clock that counts. Where there are fewer than three,
    some play several parts.
    """
    asked = [reading for side in sides for reading in side.asked]
    same: list[list[float]] = []
    slowed: list[list[float]] = []
    for number in range(min(CASTS, len(sides))):
        cast = [sides[(number + part) % len(sides)] for part in range(3)]
        cast[-1].worker.slow(SLOWDOWN * baseline_s)
        _round(cast, supply, asked, rng)  # not kept: a slowed call is new to its worker
        readings = [_round(cast, supply, asked, rng) for _ in range(ROUNDS)]
        cast[-1].worker.slow(0.0)
        costs_s = [[part.call_s(by_wall=by_wall) for part in one] for one in readings]
        same.append([second / first for first, second, _ in costs_s])
        slowed.append([third / first for first, _, third in costs_s])
    return judge(same, slowed)


def judge(same: Sequence[Sequence[float]], slowed: Sequence[Sequence[float]]) -> Control:
    """Say how a control came out: of each cast, the cost of a second and of a slowed baseline over that of a first.

    How restless the machine was, trusted code alone can tell: a submission may be restless by intention.
    """
    rules = Rules(min_pairs=len(same), max_pairs=len(same), cap_s=DEFAULT.slice_s)  # one look, at the end
    one, other = estimate(same, rules), estimate(slowed, rules)
    slack, slow = math.exp(TOLERANCE), 1 + SLOWDOWN
    holds = one.low <= slack and one.high * slack >= 1 and other.low <= slow * slack and other.high * slack >= slow
    doubt = one.high / one.low if one.bounded else BENEFIT
    return Control(one.ratio, other.ratio, SLOWDOWN, holds, benefit=min(BENEFIT, doubt))


def _round(cast: Sequence[Side], supply: Supply, asked: Sequence[Reading], rng: random.Random) -> list[Reading]:
    """One turn of each on the same inputs, in random order: what they cost, in the cast's order."""
    drawn = supply.draw(max(side.inputs for side in cast))
    turns: dict[int, Reading] = {}
    for part in rng.sample(range(len(cast)), len(cast)):
        turns[part] = net(cast[part].turn(drawn), asked)
    return [turns[part] for part in range(len(cast))]
