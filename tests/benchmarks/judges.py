"""Tools that time code in the process that asks them: ours, `timeit`, `torch.utils.benchmark`.

A tool is given both sides and a budget of wall time for timing them, and says how much slower the candidate is. Those
that time one side and then the other get half of the budget for each, in random order. Whoever has no verdict of its
own gets the rule of thumb of `tally`.
"""

import random
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, thread_time

from tally import rule_of_thumb
from workloads import Sides

from harness.duel import duel
from harness.findings import Finding


@dataclass(frozen=True, slots=True)
class Said:
    """One figure of a tool: the slowdown it measured, its verdict, and the wall seconds of samples behind it.

    `figure` tells several figures of one tool apart; it is empty where there is one.
    """

    figure: str
    slowdown: float
    finding: Finding
    timing_s: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What every tool is held to: wall seconds for timing both sides together, and the margin below which is SAME."""

    budget_s: float
    margin: float


Judge = Callable[[Sides, Terms], list[Said]]
"""Judges both sides; one entry for every figure that its users look at."""

REPEATS = 5
_CALIBRATED_S, _TRIES = 0.01, 3
_CHECK_TURN_S = 0.5e-3


def calls_that_fill(statement: str, setup: str, seconds: float) -> int:
    """Return how many calls take about that long, at least 1. Of a few tries the shortest counts."""
    timer = timeit.Timer(statement, setup)
    calls = 1
    while (taken_s := min(timer.repeat(_TRIES, calls))) < _CALIBRATED_S:
        calls *= 2
    return max(1, round(calls * seconds / taken_s))


def ours(sides: Sides, terms: Terms) -> list[Said]:
    """A duel in this process."""
    fought = duel(sides.candidate, sides.baseline, setup=sides.setup, margin=terms.margin, budget_s=terms.budget_s)
    return [Said("", 1 / fought.ratio, fought.verdict, fought.spent_s)]


def twins(sides: Sides, terms: Terms) -> list[Said]:
    """A duel of twin processes."""
    fought = duel(
        sides.candidate, sides.baseline, setup=sides.setup, margin=terms.margin, budget_s=terms.budget_s, twins=True
    )
    return [Said("", 1 / fought.ratio, fought.verdict, fought.spent_s)]


def timeit_min(sides: Sides, terms: Terms) -> list[Said]:
    """`timeit`: the shortest of five repeats a side."""

    def measure(statement: str) -> tuple[float, float]:
        calls = calls_that_fill(statement, sides.setup, terms.budget_s / 2 / REPEATS)
        repeats_s = timeit.repeat(statement, sides.setup, repeat=REPEATS, number=calls)
        return min(repeats_s) / calls, sum(repeats_s)

    return _one_after_the_other(sides, terms, measure)


def torch_blocked(sides: Sides, terms: Terms) -> list[Said]:
    """`Timer.blocked_autorange`: medians, as `Compare` prints them."""
    from torch.utils.benchmark import Timer

    def measure(statement: str) -> tuple[float, float]:
        measured = Timer(statement, sides.setup).blocked_autorange(min_run_time=terms.budget_s / 2)
        return measured.median, sum(measured.raw_times)

    return _one_after_the_other(sides, terms, measure)


def torch_adaptive(sides: Sides, terms: Terms) -> list[Said]:
    """`Timer.adaptive_autorange`: medians; it stops by itself when its samples lie close, often long before."""
    from torch.utils.benchmark import Timer

    def measure(statement: str) -> tuple[float, float]:
        measured = Timer(statement, sides.setup).adaptive_autorange(max_run_time=terms.budget_s / 2)
        return measured.median, sum(measured.raw_times)

    return _one_after_the_other(sides, terms, measure)


def _one_after_the_other(sides: Sides, terms: Terms, measure: Callable[[str], tuple[float, float]]) -> list[Said]:
    """Measure each side by itself: `measure` returns seconds a call, and seconds spent on samples."""
    statements = {"baseline": sides.baseline, "candidate": sides.candidate}
    known = {side: measure(statements[side]) for side in random.sample(list(statements), 2)}
    slowdown = known["candidate"][0] / known["baseline"][0]
    return [Said("", slowdown, rule_of_thumb(slowdown, terms.margin), known["baseline"][1] + known["candidate"][1])]


def paired_check(sides: Sides, terms: Terms) -> list[Said]:
    """What the truth by construction is checked against: A B B A, then B A A B, on the CPU clock, for the whole budget.

    No tool of ours takes part. It is no verdict, so it says UNDECIDED.
    """
    baseline, candidate = (_prepared(code, sides.setup) for code in (sides.baseline, sides.candidate))
    calls = calls_that_fill(sides.baseline, sides.setup, _CHECK_TURN_S)
    slowdowns: list[float] = []
    begun_s = perf_counter()
    while (spent_s := perf_counter() - begun_s) < terms.budget_s:
        # Whoever is first after this loop's own work finds colder caches, so that is the candidate as often.
        inner, outer = (baseline, candidate) if len(slowdowns) % 2 else (candidate, baseline)
        first, second, third, fourth = (side.timeit(calls) for side in (outer, inner, inner, outer))
        slowdown = (second + third) / (first + fourth)
        slowdowns.append(slowdown if inner is candidate else 1 / slowdown)
    return [Said("", median(slowdowns), Finding.UNDECIDED, spent_s)]


def _prepared(statement: str, setup: str) -> timeit.Timer:
    """Return a timer on the CPU clock after a setup of its own, as every tool makes one for each side."""
    names: dict[str, object] = {}
    exec(setup, names)  # noqa: S102 - our own text, as timeit does
    return timeit.Timer(statement, timer=thread_time, globals=names)
