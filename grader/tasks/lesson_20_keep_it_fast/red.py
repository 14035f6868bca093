"""Task (a) of lesson 20: choose the slower benchmarks of a run, so that the whole run keeps one error rate.

The rule is that of closed testing with Bonferroni's tests of groups, stated for groups of benchmarks. Holm's method
gives the same answer without trying groups. The baseline, with which submissions are compared, tries for each benchmark
and each size the worst group.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.kinds.timing import TIME
from grader.task import Mismatch, SimulatedFunction, Task, Tier, ValueExam
from grader.tasks.plain import FUNCTION_NAMES, PlainScenario, invented, shown
from grader.tasks.simulated import shuffled
from grader.values import Value
from harness.rendering import units

TIMED_BENCHMARKS: Final = (100, 157)
"""The least number of benchmarks of a run that is timed, and 1 more than the most. There are 156 different names."""

GROUPS: Final = "Each group counts that contains the benchmark, also a group of all benchmarks."
ALSO_LATER: Final = "A benchmark that may be called slower need not be counted in the groups of the others."
STOP: Final = "If a benchmark may not be called slower, no benchmark with a larger p-value may be."
EQUAL: Final = "A p-value that is equal to the limit is small enough."
TIES: Final = "Order equal p-values by name."


@dataclass
class RunScenario(PlainScenario):
    """A run with the p-values of its benchmarks. The student reads `advice` if the answer is wrong."""

    title: str
    advice: str
    p_values: dict[str, float]
    run_error: float
    function = "red"
    order = "by p-value, equal ones by name"

    @property
    def arguments(self) -> tuple[Value | SimulatedFunction, ...]:
        """The arguments of `red`: the p-value of each benchmark, and the error rate."""
        return (dict(self.p_values), self.run_error)

    @property
    def right(self) -> Value:
        """The right answer, computed for each benchmark and each size from the worst group."""
        ordered = sorted(self.p_values, key=lambda name: (self.p_values[name], name))
        return [name for name in ordered if self._is_slower(name)]

    def _is_slower(self, name: str) -> bool:
        """Return whether each group with this benchmark has a p-value that is small enough.

        Of all groups of one size, the group with the largest other p-values is the worst one.
        """
        others = sorted((p for other, p in self.p_values.items() if other != name), reverse=True)
        smallest = [self.p_values[name], *(min(p, self.p_values[name]) for p in others)]
        return all(p <= self.run_error / size for size, p in enumerate(smallest, start=1))

    def judge(self, answer: Value) -> Mismatch | None:
        """Return None if the answer is the right list of names, else a `Mismatch`."""
        right = self.right
        assert isinstance(right, list)
        if answer == right:
            return None
        if not isinstance(answer, list):
            return Mismatch("a list of names", shown(answer), self.advice)
        missing, extra = [n for n in right if n not in answer], [n for n in answer if n not in right]
        got = f"{units.count(len(missing))} missing, {units.count(len(extra))} too many"
        return Mismatch(f"{units.some(len(right), 'name')}", f"{shown(answer)}: {got}", self.advice)


def draw_cases(rng: np.random.Generator) -> tuple[RunScenario, ...]:
    """Return the cases in random order: small runs for special cases, and larger random ones."""
    e = float(rng.choice([2**-5, 2**-6, 2**-7]))
    far = [float(p) for p in rng.uniform(0.2, 1.0, 12)]
    below, above = (float(rng.uniform(*ends)) for ends in ((0.6, 0.9), (1.1, 1.4)))
    return shuffled(
        rng,
        (
            RunScenario("a run without benchmarks", "For no benchmarks, return an empty list.", {}, e),
            _run(rng, "one benchmark, slower", GROUPS, [e * below], e),
            _run(rng, "one benchmark, not slower", GROUPS, [e * above], e),
            _run(rng, "a p-value of 0", GROUPS, [0.0, *far[:3]], e),
            _run(rng, "one small p-value of eight", GROUPS, [e / 8 * above, *far[:7]], e),
            _run(rng, "one very small p-value of eight", GROUPS, [e / 8 * below, *far[:7]], e),
            _run(rng, "two slower benchmarks of five", ALSO_LATER, [e / 5 * below, e / 4 * 0.95, *far[:3]], e),
            _run(rng, "every benchmark is slower", ALSO_LATER, [e / k * below for k in (1, 2, 3, 4)], e),
            _run(rng, "all p-values are equal, and small", TIES, [e / 4 * below] * 4, e),
            _run(rng, "all p-values are equal, and too large", GROUPS, [e / 4 * above] * 4, e),
            _run(rng, "equal p-values below a smaller one", TIES, [e / 6 * below, *[e / 5 * 0.97] * 2, *far[:3]], e),
            _run(rng, "only a later p-value is small enough", STOP, [e / 4 * above, e / 2.9, e / 2.1, e * below], e),
            _run(rng, "p-values equal to the limit", EQUAL, [e / 4, far[0], far[1], far[2]], e),
            _run(rng, "the second p-value equal to the limit", EQUAL, [e / 8, e / 4, e / 2 * above, far[1], far[2]], e),
            _run(rng, "equal code: all p-values are large", GROUPS, far, e),
            *(_random(rng, 40, int(slower)) for slower in rng.integers(3, 30, 6)),
        ),
    )


def draw_timed(rng: np.random.Generator) -> tuple[RunScenario, ...]:
    """Return a random run that is timed."""
    return (_random(rng, int(rng.integers(*TIMED_BENCHMARKS)), int(rng.integers(20, 40))),)


def _run(rng: np.random.Generator, title: str, advice: str, p_values: Iterable[float], run_error: float) -> RunScenario:
    """Return a run with these p-values, in random order, and with random names."""
    drawn = shuffled(rng, list(p_values))
    names = invented(rng, len(drawn), *FUNCTION_NAMES)
    return RunScenario(title, advice, dict(zip(names, drawn, strict=True)), run_error)


def _random(rng: np.random.Generator, number: int, slower: int) -> RunScenario:
    """Return a run of which about `slower` benchmarks may be called slower, and some more have small p-values.

    No p-value is near its limit.
    """
    run_error = float(rng.uniform(0.001, 0.05))
    limits = run_error / np.arange(number, 0, -1)
    small = np.sort(limits[:slower] * rng.uniform(0.3, 0.95, slower))
    next_ones = np.sort(run_error * rng.uniform(0.3, 0.99, (number - slower) // 4))
    next_ones = np.maximum(next_ones, limits[slower] * 1.05)
    rest = rng.uniform(0.06, 1.0, number - slower - len(next_ones))
    p_values = np.concatenate([small, next_ones, rest]).tolist()
    return _run(rng, f"{number} benchmarks", f"{ALSO_LATER} {STOP}", p_values, run_error)


RED = Task(
    summary="choose the slower benchmarks of a run, with one error rate for the whole run",
    cost=TIME,
    tiers=(Tier(8.0, 0.7), Tier(40.0, 1.0)),
    hints=(
        "Among all groups of two that contain a benchmark, which one is the hardest to pass? And among groups of n?",
        (
            "The hardest group of a benchmark consists of the benchmark and of all others whose p-value is at least as "
            "large. A larger group contains a smaller p-value, which must be small enough as well. So begin with the "
            "smallest p-value."
        ),
        (
            "Sort the p-values. The smallest of n is compared with run_error / n, the next one with run_error / (n - "
            "1), and so on. Stop at the first that is too large: it belongs to each larger p-value's group. Most "
            "p-values are above run_error, so leave them out before you sort."
        ),
    ),
    exam=ValueExam(draw_cases, draw_timed),
    read="lesson 20, “The error rate of a whole run”",
    idea=(
        "If no benchmark is slower, the smallest of n p-values is below run_error / n with a probability of at most "
        "run_error. So the run is red by mistake at most that often. A benchmark that was called slower rightly cannot "
        "be a mistake, so the next one needs only run_error / (n - 1). This is Holm's method. It finds more than a "
        "limit of run_error / n for all, and its error rate is the same."
    ),
    references=(
        "Holm 1979, “A Simple Sequentially Rejective Multiple Test Procedure”. Marcus, Peritz and Gabriel 1976, “On "
        "closed testing procedures with special reference to ordered analysis of variance”, is the rule of the groups."
    ),
)
