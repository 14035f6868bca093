"""Estimate the chance that one of fifty almost equal hand-ins gets a grade that is too good with `attempts = "best"`.

    python tests/benchmarks/near_clones.py --contests 20000                # timed tasks, on simulated times
    python tests/benchmarks/near_clones.py --draws 2000 02.time_per_call   # tasks with simulated scenarios

A student hands in the same method again and again, each time with another comment. Each file has different content, so
it is timed again and gets other hidden scenarios. The best grade counts.

Timed tasks: a grade is too good when the threshold of its tier is more than the factor `BENEFIT` above the true ratio.
A smaller excess is intended: it is the benefit of the doubt. The true ratios here are 2 % and 10 % beyond that limit.
Simulated scenarios: a grade is too good when it is better than the grade in a known submission's name. The benchmark
prints the chance for each family of hand-ins, with its upper bound (one-sided, 95 %, Clopper and Pearson 1934). The
exit code is 1 if a chance is above `MOST`. If only the bound is above it, run more contests or draws.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from decisions import ROUND_S, upper_bound
from draws import WRONG, _grade_in_name, _grades, _named
from planted import machines, play

from grader.task import Task, TensorExam
from grader.trials.speed import RULES
from harness.paired.decide import BENEFIT

CLONES: Final = 50
MOST: Final = 0.01
"""The highest accepted chance of a grade that is too good, in a whole family of clones."""

TIERS: Final = (2.0, 4.0)
BEYOND: Final = {"2 % beyond the benefit": 1.02, "10 % beyond the benefit": 1.1}


@dataclass(frozen=True, slots=True)
class Family:
    """How often a single clone got a grade that is too good, and the resulting chance for all clones of the family."""

    name: str
    too_good: int
    tries: int

    @property
    def chance(self) -> float:
        """The chance that at least one of the clones gets a grade that is too good."""
        return family_chance(self.too_good / self.tries)

    def line(self) -> str:
        """The counts and the chance as text."""
        bound = family_chance(upper_bound(self.too_good, self.tries))
        counted = f"{self.too_good} of {self.tries} too good; {CLONES} clones: {100 * self.chance:.2g} %"
        return f"{self.name}: {counted} (at most {100 * bound:.2g} %){'  TOO OFTEN' if self.chance > MOST else ''}"


def family_chance(one: float, clones: int = CLONES) -> float:
    """Return the chance that at least one of several independent clones succeeds, each with the probability `one`."""
    return 1 - (1 - one) ** clones


def value(grade: str) -> int:
    """Return the rank of a grade: wrong, right, tier 0, tier 1 and so on."""
    return -1 if grade == WRONG else 0 if grade == "right" else int(grade.removeprefix("tier "))


def timed(contests: int) -> Iterator[Family]:
    """Play the contests of timed tasks on every machine that fits the assumptions of `harness.paired.decide`."""
    for machine in (one for one in machines(RULES.layout_sd) if one.promised):
        for name, beyond in BEYOND.items():
            truth = TIERS[1] / BENEFIT / beyond
            played = play(machine, truth, TIERS, RULES, contests, round_s=ROUND_S, seed=68)
            yield Family(f"{machine.name}, {name}", sum(one.given > 1 for one in played), contests)


def simulated(task: Task, draws: int, seconds: float) -> Iterator[Family]:
    """Judge every known submission on many draws of a task's scenarios."""
    found, end_s, drawn = Counter[str](), time.monotonic() + seconds, 0
    for drawn in range(1, draws + 1):
        grades = _grades(task.lesson, task.name, drawn)
        found.update({name: value(got) > value(_grade_in_name(task, name)) for name, got in grades.items()})
        if time.monotonic() > end_s:
            break
    yield from (Family(f"{task.full_name}, {name}", found[name], drawn) for name in sorted(found))


def told(families: Sequence[Family]) -> int:
    """Print the families with a grade that is too good, and return the exit code."""
    for one in families:
        if one.too_good:
            print(one.line(), flush=True)
    never = [one.tries for one in families if not one.too_good]
    if never:
        bound = 100 * family_chance(upper_bound(0, min(never)))
        print(
            f"{len(never)}/{len(families)} families had no grade too good: at most {bound:.2g} % for {CLONES} clones."
        )
    return int(any(one.chance > MOST for one in families))


def main() -> int:
    """Count, and print the results."""
    parser = argparse.ArgumentParser(description="The chance that one of fifty near-clones is graded too well.")
    parser.add_argument("targets", nargs="*", metavar="LESSON[.TASK]", help="tasks with simulated scenarios")
    parser.add_argument("--contests", type=int, default=0, help="simulated contests of timed tasks, for each setting")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=600.0, help="most seconds per task")
    options = parser.parse_args()
    families = list(timed(options.contests)) if options.contests else []
    for task in (task for target in options.targets for task in _named(target)):
        if not isinstance(task.exam, TensorExam):
            families += simulated(task, options.draws, options.seconds)
    return told(families)


if __name__ == "__main__":
    sys.exit(main())
