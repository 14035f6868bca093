"""Are the promises kept? At most 1 % false alarms and at least 95 % power, judged over all worlds together.

One world proves nothing: a rule that keeps both promises is wrong in some worlds, and one that breaks them is right in
most. So misses and false alarms are counted, and a promise counts as broken when that many would come about less than
once in a thousand gradings of a rule that just keeps it.

Counting is enough for the power: 5 % of 72 slowed worlds is a number. 1 % of 60 equal worlds is not, for a rule with
four times as many false alarms would mostly have two or three. So the slowed worlds are asked about false alarms, too
(importance sampling: Siegmund 1976, "Importance sampling in the Monte Carlo study of sequential tests"): a rule alarms
in nearly all of them, and each world knows how much less likely the very pairs that led to the alarm would have been
without a slowdown. A rule that alarms early, on little evidence, has large odds and is found out by a few dozen worlds;
one that waits for odds of a hundred to one has a probability of at most 1 %.

The odds of one unlucky world can be above one, for a rule that looks only at who was slower may alarm after pairs
whose sizes speak against it. Such a world must not decide alone: each is weighed as if it had been drawn from slowed
and equal worlds alike (the balance heuristic: Veach and Guibas 1995, "Optimally combining sampling techniques for Monte
Carlo rendering"), which bounds its weight by that of one false alarm in an equal world and makes the estimate, on
average, no larger than the probability itself.

What this can tell and what it cannot (`tests/grader/tasks/test_06_is_slower.py` counts it): a rule with 5 % false
alarms on early evidence is found out nearly always, one with less than 1 % hardly ever is. In between it is luck. A
rule whose false alarms come late, after pairs that no slowed world would have shown to it, leaves small odds behind and
is found out by counting alone, from about 15 % on. And all of it is said of the noise that is planted here, and of no
other.
"""

import math
from collections.abc import Sequence
from typing import Final

from grader.task import Mismatch, Scenario
from harness import units

from .worlds import PairWorld

FALSE_ALARMS: Final = 0.01
MISSES: Final = 0.05
"""What is promised: at most this share of equal and of slowed worlds is answered wrongly."""

UNLUCKY: Final = 1e-3
"""Probability with which a rule that just keeps a promise is called a liar, for each of the two."""

LEAST_LOG_ODDS: Final = -700.0
"""Smaller odds weigh nothing either, and their inverse is no float: after 2000 pairs they can be exp(-900)."""

MOST_ESTIMATED: Final = 0.0225
"""The estimate from which on a rule has more than 1 % false alarms.

Two bets that just keep both promises came above it in 19 of 16,000 gradings, two that alarm at a capital of 10 (4.9 %
false alarms) in 81 of 100, at 6 (9.6 %) in all but one of 1,000, and the solution in none of 16,000.
"""

MOST_EXPONENT: Final = 700.0
"""math.exp overflows from about 710 on. A rule that asks for all 2000 pairs reaches log odds of -1000."""


def judge(scenarios: Sequence[Scenario]) -> Mismatch | None:
    """Return the promise that was broken over all worlds, misses first; None when both were kept."""
    worlds = [world for world in scenarios if isinstance(world, PairWorld)]
    slowed, equal = ([world for world in worlds if bool(world.effect) == there] for there in (True, False))
    return _misses(slowed) or _false_alarms(equal) or _odds(slowed, len(equal))


def most_by_chance(worlds: int, share: float) -> int:
    """Return the largest number of wrong answers among `worlds` that a rule with this share may have."""
    allowed, beyond = -1, 1.0
    while beyond > UNLUCKY:
        allowed += 1
        beyond -= math.comb(worlds, allowed) * share**allowed * (1 - share) ** (worlds - allowed)
    return allowed


def least_false_alarms(slowed: Sequence[PairWorld], equal: int) -> float:
    """Estimate from slowed worlds what probability of a false alarm a rule has at least.

    `equal` is how many worlds without a slowdown were drawn beside them. An alarm that its pairs make `odds` times as
    likely without a slowdown as with one weighs 1 / (equal + slowed / odds): the odds over the number of slowed worlds,
    as long as they are small.
    """
    alarms = (math.exp(min(world.log_odds, MOST_EXPONENT)) for world in slowed if world.answer)
    return math.fsum(odds / (equal * odds + len(slowed)) for odds in alarms)


def _misses(slowed: Sequence[PairWorld]) -> Mismatch | None:
    missed = [world for world in slowed if not world.answer]
    allowed = most_by_chance(len(slowed), MISSES)
    if len(missed) <= allowed:
        return None
    return Mismatch(
        f"at most {units.percent(MISSES)} of real slowdowns missed: {allowed} of {len(slowed)} by bad luck",
        f"{len(missed)} missed{_mostly(missed)}",
        f"They were answered after {_pairs(missed)} pairs.",
    )


def _false_alarms(equal: Sequence[PairWorld]) -> Mismatch | None:
    false = [world for world in equal if world.answer]
    allowed = most_by_chance(len(equal), FALSE_ALARMS)
    if len(false) <= allowed:
        return None
    return Mismatch(
        f"at most {units.percent(FALSE_ALARMS)} false alarms: {allowed} of {len(equal)} by bad luck",
        f"{len(false)} in worlds without a slowdown{_mostly(false)}",
        f"They came after {_pairs(false)} pairs. {_why(false)}",
    )


def _odds(slowed: Sequence[PairWorld], equal: int) -> Mismatch | None:
    probability = least_false_alarms(slowed, equal)
    if probability <= MOST_ESTIMATED:
        return None
    alarms = [world for world in slowed if world.answer]
    weakest = max(alarms, key=lambda world: world.log_odds)
    odds = math.exp(min(-weakest.log_odds, MOST_EXPONENT))
    return Mismatch(
        f"at most {units.percent(FALSE_ALARMS)} false alarms",
        f"at least about {units.percent(probability)}, from what your alarms rested on",
        f"The weakest came after {weakest.asked} pairs, which a slowdown makes no more than {units.number(odds, 2)} "
        "times as likely as chance does. Ask for more evidence before an alarm.",
    )


def _mostly(worlds: Sequence[PairWorld]) -> str:
    """Name the kind of world that nine in ten of these are of, if there is one."""
    kinds = [world.kind for world in worlds]
    commonest = max(set(kinds), key=kinds.count)
    return (
        f", mostly in worlds with {commonest.partition(':')[0]}" if kinds.count(commonest) >= 0.9 * len(kinds) else ""
    )


def _pairs(worlds: Sequence[PairWorld]) -> str:
    low, high = min(world.asked for world in worlds), max(world.asked for world in worlds)
    return str(low) if low == high else f"{low} to {high}"


def _why(false: Sequence[PairWorld]) -> str:
    if len({world.asked for world in false}) == 1:
        return "What you compare after that many pairs says too often that B is slower."
    return (
        "You stop at different times, so you look more than once, and each look is another chance of a false alarm. "
        "Whatever you look at must keep to 1 % over all looks together."
    )
