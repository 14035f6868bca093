"""Detect noise that makes a comparison of two functions' run times unreliable.

A control compares the baseline with itself, and with a copy that is slowed by a known amount. It runs right after the
timing of a submission, in the same processes, so noise that disturbed the timing probably disturbs the control too. If
a measured ratio is certainly wrong, the timing is repeated. A submission cannot cause this: only trusted code runs.
"""

import math
import random
from collections.abc import Sequence
from typing import Final

from grader.records import Control
from grader.trials.turns import Side, Supply
from harness.paired.decide import BENEFIT, DEFAULT, Rules, estimate
from harness.paired.rounds import Reading

SLOWDOWN: Final = 0.05
"""The extra cost of the slowed function, as a share of its usual cost. A timing should detect this difference."""

TOLERANCE: Final = 0.02
"""The largest harmless error of a ratio, as a natural logarithm. It is well below `SLOWDOWN`."""

LONG_CALL_S: Final = 0.002
"""If a call takes at least this many seconds, a control makes no warm-up calls. Those of 2.5 ms were as exact."""

ROUNDS: Final = 5
"""The number of measured rounds per assignment of roles to processes."""

CASTS: Final = 3
"""The number of assignments of roles to processes. If one has an unlucky memory layout, the median is still correct."""


def play(
    sides: Sequence[Side], supply: Supply, baseline_s: float, rng: random.Random, *, by_wall: bool = False
) -> Control:
    """Run a control in the processes that ran the baseline function, and return its result.

    The three roles are first, second and slowed baseline. In each assignment of roles, a different process is slowed.
    With fewer than three processes, a process has several roles. `baseline_s` is the baseline's cost per call: CPU
    seconds, or wall seconds if `by_wall`.
    """
    warm_up = baseline_s < LONG_CALL_S
    same, slowed = list[list[float]](), list[list[float]]()
    for number in range(min(CASTS, len(sides))):
        cast = [sides[(number + part) % len(sides)] for part in range(3)]
        cast[-1].worker.slow(SLOWDOWN * baseline_s)
        if warm_up:
            cast[-1].turn(supply.draw(cast[-1].inputs()))  # discarded: the worker has not made a slowed call before
        readings = [_round(cast, supply, rng, warm_up=warm_up) for _ in range(ROUNDS)]
        cast[-1].worker.slow(0.0)
        costs_s = [[part.call_s(by_wall=by_wall) for part in one] for one in readings]
        same.append([second / first for first, second, _ in costs_s])
        slowed.append([third / first for first, _, third in costs_s])
    return judge(same, slowed)


def judge(same: Sequence[Sequence[float]], slowed: Sequence[Sequence[float]]) -> Control:
    """Return the result of a control. `same` and `slowed` have a list of ratios for each assignment of roles.

    A ratio in `same` is the cost of the second baseline divided by that of the first, and in `slowed` the cost of the
    slowed baseline divided by that of the first.
    """
    rules = Rules(min_pairs=len(same), max_pairs=len(same), cap_s=DEFAULT.slice_s)  # one look at the data, at the end
    one, other = estimate(same, rules), estimate(slowed, rules)
    slack, slow = math.exp(TOLERANCE), 1 + SLOWDOWN
    holds = one.low <= slack and one.high * slack >= 1 and other.low <= slow * slack and other.high * slack >= slow
    doubt = one.high / one.low if one.bounded else BENEFIT
    return Control(one.ratio, other.ratio, SLOWDOWN, holds, benefit=min(BENEFIT, doubt))


def _round(cast: Sequence[Side], supply: Supply, rng: random.Random, *, warm_up: bool) -> list[Reading]:
    drawn = supply.draw(max(side.inputs(warm_up=warm_up) for side in cast))
    order = rng.sample(range(len(cast)), len(cast))
    turns = {part: cast[part].turn(drawn, warm_up=warm_up) for part in order}
    return [turns[part] for part in range(len(cast))]
