"""Lesson 06: compare the same code in two environments, and find out how often such a comparison is wrong."""

import math
import pickle
import timeit
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from random import choice
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time

import torch
from torch import Tensor
from torch.utils.benchmark import CallgrindStats, Compare, Measurement, Timer

import lessons
from harness.paired.noise import p95
from harness.torch_benchmark.result_store import Result, SavedResult, load, save, table, with_environment
from lessons.engine.api import Figures, Interval, Rows, smallest
from lessons.engine.api import load as load_lesson
from lessons.engine.command import main
from lessons.probes.other_process import elsewhere


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def measure(seconds: float) -> Measurement:
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = Timer("mul_sum(a, b)", globals=names, env="today")
    return timer.blocked_autorange(min_run_time=seconds)


def recorded() -> tuple[SavedResult, ...]:
    folder = Path(lessons.__path__[0], "recorded")
    return load(folder / "06_counts.jsonl")


Copies = tuple[list[Measurement], list[Result], list[SavedResult]]


def kept(seconds: float = 0.2) -> Copies:
    result, counts = measure(seconds), recorded()[0].result
    result_copy = pickle.loads(pickle.dumps(result))
    counts_copy = pickle.loads(pickle.dumps(counts))
    with TemporaryDirectory() as folder:
        file = Path(folder, "today.jsonl")
        saved = with_environment([result])
        save(saved, file)
        loaded = load(file)
    results, both = [result, result_copy], [counts, counts_copy]
    return results, both, [*saved, *loaded]


def kept_figures(copies: Copies) -> Figures:
    (result, result_copy), (counts, counts_copy), (saved, loaded) = copies
    usual, plain = recorded()
    assert isinstance(counts, CallgrindStats)
    assert isinstance(plain.result, CallgrindStats)
    (counts_again,) = with_environment([counts_copy], usual.environment)
    equal = (result == result_copy, counts == counts_copy)
    return {
        "equal": {(True, True): "a", (True, False): "b", (False, False): "c"}.get(equal),
        "counts_same": counts_again == usual,
        "line_same": saved == loaded,
        "more": plain.result.counts() / counts.counts() - 1,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def here(env: str, seconds: float) -> SavedResult:
    timer = Timer(
        "x.sigmoid()",
        globals={"x": torch.rand(10_000)},
        label="sigmoid",
        description="10 000 numbers",
        env=env,
        timer=thread_time,
    )
    result = timer.blocked_autorange(min_run_time=seconds)
    return with_environment([result])[0]


def two_environments(seconds: float = 0.3) -> list[SavedResult]:
    plain = {"ATEN_CPU_CAPABILITY": "default"}
    module = "lessons.06_ab_testing"
    a = here("A: usual kernels", seconds)
    b = elsewhere(module, "here", "B: plain kernels", seconds, **plain)
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "a.jsonl"), Path(folder, "b.jsonl")
        save([a], one)
        save([b], other)
        return [*load(one), *load(other)]


