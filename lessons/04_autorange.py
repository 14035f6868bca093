"""Lesson 04: how many calls to time together as one sample, and how precise the result is."""

import timeit
from collections.abc import Iterator
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness.machine.clocks import BackgroundLoad, watch_background_load
from lessons.engine.api import ClaimStanding, Figures, Interval, Rows, Run, Samples, load
from lessons.engine.command import main
from lessons.probes.neighbours import neighbours

FEWEST_BLOCKS = 4
"""With fewer blocks, torch prints no IQR, `adaptive_autorange` goes on, and this lesson trusts no IQR.

If something disturbs torch's search for the length of a block, one block can be as long as the whole measurement.
"""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def one_call(calls: int = 5000) -> tuple[list[float], list[float]]:
    a, b = torch.rand(2, 256, 64)
    calls_s, clock_s = [], []
    for _ in range(calls):
        start = perf_counter()
        mul_sum(a, b)
        stop = perf_counter()
        again = perf_counter()
        calls_s.append(stop - start)
        clock_s.append(again - stop)
    return calls_s, clock_s


def one_call_figures(timed: tuple[list[float], list[float]]) -> Figures:
    calls_s, clock_s = timed
    usual_s, slowest_s, reading_s = median(calls_s), max(calls_s), median(clock_s)
    return {
        "calls_s": Samples(calls_s),
        "usual_s": usual_s,
        "slowest_to_usual": slowest_s / usual_s,
        "slowest_place": calls_s.index(slowest_s) + 1,
        "clock_s": reading_s,
        "clock_share": reading_s / usual_s,
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def names() -> dict[str, object]:
    a, b = torch.rand(2, 256, 64)
    return {"a": a, "b": b, "mul_sum": mul_sum}


def one_long_run() -> list[tuple[int, float]]:
    runs: list[tuple[int, float]] = []
    timer = timeit.Timer("mul_sum(a, b)", globals=names())
    timer.autorange(callback=lambda calls, s: runs.append((calls, s)))
    return runs


def one_long_run_figures(runs: list[tuple[int, float]]) -> Figures:
    *searched, (calls, _) = runs
    discarded = sum(each for each, _ in searched)
    return {
        "runs": Rows([(calls, s, s / calls) for calls, s in [*searched[::3], runs[-1]]]),
        "calls": calls,
        "discarded": discarded,
        "discarded_share": discarded / calls,
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def many_blocks(seconds: float = 1.0) -> tuple[Measurement, Measurement, list[float]]:
    timer = Timer("mul_sum(a, b)", globals=names())
    one_run = timer.timeit(1000)
    blocks = timer.blocked_autorange(min_run_time=seconds)
    clock_s = timeit.repeat(number=0, repeat=1000)
    return one_run, blocks, clock_s


def many_blocks_figures(found: tuple[Measurement, Measurement, list[float]]) -> Figures:
    one_run, blocks, clock_s = found
    spread, few = blocks.iqr / blocks.median, len(blocks.times) < FEWEST_BLOCKS
    return {
        "times_s": Samples(blocks.times),
        "blocks": len(blocks.times),
        "calls": blocks.number_per_run,
        "torch_text": torch_text(blocks),
        "spread": Interval.exact(spread).void_if(few),
        "one_run_spread": one_run.iqr / one_run.median,
        "block_s": median(blocks.raw_times),
        "clock_share": median(clock_s) / median(blocks.raw_times),
        "few": few,
    }


def torch_text(measured: Measurement) -> str:
    """Return the text that torch prints for a measurement, without its first line (the address of the object)."""
    return "\n".join(repr(measured).splitlines()[1:])


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
Round = tuple[Measurement, Measurement, BackgroundLoad]


def beside_neighbours(rounds: int = 5, seconds: float = 0.25) -> list[Round]:
    timer = Timer("mul_sum(a, b)", globals=names())
    result = []
    for _ in range(rounds):
        with watch_background_load() as others:
            quiet = timer.blocked_autorange(min_run_time=seconds)
        with neighbours(per_core=2):
            loud = timer.blocked_autorange(min_run_time=seconds)
        result.append((quiet, loud, others))
    return result


def beside_neighbours_figures(rounds: list[Round], run: Run) -> Figures:
    means = [loud.mean / quiet.mean - 1 for quiet, loud, _ in rounds]
    medians = [loud.median / quiet.median - 1 for quiet, loud, _ in rounds]
    crowded = BackgroundLoad(median(others.cores for _, _, others in rounds)).is_high
    few = any(len(each.times) < FEWEST_BLOCKS for quiet, loud, _ in rounds for each in (quiet, loud))
    felt = Interval.every(means).widened(run.noise).void_if(crowded)
    # If the mean did not clearly increase, the neighbours had no effect that the median could escape.
    unnoticed = felt.compare(at_least=0) is not ClaimStanding.HELD
    more = Interval.every(middle - mean for mean, middle in zip(means, medians, strict=True))
    together = more.compare(at_least=-0.02, at_most=0.02) is ClaimStanding.HELD
    further = Interval.every(mean - middle for mean, middle in zip(means, medians, strict=True))
    return {
        "quiet_s": Samples([time for quiet, _, _ in rounds for time in quiet.times]),
        "loud_s": Samples([time for _, loud, _ in rounds for time in loud.times]),
        "moves": Rows([(min(each), median(each), max(each)) for each in (means, medians)]),
        "rounds": len(rounds),
        "median_more": more.void_if(crowded or few or (unnoticed and not together)),
        "mean_further": further.widened(run.noise).void_if(unnoticed or few),
        "warned": sum(loud.has_warnings for _, loud, _ in rounds),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def one_slow_statement(sleep_s: float = 0.3, wanted_s: float = 0.2) -> list[Measurement]:
    timer = Timer(f"time.sleep({sleep_s})", setup="import time")
    short = timer.blocked_autorange(min_run_time=wanted_s)
    long = timer.blocked_autorange(min_run_time=6 * sleep_s)
    return [short, long]


def one_slow_statement_figures(measured: list[Measurement]) -> Figures:
    short, long = measured
    return {
        "samples": len(short.times),
        "iqr_s": short.iqr,
        "warned": short.has_warnings,
        "more_samples": len(long.times),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def uneven() -> Iterator[int]:
    while True:
        for turn in range(10):
            yield sum(range(50_000 if turn == 9 else 100))


def called_median(seconds: float = 0.2) -> tuple[str, list[Measurement]]:
    timer = Timer("next(work)", globals={"work": uneven()})
    one_run = timer.timeit(1000)
    printed = f"Median: {one_run.median * 1e6:.2f} us"

    singly = [timer.timeit(1) for _ in range(1000)]
    single = Measurement.merge(singly)[0]
    blocks = timer.blocked_autorange(min_run_time=seconds)
    return printed, [one_run, single, blocks]


def called_median_figures(found: tuple[str, list[Measurement]], run: Run) -> Figures:
    printed, (one_run, single, blocks) = found
    return {
        "printed": printed,
        "printed_to_usual": Interval.exact(one_run.median / single.median).with_factor(run.noise),
        "blocks_to_usual": Interval.exact(blocks.median / single.median).with_factor(run.noise),
        "usual_s": single.median,
        "mean_s": single.mean,
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def until_steady(times: int = 5, limit: float = 0.3) -> list[Measurement]:
    timer = Timer("mul_sum(a, b)", globals=names())
    adaptive = timer.adaptive_autorange
    return [adaptive(0.05, max_run_time=limit) for _ in range(times)]


def until_steady_figures(answers: list[Measurement]) -> Figures:
    medians = [each.median for each in answers]
    steady = [len(each.times) >= FEWEST_BLOCKS and each.iqr / each.median < 0.05 for each in answers]
    return {
        "turns": Rows([(each.median, each.iqr / each.median, len(each.times)) for each in answers]),
        "range": max(medians) / min(medians) - 1,
        "steady": sum(steady),
        "times": len(answers),
    }


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
