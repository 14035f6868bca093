"""Control: is this machine fit to judge just now? The baseline against itself, and against itself slowed a little.

It is played right after a duel, on its core, by the very workers that were the baselines of its pairs: whatever bent
the duel's ratios is likely still there. When it fails, the duel's verdict is void and measured again.
"""

import math
import random
from collections.abc import Sequence
from statistics import median
from typing import Final

from grader.records import Control
from grader.turns import Side, Supply, net
from harness.rounds import Reading

SLOWDOWN: Final = 0.05
"""By so much of its own cost the slowed baseline is slowed: so near to a tier a true ratio should still be judged."""

TOLERANCE: Final = 0.04
"""A control off by more than this, as a log ratio, voids the verdict: less than `SLOWDOWN`, which it must tell."""

ROUNDS: Final = 4
"""Rounds of each cast; there are as many casts as sides."""


def holds(control: Control) -> bool:
    """Whether both came out as they should."""
    errors = math.log(control.same), math.log(control.slowed / (1 + control.planted))
    return max(map(abs, errors)) <= TOLERANCE


def play(
    sides: Sequence[Side], supply: Supply, baseline_s: float, rng: random.Random, *, by_wall: bool = False
) -> Control:
    """Play the control with warm baselines, of which each is the slowed one once.

    `baseline_s` is what a call of theirs costs, in seconds of the clock that counts. Three make a control that one
    badly placed worker does not void; of fewer, some play several parts.
    """
    asked = [reading for side in sides for reading in side.asked]
    same: list[float] = []
    slowed: list[float] = []
    for number in range(len(sides)):
        cast = [sides[(number + part) % len(sides)] for part in range(3)]
        readings = [_round(cast, supply, SLOWDOWN * baseline_s, asked, rng) for _ in range(ROUNDS)]
        costs_s = [[part.wall_s if by_wall else part.cpu_s for part in round_] for round_ in readings]
        same.append(median(second / first for first, second, _ in costs_s))
        slowed.append(median(third / first for first, _, third in costs_s))
    return Control(median(same), median(slowed), SLOWDOWN)


def _round(
    cast: Sequence[Side], supply: Supply, extra_s: float, asked: Sequence[Reading], rng: random.Random
) -> list[Reading]:
    """One turn of each on the same inputs, in random order, the last of the cast slowed: what they cost, in order."""
    drawn = supply.draw(1 + max(side.calls for side in cast))
    turns: dict[int, Reading] = {}
    for part in rng.sample(range(len(cast)), len(cast)):
        side = cast[part]
        side.worker.slow(extra_s if part == len(cast) - 1 else 0.0)
        turns[part] = net(side.turn(drawn), asked)
    return [turns[part] for part in range(len(cast))]