def two_environments_figures(results: list[SavedResult]) -> Figures:
    one, other = (each.result for each in results)
    assert isinstance(one, Measurement)
    assert isinstance(other, Measurement)
    nameless = [replace(each, task_spec=replace(each.task_spec, env=None)) for each in (one, other)]
    merged = sum("|" in line for line in str(Compare(nameless)).splitlines()[2:])
    prints = [each.environment.fingerprint() for each in results]
    return {
        "table": str(table(results)).strip(),
        "merged": merged,
        "prints": " and ".join(prints),
        "prints_differ": prints[0] != prints[1],
        "differences": "; ".join(results[0].environment.differences(results[1].environment)),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
WINDOW = 40
"""The number of measured times in one comparison: 20 of A and 20 of B."""

ORDERS = {"back to back": "A" * 20 + "B" * 20, "ABAB": "AB" * 20, "ABBA": "ABBA" * 10}
"""The orders in which the times of one comparison are assigned to A and B."""

NOTICEABLE = 0.01
"""The smallest error of an A/A test that a reader would take for a real difference, as a fraction."""


def same_again(turns: int = 40_000) -> list[float]:
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    return timer.repeat(turns, number=10)


def same_again_figures(times_s: list[float]) -> Figures:
    errors = {name: aa_errors(times_s, order) for name, order in ORDERS.items()}
    back, _, turn = errors.values()
    # ABAB and ABBA both alternate, so most of the difference between their errors is chance.
    chance = log_ratio(errors["ABAB"], turn)
    different = [each for each in back if each]
    return {
        "errors": Rows([(min(each), median(each), max(each), within(each)) for each in errors.values()]),
        "tests": len(back),
        "slower": Interval.share(sum(each > 0 for each in different), len(different)),
        "back_to_abba": log_ratio(back, turn).widened(max(abs(chance.low), abs(chance.high))).mapped(math.exp),
        "noticeable": NOTICEABLE,
        "noticed": sum(abs(each) >= NOTICEABLE for each in back) / len(back),
    }


def log_ratio(errors: Sequence[float], others: Sequence[float]) -> Interval:
    """Return the median of log(|error| / |other error|) over pairs of errors."""
    ratios = (math.log(max(abs(x), 1e-6) / max(abs(y), 1e-6)) for x, y in zip(errors, others, strict=True))
    return Interval.median(ratios)


def within(errors: Sequence[float]) -> float:
    """Return the limit that the absolute values of 95 % of the errors do not exceed."""
    return p95([abs(each) for each in errors])


def aa_errors(times_s: Sequence[float], order: str) -> list[float]:
    """Divide the times into windows, and return median of B ÷ median of A - 1 for each window.

    `order` assigns each time of a window to A or B.
    """
    windows = [times_s[start : start + WINDOW] for start in range(0, len(times_s) - WINDOW + 1, WINDOW)]
    return [
        median(s for s, side in zip(window, order, strict=True) if side == "B")
        / median(s for s, side in zip(window, order, strict=True) if side == "A")
        - 1
        for window in windows
    ]


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def orders() -> dict[str, str]:
    return {
        "AAAA BBBB": "A" * 16 + "B" * 16,
        "ABAB": "AB" * 16,
        "ABBA": "ABBA" * 8,
    }


def drifting(rounds: int = 300) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in orders()}
    for _ in range(rounds):
        for name, order in orders().items():
            numbers = list(range(3000))
            spent = {"A": 0.0, "B": 0.0}
            for side in order:
                start = perf_counter()
                sum(numbers)
                spent[side] += perf_counter() - start
                numbers += range(120)
            found[name].append(spent["B"] / spent["A"] - 1)
    return found


def drifting_figures(found: dict[str, list[float]]) -> Figures:
    medians = [Interval.median(values) for values in found.values()]
    return {
        "differences": Rows([(name, each.middle) for name, each in zip(found, medians, strict=True)]),
        "rounds": len(next(iter(found.values()))),
        "least": smallest(dict(zip("abc", map(size_of, medians), strict=True))),
        "blocks": medians[0],
        "abba": medians[-1],
    }


def size_of(difference: Interval) -> Interval:
    """Return the interval of the absolute value of `difference`."""
    ends = sorted(map(abs, (difference.low, difference.high)))
    nearest = 0.0 if difference.low <= 0 <= difference.high else ends[0]
    return Interval(abs(difference.middle), nearest, ends[1])


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
Decisions = tuple[list[list[bool]], list[list[bool]]]


def t_test(values: list[float]) -> list[bool]:
    says, total, square = [], 0.0, 0.0
    for n, x in enumerate(values, start=1):
        total, square = total + x, square + x * x
        freedom = max(1, n - 1)
        variance = (square - total * total / n) / freedom
        error = math.sqrt(max(variance, 1e-30) / n)
        limit = 1.645 + 1.524 / freedom + 1.42 / freedom**2
        says.append(n >= 10 and total / n > limit * error)
    return says


def bet(values: list[float]) -> list[bool]:
    capital, says = 1.0, []
    for x in values:
        capital *= 1.5 if x > 0 else 0.5
        says.append(capital >= 25)
    return says


def peeking(tests: int = 4000, pairs: int = 1000) -> Decisions:
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    times = timer.repeat(2 * pairs, number=5)
    both = zip(times[::2], times[1::2], strict=True)
    real = [math.log(y / x) for x, y in both]

    by_test, by_bet = [], []
    for _ in range(tests):
        drawn = [choice((-1, 1)) * choice(real) for _ in range(100)]
        by_test.append(t_test(drawn))
        by_bet.append(bet(drawn))
    return by_test, by_bet


def peeking_figures(said: Decisions) -> Figures:
    by_test, by_bet = said
    tests = len(by_test)
    once = [sum(column) / tests for column in zip(*by_test, strict=True)]
    peeked, bets = share_by(by_test), share_by(by_bet)
    return {
        "alarms": Rows([tuple(shares[look - 1] for look in (10, 20, 50, 100)) for shares in (once, peeked, bets)]),
        "tests": tests,
        "peeked": Interval.share(peeked[-1] * tests, tests),
        "bets": Interval.share(bets[-1] * tests, tests),
    }


def share_by(said: Sequence[Sequence[bool]]) -> list[float]:
    """Return, for each number n of pairs, the share of comparisons with a reported difference within n pairs."""
    ever = [list(accumulate(says, max)) for says in said]
    return [sum(column) / len(said) for column in zip(*ever, strict=True)]


lesson = load_lesson(__name__)

if __name__ == "__main__":
    main(lesson)
