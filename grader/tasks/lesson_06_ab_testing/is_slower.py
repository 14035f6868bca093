"""The task of lesson 06: a sequential test with at most 1 % false alarms and 5 % misses, in few pairs.

A single scenario cannot decide. So the judge counts misses and false alarms over all scenarios. It rejects a count if a
rule with exactly the allowed rate would reach this count in less than one of a thousand gradings.

Counting alone is not enough. In 60 scenarios without a slowdown, a rule with four times the allowed rate would mostly
have only two or three false alarms. So the judge also estimates each error rate from the right answers, by importance
sampling (Siegmund 1976, "Importance sampling in the Monte Carlo study of sequential tests"). The odds of an alarm are
the likelihood of its pairs without a slowdown, divided by their likelihood with a slowdown. If a rule alarms on weak
evidence, the odds of its alarms are large. The odds of a False are the opposite, and estimate the misses.

The odds of one scenario can exceed 1, and one such scenario must not decide alone. So each scenario is weighted by the
balance heuristic (Veach and Guibas 1995, "Optimally combining sampling techniques for Monte Carlo rendering"). Then no
weight exceeds the weight of one counted error. The mean of the estimate is at most the true probability.
"""

import math
from collections.abc import Sequence
from typing import Final

from grader.kinds.simulated import CALLS
from grader.task import Mismatch, Scenario, SimulatedExam, Task, Tier
from harness.rendering import units

from .scenarios import PairScenario, draw_scenarios

FALSE_ALARMS: Final = 0.01
MISSES: Final = 0.05
"""The largest allowed share of scenarios with a slowdown in which the submission does not find the slowdown."""

UNLUCKY: Final = 1e-3
"""The largest probability that a rule with exactly the allowed rate fails. It holds for each of the two error rates."""

MOST_ESTIMATED_ALARMS, MOST_ESTIMATED_MISSES = 0.0225, 0.05
"""A rule whose estimated share of false alarms or of misses is larger than this fails.

`tests/benchmarks/README.md` shows how often rules with and without the allowed error rates pass.
"""

MOST_EXPONENT: Final = 700.0
"""Exponents above this are replaced by it, because math.exp overflows above about 709.

Log odds reach -1000 after 2000 pairs.
"""


def judge(scenarios: Sequence[Scenario]) -> Mismatch | None:
    """Return a `Mismatch` if a submission has too many misses or too many false alarms, else None."""
    played = [scenario for scenario in scenarios if isinstance(scenario, PairScenario)]
    slowed, equal = ([scenario for scenario in played if bool(scenario.effect) == there] for there in (True, False))
    counted = _misses(slowed) or _false_alarms(equal)
    return counted or _weak_evidence(slowed, len(equal)) or _weak_evidence(equal, len(slowed))


def most_by_chance(scenarios: int, share: float) -> int:
    """Return the largest accepted number of wrong answers in `scenarios` scenarios if the share `share` is allowed."""
    allowed, beyond = -1, 1.0
    while beyond > UNLUCKY:
        allowed += 1
        beyond -= math.comb(scenarios, allowed) * share**allowed * (1 - share) ** (scenarios - allowed)
    return allowed


def _misses(slowed: Sequence[PairScenario]) -> Mismatch | None:
    missed = [scenario for scenario in slowed if not scenario.answer]
    allowed = most_by_chance(len(slowed), MISSES)
    if len(missed) <= allowed:
        return None
    return Mismatch(
        f"at most {units.percent(MISSES)} of real slowdowns missed, so at most {allowed} of {len(slowed)} by bad luck",
        f"{len(missed)} missed{_mostly(missed)}",
        f"You returned False in these scenarios after {_pairs(missed)} pairs.",
    )


def _false_alarms(equal: Sequence[PairScenario]) -> Mismatch | None:
    false = [scenario for scenario in equal if scenario.answer]
    allowed = most_by_chance(len(equal), FALSE_ALARMS)
    if len(false) <= allowed:
        return None
    return Mismatch(
        f"at most {units.percent(FALSE_ALARMS)} false alarms, so at most {allowed} of {len(equal)} by bad luck",
        f"{len(false)} in scenarios without a slowdown{_mostly(false)}",
        f"You raised these alarms after {_pairs(false)} pairs. {_why(false)}",
    )


