"""Compare two pieces of code with tools that time them in this process: fairclock, `timeit`, `torch.utils.benchmark`.

A tool gets a baseline, a candidate and a limit of wall time for timing both. It returns the candidate's time divided by
the baseline's. Tools that time one after the other get half of the limit for each, in random order. For tools that give
no verdict, `tally` applies a rule of thumb.
"""

import random
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, thread_time

from tally import rule_of_thumb
from workloads import Sides

from harness.paired.duel import duel
from harness.paired.duel_result import Finding


@dataclass(frozen=True, slots=True)
class Said:
    """One result of a tool: the measured slowdown, the verdict, and the wall seconds of its samples.

    `figure` distinguishes several results of one tool; it is empty for a single result.
    """

    figure: str
    slowdown: float
    finding: Finding
    timing_s: float


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions for every tool: wall seconds for timing both sides, and the largest slowdown called SAME."""

    budget_s: float
    margin: float


Judge = Callable[[Sides, Terms], list[Said]]
"""A function that judges both sides. It returns an entry for every figure that the tool prints for users."""

REPEATS = 5
_CALIBRATED_S, _TRIES = 0.01, 3
_CHECK_TURN_S = 0.5e-3


def calls_that_fill(statement: str, setup: str, seconds: float) -> int:
    """Return the number of calls that take about `seconds`, at least 1. It uses the shortest of a few trial calls."""
    timer = timeit.Timer(statement, setup)
    calls = 1
    while (taken_s := min(timer.repeat(_TRIES, calls))) < _CALIBRATED_S:
        calls *= 2
    return max(1, round(calls * seconds / taken_s))


def fairclock(sides: Sides, terms: Terms, *, paired_processes: bool = False) -> list[Said]:
    """Judge with fairclock's duel, in this process or with paired processes."""
    fought = duel(
        sides.candidate,
        sides.baseline,
        setup=sides.setup,
        margin=terms.margin,
        budget_s=terms.budget_s,
        paired_processes=paired_processes,
    )
    return [Said("", 1 / fought.ratio, fought.verdict, fought.spent_s)]


def timeit_min(sides: Sides, terms: Terms) -> list[Said]:
    """Judge with `timeit`: the shortest of five repeats per side."""

    def measure(statement: str) -> tuple[float, float]:
        calls = calls_that_fill(statement, sides.setup, terms.budget_s / 2 / REPEATS)
        repeats_s = timeit.repeat(statement, sides.setup, repeat=REPEATS, number=calls)
        return min(repeats_s) / calls, sum(repeats_s)

    return _one_after_the_other(sides, terms, measure)


def torch_blocked(sides: Sides, terms: Terms) -> list[Said]:
    """Judge with `Timer.blocked_autorange`: medians, as `Compare` prints them."""
    from torch.utils.benchmark import Timer

    def measure(statement: str) -> tuple[float, float]:
        measured = Timer(statement, sides.setup).blocked_autorange(min_run_time=terms.budget_s / 2)
        return measured.median, sum(measured.raw_times)

    return _one_after_the_other(sides, terms, measure)


def torch_adaptive(sides: Sides, terms: Terms) -> list[Said]:
    """Judge with `Timer.adaptive_autorange`: medians. It stops when its samples agree, often long before its limit."""
    from torch.utils.benchmark import Timer

    def measure(statement: str) -> tuple[float, float]:
        measured = Timer(statement, sides.setup).adaptive_autorange(max_run_time=terms.budget_s / 2)
        return measured.median, sum(measured.raw_times)

    return _one_after_the_other(sides, terms, measure)


def _one_after_the_other(sides: Sides, terms: Terms, measure: Callable[[str], tuple[float, float]]) -> list[Said]:
    """Measure each side alone. `measure` returns seconds per call, and the seconds spent on samples."""
    statements = {"baseline": sides.baseline, "candidate": sides.candidate}
    known = {side: measure(statements[side]) for side in random.sample(list(statements), 2)}
    slowdown = known["candidate"][0] / known["baseline"][0]
    return [Said("", slowdown, rule_of_thumb(slowdown, terms.margin), known["baseline"][1] + known["candidate"][1])]


def paired_check(sides: Sides, terms: Terms) -> list[Said]:
    """Measure the true slowdown: rounds A B B A and B A A B on the CPU clock, for the whole budget.

    It uses no tool of fairclock. It is not a verdict, so it returns UNDECIDED.
    """
    baseline, candidate = (_prepared(code, sides.setup) for code in (sides.baseline, sides.candidate))
    calls = calls_that_fill(sides.baseline, sides.setup, _CHECK_TURN_S)
    slowdowns: list[float] = []
    begun_s = perf_counter()
    while (spent_s := perf_counter() - begun_s) < terms.budget_s:
        # The first side finds colder caches after this loop's own work, so each side goes first equally often.
        inner, outer = (baseline, candidate) if len(slowdowns) % 2 else (candidate, baseline)
        first, second, third, fourth = (side.timeit(calls) for side in (outer, inner, inner, outer))
        slowdown = (second + third) / (first + fourth)
        slowdowns.append(slowdown if inner is candidate else 1 / slowdown)
    return [Said("", median(slowdowns), Finding.UNDECIDED, spent_s)]


def _prepared(statement: str, setup: str) -> timeit.Timer:
    """Return a timer on the CPU clock with a new setup. Every tool makes a new timer for each side."""
    names: dict[str, object] = {}
    exec(setup, names)  # noqa: S102 - the benchmark's own text, as timeit does
    return timeit.Timer(statement, timer=thread_time, globals=names)
