"""Bound the chance that wrong code passes, for scenarios that are judged one by one or together.

The task `is_slower` judges them together. Wrong code must pass three tests
(`grader/tasks/lesson_06_ab_testing/judging.py`). Any of them bounds the chance, so the smallest bound is used:

- The misses and the false alarms are counted. The draws give the share of scenarios with such an error, with a lower
  confidence bound. If all chances are equal, few errors are most likely (Hoeffding 1956). So the binomial distribution
  bounds the chance of no more errors than are accepted.
- The estimated share of false alarms is a sum over independent scenarios. A normal distribution with the mean and the
  spread of the draws gives the chance of a share that is small enough.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from decisions import CONFIDENCE, at_most, upper_bound

from grader.task import Scenario, SimulatedExam
from grader.tasks.lesson_06_ab_testing import judging
from grader.tasks.lesson_06_ab_testing.scenarios import PairScenario

DOUBT: Final = (1 - CONFIDENCE) / 2
"""The doubt in each of two confidence bounds that hold together with the confidence `CONFIDENCE`."""


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of a submission in one draw.

    `missed` of the `slowed` scenarios with a slowdown got the answer False, and `false` of the `equal` others the
    answer True. `estimated` is the estimated share of false alarms.
    """

    missed: int
    slowed: int
    false: int
    equal: int
    estimated: float


def errors(exam: SimulatedExam, scenarios: Sequence[Scenario]) -> Errors | None:
    """Return the errors in played scenarios of `is_slower`, or None if the exam is another one."""
    if exam.together is not judging.judge:
        return None
    played = [each for each in scenarios if isinstance(each, PairScenario)]
    slowed, equal = ([each for each in played if bool(each.effect) == there] for there in (True, False))
    return Errors(
        sum(not each.answer for each in slowed),
        len(slowed),
        sum(bool(each.answer) for each in equal),
        len(equal),
        judging.least_false_alarms(slowed, len(equal)),
    )


def chance_to_pass(drawn: Sequence[Errors]) -> float:
    """Return an upper bound of the chance that a submission with these errors passes a further draw."""
    slowed, equal = drawn[0].slowed, drawn[0].equal
    accepted = (judging.most_by_chance(slowed, judging.MISSES), judging.most_by_chance(equal, judging.FALSE_ALARMS))
    return min(
        few_wrong(sum(each.missed for each in drawn), slowed * len(drawn), slowed, accepted[0]),
        few_wrong(sum(each.false for each in drawn), equal * len(drawn), equal, accepted[1]),
        at_least(-judging.MOST_ESTIMATED, [-each.estimated for each in drawn]),
    )


def few_wrong(wrong: int, asked: int, scenarios: int, accepted: int) -> float:
    """Return an upper bound of the chance of at most `accepted` wrong answers in one draw of `scenarios` scenarios.

    `wrong` of the answers in `asked` other scenarios were wrong. The lower bound of their share has half of the doubt.
    """
    least = 1 - upper_bound(asked - wrong, asked, 1 - DOUBT)
    return at_most(accepted, scenarios, least) if scenarios * least - 1 >= accepted else 1.0


def at_least(limit: float, values: Sequence[float]) -> float:
    """Return the chance of `limit` or more, in a normal distribution with the mean and the spread of `values`."""
    needed, spread = limit - statistics.mean(values), statistics.stdev(values)
    return 0.5 * math.erfc(needed / spread / math.sqrt(2)) if spread else float(needed <= 0)