def _weak_evidence(scenarios: Sequence[PairScenario], others: int) -> Mismatch | None:
    """Return a `Mismatch` if the right answers in scenarios of one kind rest on too little evidence, else None.

    `others` is the number of scenarios of the other kind, in which this answer is wrong. The low estimate of the
    probability of an error is the sum of 1 / (others + scenarios / odds) over the right answers. For small odds, a term
    is the odds divided by the number of scenarios.
    """
    right = bool(scenarios[0].effect)
    answers = [(one.log_odds if right else -one.log_odds, one.pairs) for one in scenarios if one.answer is right]
    all_odds = [math.exp(min(log_odds, MOST_EXPONENT)) for log_odds, _ in answers]
    probability = math.fsum(odds / (others * odds + len(scenarios)) for odds in all_odds)
    if probability <= (MOST_ESTIMATED_ALARMS if right else MOST_ESTIMATED_MISSES):
        return None
    log_odds, pairs = max(answers)
    times = units.number(math.exp(min(-log_odds, MOST_EXPONENT)), 2)
    return Mismatch(
        f"at most {units.percent(FALSE_ALARMS)} false alarms" if right else f"at most {units.percent(MISSES)} misses",
        f"at least about {units.percent(probability)}, from the evidence of your answers",
        f"You returned {right} with the weakest evidence after {pairs} pairs. These pairs are only {times} times as "
        f"likely {'with a slowdown as without' if right else 'without a slowdown as with one'}. Measure more pairs "
        f"before you return {right}.",
    )


def _mostly(scenarios: Sequence[PairScenario]) -> str:
    kinds = [scenario.title for scenario in scenarios]
    commonest = max(set(kinds), key=kinds.count)
    return (
        f", mostly in scenarios with {commonest.partition(':')[0]}"
        if kinds.count(commonest) >= 0.9 * len(kinds)
        else ""
    )


def _pairs(scenarios: Sequence[PairScenario]) -> str:
    low, high = min(scenario.pairs for scenario in scenarios), max(scenario.pairs for scenario in scenarios)
    return str(low) if low == high else f"{low} to {high}"


def _why(false: Sequence[PairScenario]) -> str:
    if len({scenario.pairs for scenario in false}) == 1:
        return "Your comparison after this number of pairs returns True too often."
    return (
        "You stop after different numbers of pairs, so you look more than once, and each look is another chance of a "
        "false alarm. All looks together may have at most 1 % false alarms."
    )


IS_SLOWER = Task(
    summary="write a sequential A/B test: 1 % false alarms, 95 % power, few pairs",
    cost=CALLS,
    tiers=(Tier(1.25, 0.6), Tier(2.5, 0.8), Tier(7.5, 1.0)),
    hints=(
        (
            "For each pair, use only the information which of A and B took longer. Without a slowdown, B takes longer "
            "with probability 1/2, for any noise and any drift. How does a slowdown change the probability that B "
            "takes longer?"
        ),
        (
            "Make one bet instead of many tests. Begin with a capital of 1. For each pair, bet half of the capital on "
            "“B is slower”: multiply the capital by 1.5 if B is slower, else by 0.5. If B is slower with probability "
            "1/2, the capital reaches 100 with at most 1 % probability, however often you look. At 100, return True. "
            "With much noise, half is too much. So make several bets with stakes from 0.1 to 0.8, and use the mean "
            "capital."
        ),
        (
            "Make the same bets against a slowdown as large as the threshold. With such a slowdown, b < a * (1 + "
            "threshold) has probability 1/2. When the mean of these capitals reaches 20, return False. You miss a real "
            "slowdown in at most 1 of 20 cases. The mean that first reaches its limit decides."
        ),
    ),
    exam=SimulatedExam(
        draw_scenarios, max_calls=3000, together=judge, tells="Each pair is a measurement, and the task counts pairs."
    ),
    read="lesson 06, “Peeking”",
    idea=(
        "The solution makes two kinds of bets. If A and B are equally fast, b > a has probability 1/2. If you bet on "
        "b > a, your capital grows to 100 times its start with at most 1 % probability, however often you look "
        "(Ville's inequality). If B is slower by the threshold, b < a * (1 + threshold) has probability 1/2. If you "
        "bet on this, your capital grows to 20 times its start with at most 5 % probability. Both are also true for "
        "the mean capital of bets with different stakes. Large stakes decide early if there is little noise, and small "
        "stakes decide at all if there is much. The solution uses only the sign of each difference, so outliers and "
        "drift do not matter."
    ),
    references=(
        "Ramdas, Grünwald, Vovk and Shafer 2023, “Game-theoretic statistics and safe anytime-valid inference”. The "
        "docstring of harness/paired/decide.py describes a test that looks at the results only at planned times."
    ),
)
