"""Estimate the chance that one of fifty almost equal hand-ins gets a grade that is too good with `attempts = "best"`.

    python tests/benchmarks/near_clones.py --contests 20000                # timed tasks, on simulated times
    python tests/benchmarks/near_clones.py --draws 600 02 05.crossover     # tasks with simulated scenarios
    python tests/benchmarks/near_clones.py --draws 64 --only-guesses 02    # only submissions that guess

A student hands in the same method again and again, each time with another comment. Each file has different content, so
it is timed again and gets other hidden scenarios. The best grade counts.

Timed tasks: a grade is too good when the threshold of its tier is more than the factor `BENEFIT` above the true ratio.
A smaller excess is intended: it is the benefit of the doubt. The true ratios here are 2 % and 10 % beyond that limit.
Simulated scenarios: a grade is too good when it is better than the grade in a known submission's name. A grade needs
many scenarios, so a few hundred draws are enough to bound its chance:

- Wrong code passes only if it is wrong in at most a few of n scenarios. The draws give the share of scenarios in which
  it is wrong, with a lower confidence bound p. The scenarios are independent. With
  n * p - 1 wrong answers or fewer, few wrong answers are most likely if all chances are equal (Hoeffding 1956). So the
  binomial distribution bounds the chance.
- Some wrong code is wrong in only a few of the scenarios, but nearly always in these. Where no wrong answer is
  forgiven, the product of the chances of a right answer is a second bound. Each chance is counted by the scenario's
  title, and has its own confidence bound. All bounds of a submission together hold with a confidence of 95 %.
- The task `is_slower` judges all scenarios together (`error_rates.py`).
- A tier depends on the mean of the scenarios' logarithms. A normal distribution with the mean and the spread of the
  draws gives the chance that the mean reaches the next tier.
- Where no bound is below `MOST`, the second bound is computed again after further draws. They ask this submission only
  in the scenarios with the titles in which it was wrong before.
- If this bound is not below `MOST` either, further draws count how often the submission passes. They ask these
  scenarios first, and stop as soon as it fails.

A clone of a known submission may also guess in some scenarios (`guessing_clones`). A normal distribution gives the
chance that its ratio would reach the next tier if all guesses were right. If this chance is large, many choices of the
scenarios in which it guesses are tried.

The benchmark prints the largest chance of each task, for a whole family of clones. Confidence bounds are one-sided, 95
% (Clopper and Pearson 1934). The exit code is 1 if a chance is above `MOST`. If only the bound is above it, run more
contests, draws, or seconds.
"""

import argparse
import gc
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import draws
import guessing_clones
import numpy as np
from decisions import ROUND_S, upper_bound
from error_rates import DOUBT, Errors, at_least, chance_to_pass, errors, few_wrong
from planted import machines, play
from playing import Game, judged, loaded, tier_reached

from grader.task import Mismatch, Scenario, SimulatedExam, Task
from grader.trials.speed import RULES
from harness.paired.decide import BENEFIT

CLONES: Final = 50
MOST: Final = 0.01
"""The highest accepted chance of a grade that is too good, in a whole family of clones."""

FURTHER: Final = 500
"""The number of further draws of a wrong submission that ask only the scenarios in which it was wrong before."""

ENOUGH: Final = 15_000
"""The number of draws without a grade that is too good after which the bound of a family of clones is below `MOST`."""

TIERS: Final = (2.0, 4.0)
BEYOND: Final = {"2 % beyond the benefit": 1.02, "10 % beyond the benefit": 1.1}


@dataclass(frozen=True, slots=True)
class Family:
    """How often a single clone got a grade that is too good, and the resulting chance for all clones of the family.

    `modelled` is an upper bound of the chance of a single clone, if a better one is known than the count gives.
    """

    name: str
    too_good: int
    tries: int
    modelled: float = 1.0

    @property
    def chance(self) -> float:
        """The chance that at least one of the clones gets a grade that is too good."""
        return family_chance(self.too_good / self.tries)

    @property
    def bound(self) -> float:
        """An upper bound of this chance."""
        return family_chance(min(self.modelled, upper_bound(self.too_good, self.tries)))

    def line(self) -> str:
        """The counts and the chance as text."""
        counted = f"{self.too_good} of {self.tries} too good; {CLONES} clones: {100 * self.chance:.2g} %"
        return f"{self.name}: {counted} (at most {100 * self.bound:.2g} %){'  TOO OFTEN' if self.chance > MOST else ''}"


@dataclass(frozen=True, slots=True)
class Draw:
    """The result of a submission in one draw of a task's scenarios.

    `titles` are the titles of all scenarios, and `wrong` those of the scenarios with a wrong answer. `log_gain` is the
    logarithm of the ratio that the tiers are compared with. It is NaN for a task without tiers, and for a
    submission that raised an exception. `errors` are those that the task `is_slower` judges together.
    """

    titles: tuple[str, ...]
    wrong: tuple[str, ...]
    grade: str
    log_gain: float
    errors: Errors | None = None


