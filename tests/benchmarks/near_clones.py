"""Fifty near-clones under `attempts = "best"`: how likely does at least one of them get a grade that is too good?

    python tests/benchmarks/near_clones.py --contests 20000                # timed tasks, on planted data
    python tests/benchmarks/near_clones.py --draws 2000 02.time_per_call   # simulated worlds: each clone has other ones

A student hands in the same method again and again, with another comment each time. Each one is another content, so each
is timed anew and meets another draw of the hidden worlds. The best grade counts.

Timed tasks: a grade is too good when the tier is more than `BENEFIT` above the true ratio; up to there, the student has
the benefit of the doubt by intent. The true ratios here lie 2 % and 10 % beyond that. Simulated worlds: a grade is too
good when it is better than the one in a known submission's name. Prints the chance of a family for each, with its upper
bound (one-sided, 95 %, Clopper and Pearson 1934). Exit code 1 when a chance is above `MOST`; where only the bound is
above it, more contests or draws are needed to tell.
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
from harness.decide import BENEFIT

CLONES: Final = 50
MOST: Final = 0.01
"""The chance of a grade that is too good, in a whole family of clones."""

TIERS: Final = (2.0, 4.0)
BEYOND: Final = {"2 % beyond the benefit": 1.02, "10 % beyond the benefit": 1.1}


@dataclass(frozen=True, slots=True)
class Family:
    """How often one clone was graded too well, and what follows for all of them."""

    name: str
    too_good: int
    tries: int

    @property
    def chance(self) -> float:
        """The chance that at least one of the clones gets a grade that is too good."""
        return family_chance(self.too_good / self.tries)

    def line(self) -> str:
        """What was counted, in words."""
        bound = family_chance(upper_bound(self.too_good, self.tries))
        counted = f"{self.too_good} of {self.tries} too good; {CLONES} clones: {100 * self.chance:.2g} %"
        return f"{self.name}: {counted} (at most {100 * bound:.2g} %){'  TOO OFTEN' if self.chance > MOST else ''}"


def family_chance(one: float, clones: int = CLONES) -> float:
    """Return the chance that at least one of independent clones succeeds, each with the probability `one`."""
    return 1 - (1 - one) ** clones


def value(grade: str) -> int:
    """Return the order of grades: wrong, right, tier 0, tier 1 and so on."""
    return -1 if grade == WRONG else 0 if grade == "right" else int(grade.removeprefix("tier "))


def timed(contests: int) -> Iterator[Family]:
    """Play the contests of timed tasks on every machine that keeps the assumptions of `harness.decide`."""
    for machine in (one for one in machines(RULES.layout_sd) if one.promised):
        for name, beyond in BEYOND.items():
            truth = TIERS[1] / BENEFIT / beyond
            played = play(machine, truth, TIERS, RULES, contests, round_s=ROUND_S, seed=68)
            yield Family(f"{machine.name}, {name}", sum(one.given > 1 for one in played), contests)


def simulated(task: Task, draws: int, seconds: float) -> Iterator[Family]:
    """Judge every known submission on many draws of a task's worlds."""
    found, end_s, drawn = Counter[str](), time.monotonic() + seconds, 0
    for drawn in range(1, draws + 1):
        grades = _grades(task.lesson, task.name, drawn)
        found.update({name: value(got) > value(_grade_in_name(task, name)) for name, got in grades.items()})
        if time.monotonic() > end_s:
            break
    yield from (Family(f"{task.full_name}, {name}", found[name], drawn) for name in sorted(found))


def told(families: Sequence[Family]) -> int:
    """Print the families that were ever graded too well; return the exit code."""
    for one in families:
        if one.too_good:
            print(one.line(), flush=True)
    never = [one.tries for one in families if not one.too_good]
    if never:
        bound = 100 * family_chance(upper_bound(0, min(never)))
        print(
            f"{len(never)} of {len(families)} were never graded too well: {CLONES} clones, at most {bound:.2g} % each."
        )
    return int(any(one.chance > MOST for one in families))


def main() -> int:
    """Count, and print what was found."""
    parser = argparse.ArgumentParser(description="The chance that one of fifty near-clones is graded too well.")
    parser.add_argument("targets", nargs="*", metavar="LESSON[.TASK]", help="tasks in simulated worlds")
    parser.add_argument("--contests", type=int, default=0, help="simulated contests of timed tasks, for each setting")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=600.0, help="stop earlier, after so long for a task")
    options = parser.parse_args()
    families = list(timed(options.contests)) if options.contests else []
    for task in (task for target in options.targets for task in _named(target)):
        if not isinstance(task.exam, TensorExam):
            families += simulated(task, options.draws, options.seconds)
    return told(families)


if __name__ == "__main__":
    sys.exit(main())
