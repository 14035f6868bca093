"""The task of lesson 06: a sequential test with at most 1 % false alarms and 5 % misses, in few pairs.

A single scenario cannot decide. So the judge counts misses and false alarms over all scenarios. It rejects a count if a
rule with exactly the allowed rate would reach this count in less than one of a thousand gradings.

Counting is enough for misses in 72 scenarios with a slowdown. It is not enough for false alarms in 60 scenarios without
a slowdown: a rule with four times the allowed rate would mostly have only two or three. So the judge also estimates
false alarms from the scenarios with a slowdown, by importance sampling (Siegmund 1976, "Importance sampling in the
Monte Carlo study of sequential tests"). The odds of an alarm are the likelihood of its pairs without a slowdown,
divided by their likelihood with a slowdown. If a rule alarms on weak evidence, the odds of its alarms are large.

The odds of one scenario can exceed 1, and one such scenario must not decide alone. So each scenario is weighted by the
balance heuristic (Veach and Guibas 1995, "Optimally combining sampling techniques for Monte Carlo rendering"). Then no
weight exceeds the weight of one counted false alarm. The mean of the estimate is at most the true probability.

The judge nearly always rejects a rule with 5 % false alarms on early evidence, and hardly ever a rule with less than
1 %. Late false alarms, after pairs that are unlikely with a slowdown, are only found by counting, above about 15 %.
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

MOST_ESTIMATED: Final = 0.0225
"""A rule whose estimated share of false alarms is larger than this fails.

In 16,000 gradings, two bets with exactly the allowed error rates exceeded this share 19 times, and the solution never.
Two bets that alarm at a capital of 10 (4.9 % false alarms) exceeded it in 81 of 100 gradings. Two bets that alarm at a
capital of 6 (9.6 %) exceeded it in 999 of 1,000.
"""

MOST_EXPONENT: Final = 700.0
"""Exponents above this are replaced by it, because math.exp overflows above about 709.

Log odds reach -1000 after 2000 pairs.
"""


def judge(scenarios: Sequence[Scenario]) -> Mismatch | None:
    """Return a `Mismatch` if a submission has too many misses or too many false alarms, else None."""
    played = [scenario for scenario in scenarios if isinstance(scenario, PairScenario)]
    slowed, equal = ([scenario for scenario in played if bool(scenario.effect) == there] for there in (True, False))
    return _misses(slowed) or _false_alarms(equal) or _odds(slowed, len(equal))


def most_by_chance(scenarios: int, share: float) -> int:
    """Return the largest accepted number of wrong answers in `scenarios` scenarios if the share `share` is allowed."""
    allowed, beyond = -1, 1.0
    while beyond > UNLUCKY:
        allowed += 1
        beyond -= math.comb(scenarios, allowed) * share**allowed * (1 - share) ** (scenarios - allowed)
    return allowed


def least_false_alarms(slowed: Sequence[PairScenario], equal: int) -> float:
    """Return a low estimate of the probability of a false alarm, from the alarms in scenarios with a slowdown.

    `equal` is the number of scenarios without a slowdown in the same grading. The odds of an alarm are the likelihood
    of its pairs without a slowdown divided by their likelihood with one. The estimate is the sum of 1 / (equal + slowed
    / odds) over all alarms. For small odds, a term is the odds divided by the number of scenarios with a slowdown.
    """
    alarms = (math.exp(min(scenario.log_odds, MOST_EXPONENT)) for scenario in slowed if scenario.answer)
    return math.fsum(odds / (equal * odds + len(slowed)) for odds in alarms)


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


def _odds(slowed: Sequence[PairScenario], equal: int) -> Mismatch | None:
    probability = least_false_alarms(slowed, equal)
    if probability <= MOST_ESTIMATED:
        return None
    alarms = [scenario for scenario in slowed if scenario.answer]
    weakest = max(alarms, key=lambda scenario: scenario.log_odds)
    odds = math.exp(min(-weakest.log_odds, MOST_EXPONENT))
    return Mismatch(
        f"at most {units.percent(FALSE_ALARMS)} false alarms",
        f"at least about {units.percent(probability)}, from the evidence of your alarms",
        f"You raised the alarm with the weakest evidence after {weakest.pairs} pairs. These pairs are only "
        f"{units.number(odds, 2)} times as likely with a slowdown as without. Measure more pairs before an alarm.",
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
    tiers=(Tier(1.25, 0.6), Tier(2.7, 0.8), Tier(5.0, 1.0)),
    hints=(
        (
            "For each pair, use only the information which of A and B took longer. Without a slowdown, B takes longer "
            "with probability 1/2, for any noise and any drift. How does a slowdown change the probability that B "
            "takes longer?"
        ),
        (
            "Make one bet instead of many tests. Begin with a capital of 1. For each pair, bet half of the capital on "
            "“B is slower”: multiply the capital by 1.5 if B is slower, else by 0.5. If B is slower with probability "
            "1/2, the capital reaches 100 with at most 1 % probability, however often you look. At 100, return True."
        ),
        (
            "Make a second bet, against a slowdown as large as the threshold. With such a slowdown, b < a * (1 + "
            "threshold) has probability 1/2. For each pair, bet half of a second capital on this. When the second "
            "capital reaches 20, return False. You miss a real slowdown in at most 1 of 20 cases. The capital that "
            "first reaches its limit decides."
        ),
    ),
    exam=SimulatedExam(
        draw_scenarios, max_calls=3000, together=judge, tells="Each pair is a measurement, and the task counts pairs."
    ),
    read="lesson 06, “Peeking”",
    idea=(
        "The solution makes two bets. If A and B are equally fast, b > a has probability 1/2. If you bet on b > a, "
        "your capital grows to 100 times its start with at most 1 % probability, however often you look (Ville's "
        "inequality). If B is slower by the threshold, b < a * (1 + threshold) has probability 1/2. If you bet on "
        "this, your capital grows to 20 times its start with at most 5 % probability. The solution uses only the sign "
        "of each difference, so outliers and drift do not matter."
    ),
    references=(
        "Ramdas, Grünwald, Vovk and Shafer 2023, “Game-theoretic statistics and safe anytime-valid inference”. The "
        "docstring of harness/paired/decide.py describes a test that looks at the results only at planned times."
    ),
)