def family_chance(one: float, clones: int = CLONES) -> float:
    """Return the chance that at least one of several independent clones succeeds, each with the probability `one`."""
    return -math.expm1(clones * math.log1p(-one)) if one < 1 else 1.0


def value(grade: str) -> int:
    """Return the rank of a grade: wrong, right, tier 0, tier 1 and so on."""
    return -1 if grade == draws.WRONG else 0 if grade == "right" else int(grade.removeprefix("tier "))


def timed(contests: int) -> Iterator[Family]:
    """Play the contests of timed tasks on every machine that fits the assumptions of `harness.paired.decide`."""
    for machine in (one for one in machines(RULES.layout_sd) if one.promised):
        for name, beyond in BEYOND.items():
            truth = TIERS[1] / BENEFIT / beyond
            played = play(machine, truth, TIERS, RULES, contests, round_s=ROUND_S, seed=68)
            yield Family(f"{machine.name}, {name}", sum(one.given > 1 for one in played), contests)


def simulated(pool: ProcessPoolExecutor, task: Task, count: int, seconds: float) -> Iterator[Family]:
    """Judge every known submission on many draws of a task's scenarios."""
    drawn = list(draws.results(pool, _judged, task, range(count), seconds))
    for stem in sorted(drawn[0]):
        named = draws.grade_in_name(task, stem)
        if value(named) < max(0, len(task.tiers)):
            found = family(task, stem, named, [each[stem] for each in drawn])
            often = Counter(title for each in drawn for title in each[stem].wrong)
            if named == draws.WRONG and found.bound > MOST:
                further = range(len(drawn), len(drawn) + FURTHER)
                asked = list(draws.results(pool, partial(judged_in, stem, frozenset(often)), task, further, seconds))
                found = family(task, stem, named, [each[stem] for each in drawn], asked)
            if named == draws.WRONG and found.bound > MOST:
                further = range(len(drawn), ENOUGH)
                passed = list(draws.results(pool, partial(passes, stem, often), task, further, seconds))
                found = replace(found, too_good=found.too_good + sum(passed), tries=found.tries + len(passed))
            yield found


def guessing(pool: ProcessPoolExecutor, task: Task, count: int, seconds: float) -> Iterator[Family]:
    """Judge every known submission below the top tier that guesses in some scenarios, on many draws."""
    for name, drawn in guessing_clones.guessed(pool, task, count, seconds, ENOUGH):
        tries = sum(each.tries for each in drawn)
        modelled = _reaches([each.best for each in drawn], task.tiers[drawn[0].tier].ratio)
        yield Family(name, guessing_clones.too_good(drawn), tries, modelled)


def family(task: Task, stem: str, named: str, drawn: Sequence[Draw], further: Sequence[Draw] = ()) -> Family:
    """Return the chance that a clone of a submission gets a better grade than the grade in its name.

    `further` are draws of wrong code in which only some of the scenarios were asked.
    """
    too_good = sum(value(draw.grade) > value(named) for draw in drawn)
    modelled = _wrong_seldom(task, drawn, further) if named == draws.WRONG else _next_tier(task, named, drawn)
    return Family(f"{task.full_name}, {stem}", too_good, len(drawn), modelled)


def _wrong_seldom(task: Task, drawn: Sequence[Draw], further: Sequence[Draw]) -> float:
    """Return an upper bound of the chance that wrong code is wrong in no more scenarios than the exercise forgives."""
    assert isinstance(task.exam, SimulatedExam)
    if judged_together := [draw.errors for draw in drawn if draw.errors]:
        return chance_to_pass(judged_together)
    asked = Counter(title for draw in drawn for title in draw.titles)
    wrong = Counter(title for draw in drawn for title in draw.wrong)
    scenarios = min(len(draw.titles) for draw in drawn)
    alike = few_wrong(wrong.total(), asked.total(), scenarios, task.exam.forgiven)
    if task.exam.forgiven:
        return alike
    asked.update(title for draw in further for title in draw.titles)
    wrong.update(title for draw in further for title in draw.wrong)
    right = {title: upper_bound(asked[title] - wrong[title], asked[title], 1 - DOUBT / len(asked)) for title in asked}
    return min(alike, max(math.prod(right[title] for title in draw.titles) for draw in drawn))


def _next_tier(task: Task, named: str, drawn: Sequence[Draw]) -> float:
    """Return the chance that the ratio of slow code reaches the next tier, in a normal distribution."""
    return _reaches([draw.log_gain for draw in drawn], task.tiers[value(named)].ratio)


