"""Lesson 05: compare two functions at several sizes and numbers of threads, and find out if both are equally fast."""

import math
import os
import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch.utils.benchmark import Compare, Measurement, Timer

from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.paired.duel import Duel, duel
from harness.torch_benchmark.grid import Grid, grid
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, Run, load
from lessons.engine.command import main


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


def timed(name: str, n: int, seconds: float) -> Measurement:
    a, b = torch.rand(2, 1, n)
    timer = Timer(
        f"{name}(a, b)",
        globals={"mul_sum": mul_sum, "bmm": bmm, "a": a, "b": b},
        label="dot product of two rows",
        sub_label=f"{n} numbers",
        description=name,
    )
    return timer.blocked_autorange(min_run_time=seconds)


def five_sizes(turns: int = 5, seconds: float = 0.01) -> list[Measurement]:
    results = []
    for _ in range(turns):
        for n in (1, 64, 4096, 65_536, 1_048_576):
            results.append(timed("mul_sum", n, seconds))
            results.append(timed("bmm", n, seconds))
    return results


SIZES = 5


def five_sizes_figures(results: list[Measurement], run: Run) -> Figures:
    merged = {(each.sub_label, each.description): each.median for each in Measurement.merge(results)}
    wins = sum(merged[size, "bmm"] < merged[size, "mul_sum"] for size in {size for size, _ in merged})
    ratios = [mul.median / matrix.median for mul, matrix in zip(results[::2], results[1::2], strict=True)]
    by_size = [ratios[at::SIZES] for at in range(SIZES)]
    least, most = (choose(by_size, key=median) for choose in (min, max))
    return {
        "table": str(Compare(results)).strip(),
        "wins": wins,
        "largest": Interval.every(by_size[-1]).with_factor(run.noise),
        "changes": Interval.every(high / low for low, high in zip(least, most, strict=True)),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def sizes_and_threads(
    seconds: float = 0.1, turns: int = 3, rounds: int = 25
) -> tuple[Grid, list[float], BackgroundLoad]:
    with watch_background_load() as others:
        cells = grid(
            {"mul_sum": mul_sum, "bmm": bmm},
            lambda n: tuple(torch.rand(2, 1, n)),
            sizes=(64, 4096, 65_536, 1_048_576),
            threads=(1, max(2, os.cpu_count() or 1)),
            label="dot product of two rows",
            min_run_time=seconds,
            turns=turns,
        )
    a, b = torch.rand(2, 1, 64)
    names = {"mul_sum": mul_sum, "a": a, "b": b}
    new = partial(Timer, "mul_sum(a, b)", globals=names)
    one, several = (new(num_threads=n) for n in cells.threads)
    gains = []
    for _ in range(rounds):
        one_s = one.timeit(100).mean
        gains.append(one_s / several.timeit(100).mean)
    return cells, gains, others


def sizes_and_threads_figures(found: tuple[Grid, list[float], BackgroundLoad], run: Run) -> Figures:
    cells, small_gains, others = found
    (one, several), large = cells.threads, cells.sizes[-1]
    # Several threads need several free cores.
    lonely = (os.cpu_count() or 1) < 2
    withheld = lonely or others.is_high
    one_thread = {place: each for place, each in cells.cells.items() if place[2] == one}
    shown = replace(cells, threads=(one,), cells=one_thread) if withheld else cells
    gains = {name: cells.median_s(name, large, one) / cells.median_s(name, large, several) for name in cells.names}
    # The uncertainty of a ratio of medians: half the sum of IQR ÷ median.
    error = sum(each.iqr / each.median for (_, size, _), each in cells.cells.items() if size == large) / 2
    shift = Interval.plus_minus(math.log(gains["mul_sum"] / gains["bmm"]), error).widened(2 * run.noise)
    change = Interval.plus_minus(abs(shift.middle), error).widened(shift.noise).mapped(math.exp)
    lacking = Lacking("needs a second core; use a machine with at least two cores")
    return {
        "table": str(shown.compare()).strip(),
        "grid": Drawing(shown.plot(), shown.svg()),
        "withheld": withheld,
        "gain_ratio": None if withheld else shift.mapped(math.exp),
        "mul_sum_gain": gains["mul_sum"],
        "bmm_gain": gains["bmm"],
        "small_gain": Interval.median(small_gains),
        "change": lacking if lonely else change.void_if(others.is_high),
        "threads": several,
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
Steps = list[tuple[int, Duel]]


def where(budget_s: float = 0.2) -> tuple[Steps, Duel, Duel]:
    def compare(n: int) -> Duel:
        a, b = torch.rand(2, 1, n)
        candidate, baseline = partial(bmm, a, b), partial(mul_sum, a, b)
        return duel(candidate, baseline, budget_s=budget_s)

    steps = []
    low, high = 64, 1_048_576
    while high > 1.25 * low:
        n = round(math.sqrt(low * high))
        found = compare(n)
        steps.append((n, found))
        if found.ratio < 1:
            low = n
        else:
            high = n
    return steps, compare(high // 4), compare(4 * low)


def where_figures(search: tuple[Steps, Duel, Duel]) -> Figures:
    steps, quarter, fourfold = search
    low = max((n for n, each in steps if each.ratio < 1), default=None)
    high = min((n for n, each in steps if each.ratio >= 1), default=None)
    ratios = [Interval.duel(each) for _, each in steps]
    # An undecided duel can lead the search to a wrong range, in which one of the functions never wins.
    lost = not (any(each.high < 1 for each in ratios) and any(each.low > 1 for each in ratios))
    return {
        "duels": Rows(
            [
                (n, each.verdict.upper(), each.ratio, ends.low, ends.high)
                for (n, each), ends in zip(steps, ratios, strict=True)
            ]
        ),
        "size": None if low is None or high is None else Interval(math.sqrt(low * high), low, high),
        "below": Interval.duel(quarter).void_if(lost),
        "above": Interval.duel(fourfold).void_if(lost),
        "measured": len(steps),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def sleeps(turns: int) -> Measurement:
    timer = Timer(
        "sleep(0.001 + random() / 250)",
        "from random import random; from time import sleep",
        label="dot product of two rows",
        sub_label="sleeps",
        description="mul_sum",
    )
    singly = [timer.timeit(1) for _ in range(turns)]
    return next(iter(Measurement.merge(singly)))


def dressed(seconds: float = 0.08, turns: int = 30) -> list[str]:
    results = [timed(name, 64, seconds) for name in ("mul_sum", "bmm")]
    results.append(sleeps(turns))

    table = Compare(results)
    table.trim_significant_figures()
    table.highlight_warnings()
    table.colorize()
    coloured = str(table)
    with TemporaryDirectory() as folder:
        file = Path(folder, "table.txt")
        file.write_text(coloured)
        in_file = file.read_text()
    unpickled = str(pickle.loads(pickle.dumps(table)))
    return [coloured, in_file, unpickled]


def dressed_figures(texts: list[str]) -> Figures:
    coloured, in_file, unpickled = texts
    codes = in_file.count("\033[")
    return {
        "coloured": coloured.strip(),
        "row": ascii(next(line for line in in_file.splitlines() if "64 numbers" in line))[1:-1],
        "holds": "b" if codes else "a",
        "codes": codes,
        "pickled_same": unpickled == coloured,
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def again(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def no_difference(seconds: float = 0.06, budget_s: float = 1.5) -> tuple[Grid, list[Duel]]:
    a, b = torch.rand(2, 1, 64)
    way, copy, other = (partial(f, a, b) for f in (mul_sum, again, bmm))
    duels = [
        duel(copy, way, budget_s=budget_s),
        duel(way, other, budget_s=budget_s),
        duel(other, way, budget_s=budget_s),
        duel(copy, way, budget_s=0.002),
    ]
    cells = grid(
        {"mul_sum": mul_sum, "again": again},
        lambda n: tuple(torch.rand(2, 1, n)),
        sizes=(1, 16, 64, 1024, 4096),
        min_run_time=seconds,
        turns=1,
    )
    return cells, duels


def no_difference_figures(found: tuple[Grid, list[Duel]]) -> Figures:
    cells, duels = found
    apart = [abs(math.log(ratio)) for ratio in cells.ratios("again", "mul_sum")]
    names = ("again / mul_sum", "mul_sum / bmm", "bmm / mul_sum", "again / mul_sum")
    same, faster, *_ = duels
    return {
        "medians": Rows([(n, *(cells.median_s(name, n) for name in cells.names)) for n in cells.sizes]),
        "differ": sum(each > 0 for each in apart),
        "most": math.expm1(max(apart)),
        "duels": Rows(
            [(name, each.verdict.upper(), each.ratio, each.spent_s) for name, each in zip(names, duels, strict=True)]
        ),
        "same": Interval.duel(same),
        "rounds": len(same.rounds),
        "margin": same.margin,
        "faster": Interval.duel(faster),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def with_a_mistake(turns: int = 5, seconds: float = 0.01) -> list[Measurement]:
    tensors = dict(zip("ab", torch.rand(2, 1, 64), strict=True))
    result = []
    for _ in range(turns):
        for n in (1, 64, 4096, 65_536, 1_048_576):
            tensor = dict(zip("ab", torch.rand(2, 1, n), strict=True))
            timer = Timer(
                "(a * b).sum(-1)",
                globals=tensors,
                label="dot product of two rows",
                sub_label=f"{tensor['a'].numel()} numbers",
                description="mul_sum",
            )
            result.append(timer.blocked_autorange(min_run_time=seconds))
    return result


def with_a_mistake_figures(results: list[Measurement], run: Run) -> Figures:
    repaired = [each for each in run.result(five_sizes) if each.description == "mul_sum"]
    return {"table": str(Compare(results)).strip(), "wrong": growth(results), "right": growth(repaired)}


def growth(results: Sequence[Measurement]) -> Interval:
    """Return median at the largest size ÷ median at the smallest size, as the interval of its median.

    `results` contains one measurement per size, in ascending order, for each repetition.
    """
    pairs = zip(results[::SIZES], results[SIZES - 1 :: SIZES], strict=True)
    return Interval.median(large.median / small.median for small, large in pairs)


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
