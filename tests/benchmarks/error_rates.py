"""Bound the chance that wrong code passes the task `is_slower`, which judges the scenarios of a grading together.

Wrong code must pass three tests (`grader/tasks/lesson_06_ab_testing/judging.py`). Any of them bounds the chance, so the
smallest of the three bounds is used:

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

from decisions import CONFIDENCE, at_most, upper_bound

from grader.task import Scenario, SimulatedExam
from grader.tasks.lesson_06_ab_testing import judging
from grader.tasks.lesson_06_ab_testing.scenarios import PairScenario


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
    estimates = [each.estimated for each in drawn]
    spread = statistics.stdev(estimates)
    above = statistics.mean(estimates) - judging.MOST_ESTIMATED
    return min(
        _few(sum(each.missed for each in drawn), slowed, len(drawn), judging.MISSES),
        _few(sum(each.false for each in drawn), equal, len(drawn), judging.FALSE_ALARMS),
        0.5 * math.erfc(above / spread / math.sqrt(2)) if spread else float(above <= 0),
    )


def _few(wrong: int, scenarios: int, draws: int, allowed: float) -> float:
    """Return an upper bound of the chance of an accepted number of errors in `scenarios` scenarios."""
    asked = scenarios * draws
    least = 1 - upper_bound(asked - wrong, asked, 1 - (1 - CONFIDENCE) / 2)
    accepted = judging.most_by_chance(scenarios, allowed)
    return at_most(accepted, scenarios, least) if scenarios * least - 1 >= accepted else 1.0