def _reaches(log_gains: Sequence[float], ratio: float) -> float:
    if not all(map(math.isfinite, log_gains)) or len(log_gains) < 2:
        return 1.0
    return at_least(math.log(ratio), log_gains)


def _judged(lesson: str, name: str, draw: int) -> dict[str, Draw]:
    gc.collect()
    task, known = draws.known_files(lesson, name)
    return {stem: in_draw(task, source, draw) for stem, source in known.items()}


def judged_in(stem: str, titles: frozenset[str], lesson: str, name: str, draw: int) -> Draw:
    """Judge a submission only in the scenarios with these titles."""
    task, known = draws.known_files(lesson, name)
    assert isinstance(task.exam, SimulatedExam)
    names, scenarios = loaded(known[stem]), task.exam.scenarios(np.random.default_rng(draw))
    asked = [each for each in scenarios if each.title in titles]
    wrong = tuple(each.title for each in asked if _is_wrong(names, each))
    return Draw(tuple(each.title for each in asked), wrong, draws.WRONG, math.nan)


def _is_wrong(names: Mapping[str, Callable[..., object]], scenario: Scenario) -> bool:
    try:
        return bool(judged(names, scenario))
    except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
        return True


def in_draw(task: Task, source: str, draw: int) -> Draw:
    """Run a submission in all scenarios of a draw."""
    assert isinstance(task.exam, SimulatedExam)
    names, scenarios = loaded(source), tuple(task.exam.scenarios(np.random.default_rng(draw)))
    titles, mismatches, failed = tuple(each.title for each in scenarios), list[Mismatch | None](), list[str]()
    for scenario in scenarios:
        try:
            mismatches.append(judged(names, scenario))
        except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
            failed.append(scenario.title)
    if failed:
        return Draw(titles, tuple(failed), draws.WRONG, math.nan)
    wrong = tuple(title for title, mismatch in zip(titles, mismatches, strict=True) if mismatch)
    game = Game(task, scenarios, tuple(mismatches))
    log_gain = math.log(game.gain) if task.tiers and len(wrong) < len(titles) else math.nan
    grade = draws.WRONG if not game.kept else f"tier {tier_reached(game)}" if task.tiers else "right"
    return Draw(titles, wrong, grade, log_gain, errors(task.exam, scenarios))


def passes(stem: str, often: Mapping[str, int], lesson: str, name: str, draw: int) -> bool:
    """Return whether a submission passes one draw.

    `often` counts, by scenario title, how often the submission was wrong in other draws. The scenarios with the
    highest counts come first, so wrong code usually fails at once.
    """
    task, known = draws.known_files(lesson, name)
    assert isinstance(task.exam, SimulatedExam)
    scenarios = sorted(task.exam.scenarios(np.random.default_rng(draw)), key=lambda each: -often.get(each.title, 0))
    names, mismatches = loaded(known[stem]), list[Mismatch | None]()
    for scenario in scenarios:
        try:
            mismatches.append(judged(names, scenario))
        except Exception:  # noqa: BLE001 - whatever it is, it is a way to be wrong
            return False
        if sum(map(bool, mismatches)) > task.exam.forgiven:
            return False
    return Game(task, tuple(scenarios), tuple(mismatches)).kept


def told(families: Sequence[Family]) -> int:
    """Print the families with a grade that is too good, and the largest bound of the others. Return the exit code."""
    for one in families:
        if one.too_good:
            print(one.line(), flush=True)
    never = [one for one in families if not one.too_good]
    if never:
        worst = max(never, key=lambda one: one.bound)
        print(
            f"{len(never)}/{len(families)} families had no grade too good: at most {100 * worst.bound:.2g} % for"
            f" {CLONES} clones ({worst.name}).",
            flush=True,
        )
    return int(any(one.chance > MOST for one in families))


def main() -> int:
    """Count, and print the results."""
    parser = argparse.ArgumentParser(description="The chance that one of fifty near-clones is graded too well.")
    parser.add_argument("targets", nargs="*", metavar="LESSON[.TASK]", help="tasks with simulated scenarios")
    parser.add_argument("--contests", type=int, default=0, help="simulated contests of timed tasks, for each setting")
    parser.add_argument("--draws", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=600.0, help="most seconds per task")
    parser.add_argument("--only-guesses", action="store_true", help="count only submissions that guess")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    options = parser.parse_args()
    exit_code = told(list(timed(options.contests))) if options.contests else 0
    with ProcessPoolExecutor(options.jobs, initializer=draws.begin) as pool:
        for task in (task for target in options.targets for task in draws.tasks_of(target)):
            if isinstance(task.exam, SimulatedExam):
                families = [] if options.only_guesses else [*simulated(pool, task, options.draws, options.seconds)]
                families += guessing(pool, task, options.draws, options.seconds)
                exit_code |= told(families)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
