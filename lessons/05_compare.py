"""Lesson 05: compare two functions at several sizes and numbers of threads, and recognize when both are equally fast.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

import math
import os
import pickle
import re
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Compare, Measurement, Timer

from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.paired.duel import MARGIN, Duel, Finding, duel
from harness.rendering import units
from harness.rendering.tables import Heads, Table
from harness.torch_benchmark.grid import Grid, grid
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.published import GRIDS
from lessons.engine.words import followed, things, yes_no

lesson = Lesson(
    __file__,
    objective="You can find the sizes at which one function is faster, and recognize equally fast functions.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.given
class Turn(NamedTuple):
    mul_sum: Measurement
    bmm: Measurement


@lesson.step(
    "One size",
    predict=Choice(
        "Which function computes the dot product of two rows of 64 numbers faster?",
        {
            "a": "`bmm`, by 10 % or more",
            "b": "neither, the difference is below 10 %",
            "c": "`mul_sum`, by 10 % or more",
        },
        limits=(1 / 1.1, 1.1),
    ),
    expected="c",
    wrong_reasoning="Students expect `bmm` to be faster, because it is one optimized call. But with so few numbers, "
    "the preparation of the call takes most of the time.",
    fast={"seconds": 0.001},
)
def one_size(turns: int = 5, seconds: float = 0.05) -> list[Turn]:
    """A usual benchmark compares two functions on one input. We measure the functions alternately.

    `mul_sum` calls two operations, and stores all products before it adds them. `bmm` calls one operation, the matrix
    product of a row and a column. It also makes four views, such as `a[:, None]`.
    """
    a, b = torch.rand(2, 1, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    first = Timer("mul_sum(a, b)", globals=names)
    second = Timer("bmm(a, b)", globals=names)
    result = []
    for _ in range(turns):
        one = first.blocked_autorange(min_run_time=seconds)
        other = second.blocked_autorange(min_run_time=seconds)
        result.append(Turn(one, other))
    return result


SMALL = one_size.claim("small-mul-sum", "`mul_sum` is faster than `bmm` on 64 numbers", at_least=1, unit=units.ratio)


@one_size.explain
def _(page: Page, turns: list[Turn]) -> None:
    rows = [(number, turn.mul_sum.median, turn.bmm.median) for number, turn in enumerate(turns, 1)]
    page.table(
        Table.of(
            "Median time per call", {"repetition": units.count, "mul_sum": units.seconds, "bmm": units.seconds}, rows
        )
    )
    ratios = [turn.bmm.median / turn.mul_sum.median for turn in turns]
    page.reveal(
        Interval.every(ratios),
        f"In the median repetition, `mul_sum` was {units.ratio(median(ratios))} as fast as `bmm`.",
    )
    page.settle(SMALL, Interval.every(ratios), remark="speed of `mul_sum` ÷ speed of `bmm`")
    page.say(
        SMALL.words(
            held="`mul_sum` was faster in each repetition. A benchmark of a single size would end with this result.",
            refuted="`bmm` was faster in each repetition. On some other machines, `mul_sum` is faster.",
            unclear="The repetitions disagree, so this run does not show which function is faster on 64 numbers.",
        ),
        "This step measured only one size, so it does not show which function is faster at another size.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
SIZES = (1, 64, 4096, 65_536, 1_048_576)


@lesson.given
def timed(n: int, function: object, seconds: float) -> Measurement:
    a, b = torch.rand(2, 1, n)
    timer = Timer(
        "function(a, b)",
        globals={"function": function, "a": a, "b": b},
        label="dot product of two rows",
        sub_label=f"{n} numbers",
        description=getattr(function, "__name__", "?"),
    )
    return timer.blocked_autorange(min_run_time=seconds)


@lesson.step(
    "Five sizes",
    predict=Choice(
        "We measure both functions at five sizes, from 1 number to a million. At how many sizes is the median of `bmm` "
        "smaller than the median of `mul_sum`?",
        {"a": "at none", "b": "at one to four", "c": "at all five"},
        limits=(1, len(SIZES)),
    ),
    expected="b",
    wrong_reasoning="Students think that one of the functions is better in general. But the fixed cost decides for "
    "small sizes, and the work on the numbers for large sizes.",
    fast={"turns": 3, "seconds": 0.0005},
)
def five_sizes(
    turns: int = 5,
    seconds: float = 0.01,
) -> list[Measurement]:
    """Now we measure five sizes. torch's `Compare` prints all measurements in one table.

    `label` is the title of the table, `sub_label` names the row, and `description` names the column. `Compare`
    merges measurements into one cell if these three names, the statement, the setup code, `env` and the number of
    threads are equal. In this step, a cell contains all repetitions of a measurement. `Compare` ignores `globals`. With
    the same `description`, it would therefore merge the measurements of our two functions.
    """
    results = []
    for _ in range(turns):
        for n in (1, 64, 4096, 65_536, 1_048_576):
            results.append(timed(n, mul_sum, seconds))
            results.append(timed(n, bmm, seconds))
    return results


WINNER_CHANGES = five_sizes.claim(
    "winner-changes", "`bmm` is faster than `mul_sum` on a million numbers", at_least=1, unit=units.ratio
)
MARGIN_CHANGES = five_sizes.claim(
    "margin-changes",
    "between two of the five sizes, time of `mul_sum` ÷ time of `bmm` changes by a factor of 1.5 or more",
    at_least=1.5,
    unit=units.ratio,
)


def bmm_wins(results: Sequence[Measurement]) -> int:
    """Return the number of sizes at which bmm has a smaller median than mul_sum in the table of `Compare`."""
    merged = {(each.sub_label, each.description): each.median for each in Measurement.merge(results)}
    sizes = {size for size, _ in merged}
    return sum(merged[size, "bmm"] < merged[size, "mul_sum"] for size in sizes)


def ratios_by_size(results: Sequence[Measurement]) -> list[list[float]]:
    """Return a list for each size, which contains median of mul_sum ÷ median of bmm for each repetition."""
    ratios = [mul.median / matrix.median for mul, matrix in zip(results[::2], results[1::2], strict=True)]
    return [ratios[at :: len(SIZES)] for at in range(len(SIZES))]


@five_sizes.explain
def _(page: Page, results: list[Measurement]) -> None:
    page.output(str(Compare(results)).strip(), caption="print(Compare(results))")
    page.reveal(bmm_wins(results), "This number of sizes is counted from the medians in the table.")
    by_size = ratios_by_size(results)
    largest = Interval.every(by_size[-1]).with_noise(page.noise)
    page.settle(WINNER_CHANGES, largest, remark="speed of `bmm` ÷ speed of `mul_sum`")
    least, most = (choose(by_size, key=median) for choose in (min, max))
    changes = (high / low for low, high in zip(least, most, strict=True))
    page.settle(MARGIN_CHANGES, Interval.every(changes), remark="largest ratio ÷ smallest ratio")
    page.say(
        "On small inputs, the overhead of the calls takes most of the time. `mul_sum` calls two operations of torch.",
        "`bmm` calls one operation, but also makes four views, such as `a[:, None]`.",
        "On large inputs, access to memory takes much time: `mul_sum` stores all products and reads them again.",
        WINNER_CHANGES.words(
            held="`bmm` adds the products without storing them, and was faster on a million numbers.",
            refuted="`bmm` adds the products without storing them, but was slower on a million numbers in this run.",
            unclear="The repetitions with a million numbers disagree, so this run does not show which function is"
            " faster at this size.",
        ),
    )
    page.table(race("Published: PyTorch's benchmark recipe, and a reader's re-run of its notebook"))
    page.say(
        "In the rows from the recipe, the faster function changes once as the input grows. In the rows from the",
        "re-run, it changes twice. A benchmark of one size cannot show such changes.",
    )


def race(title: str) -> Table:
    """Return a table of the published times of `mul_sum` and `bmm` at several sizes, in seconds."""
    columns = {"rows × numbers": None, "mul_sum": units.seconds, "bmm": units.seconds, "bmm ÷ mul_sum": units.ratio}
    return Table.of(title, columns, [(size, sum_s, bmm_s, bmm_s / sum_s) for size, sum_s, bmm_s in GRIDS])


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Threads(NamedTuple):
    cells: Grid
    small_gains: list[float]
    others: BackgroundLoad


@lesson.step(
    "Sizes and threads",
    predict=Choice(
        "torch uses all cores instead of one. On a million numbers, which function becomes faster by the larger "
        "factor?",
        {
            "a": "`bmm`, by 10 % or more",
            "b": "neither, the difference is below 10 %",
            "c": "`mul_sum`, by 10 % or more",
        },
        limits=(1 / 1.1, 1.1),
    ),
    expected="c",
    depends_on="the number of cores",
    wrong_reasoning="Students think that all operations gain equally from more cores. But each operation decides how "
    "it divides its work among the threads.",
    fast={"seconds": 0.003, "turns": 1},
)
def sizes_and_threads(
    seconds: float = 0.1,
    turns: int = 3,
    rounds: int = 25,
) -> Threads:
    """By default, torch's `Timer` uses one thread. We measure with one thread, and with several threads.

    “Several” is `os.cpu_count()`, but at least two. torch divides a product or a sum of many numbers among the threads.
    For matrix products, torch usually calls another library (such as MKL or OpenBLAS). This library decides how many
    threads a product of one row and one column uses.

    `grid` makes a Timer for each function, size and number of threads. It measures with all of these Timers
    alternately, so that a disturbance does not affect only one of them. We also compare one thread with several threads
    on the smallest size, in many rounds. Several threads need several free cores, so we record how many cores other
    programs use.
    """
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
    return Threads(cells, gains, others)


SMALL_GAIN = sizes_and_threads.claim(
    "small-gain-nothing",
    "on 64 numbers, `mul_sum` with several threads is at most 1.5 times as fast as with one thread",
    at_most=1.5,
    unit=units.ratio,
)
THREADS_MATTER = sizes_and_threads.claim(
    "threads-move-margin",
    "on a million numbers, more threads change time of `mul_sum` ÷ time of `bmm` by 10 % or more",
    at_least=1.1,
    unit=units.ratio,
)


@sizes_and_threads.explain
def _(page: Page, found: Threads) -> None:
    cells, others = found.cells, found.others
    page.output(str(cells.compare()).strip(), caption="print(grid.compare())")
    page.drawing(cells.plot(), cells.svg(), name="grid", caption="Time per call at each size, on logarithmic axes")
    cores = os.cpu_count() or 1
    shift = log_shift(cells).widened(2 * page.noise)
    gained = ", and ".join(gain_in_words(name, gain) for name, gain in gains_on_large(cells).items())
    page.reveal(
        shift.mapped(math.exp).void_if(others.is_high or cores < 2),
        f"With {cells.threads[-1]} threads instead of one, {gained}.",
    )
    page.settle(SMALL_GAIN, Interval.median(found.small_gains))
    if cores < 2:
        page.skip(THREADS_MATTER, "needs a second core; use a machine with at least two cores")
    else:
        page.settle(THREADS_MATTER, change_of_ratio(shift).void_if(others.is_high))
    page.say(
        "torch multiplies and adds up fewer than 32 768 numbers with one thread (`GRAIN_SIZE` in torch's",
        "TensorIterator.h). So on smaller inputs, `mul_sum` uses one thread, however many threads are allowed.",
        "A call waits for its slowest thread. If another program uses the core of a thread, this thread finishes late.",
        f"During this step, other programs used {units.number(others.cores)} cores.",
    )
    page.say(
        THREADS_MATTER.words(
            held="More threads change the times of the two functions by different factors. Compare functions with the"
            " number of threads that your program uses.",
            refuted="In this run, more threads changed the times of both functions by nearly the same factor. For other"
            " functions, the factors can differ.",
            unclear="This run does not show whether more threads change the ratio of the two times. Run the step again"
            " when the machine is less busy.",
        ),
        f"From the smallest size to the largest, the function with the smaller median is: {winners(cells)}.",
    )
    warned = sum(each.has_warnings for each in cells.cells.values())
    page.say(
        "In torch's table, `grid.compare()` marks a cell with “(! …%)” if its IQR is 10 % of its median or more.",
        f"In this run, {warned} of {len(cells.cells)} cells have this mark.",
    )


def gains_on_large(cells: Grid) -> dict[str, float]:
    """Return time with one thread ÷ time with several threads, for each function at the largest size."""
    (one, several), large = cells.threads, cells.sizes[-1]
    return {name: cells.median_s(name, large, one) / cells.median_s(name, large, several) for name in cells.names}


def gain_in_words(name: str, gain: float) -> str:
    """Return words for old time ÷ new time of a function, such as "`bmm` is 1.9× as fast"."""
    return (
        f"`{name}` is {units.ratio(gain)} as fast" if gain >= 1 else f"`{name}` takes {units.ratio(1 / gain)} as long"
    )


def log_shift(cells: Grid) -> Interval:
    """Return the logarithm of gain of mul_sum ÷ gain of bmm, where `gains_on_large` returns the gains."""
    gains, large = gains_on_large(cells), cells.sizes[-1]
    error = doubt(*(measured for (_, size, _), measured in cells.cells.items() if size == large))
    return Interval.plus_minus(math.log(gains["mul_sum"] / gains["bmm"]), error)


def change_of_ratio(shift: Interval) -> Interval:
    """Return the factor by which a ratio grew or shrank, as a number of at least 1.

    `shift` is the logarithm of new ratio ÷ old ratio.
    """
    return Interval.plus_minus(abs(shift.middle), shift.half_width).widened(shift.noise).mapped(math.exp)


def doubt(*measured: Measurement) -> float:
    """Return the uncertainty of a ratio of the measurements' medians, as a fraction.

    The uncertainty is half the sum of IQR ÷ median over all measurements.
    """
    return sum(each.iqr / each.median for each in measured) / 2


def winners(cells: Grid) -> str:
    """Return a text that names, for each number of threads, the functions with the smaller median at each size."""
    parts = []
    for threads in cells.threads:
        best = [cells.fastest(size, threads) for size in cells.sizes]
        words = ", then ".join(f"`{each}`" for each in runs(best))
        parts.append(f"with {units.some(threads, 'thread')} {words}")
    return "; ".join(parts)


def runs(names: Sequence[str]) -> list[str]:
    """Return the names, but leave out each name that equals the name directly before it."""
    return [name for at, name in enumerate(names) if at == 0 or name != names[at - 1]]


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Pair(NamedTuple):
    many_rows_s: float
    long_rows_s: float


@lesson.given
class Shapes(NamedTuple):
    cells: list[Measurement]
    pairs: list[Pair]


@lesson.step(
    "Sixteen shapes",
    predict=Choice.ranges(
        "With one thread, what is the time of `bmm` on 16 384 rows of 1 number divided by its time on 64 rows of 256 "
        "numbers?",
        (0.67, 1.5),
        units.ratio,
    ),
    expected="c",
    depends_on="the processor and on its library of matrix products",
    wrong_reasoning="Students think that equal numbers of elements take equal time. But each row is a product of its "
    "own, and many short rows have a fixed cost each.",
    fast={"seconds": 0.0005, "rounds": 15},
)
def sixteen_shapes(seconds: float = 0.02, rounds: int = 40) -> Shapes:
    """A batch has several rows, so its shape consists of two sizes: the number of rows and the length of a row.

    We measure both functions on sixteen shapes, with one thread and with all cores. `Compare` prints one row per shape
    and number of threads. Two of the shapes contain 16 384 numbers: 16 384 rows of 1 number, and 64 rows of 256
    numbers. On these two shapes, we also measure `bmm` alternately. `bmm` computes one matrix product per row.
    """
    several = max(2, os.cpu_count() or 1)
    counts, lengths = (1, 64, 1024, 16_384), (1, 16, 64, 256)
    timers, cells, pairs = {}, [], []
    for threads, rows, length in product((1, several), counts, lengths):
        a, b = torch.rand(2, rows, length)
        for function in (mul_sum, bmm):
            name = function.__name__
            timer = Timer(
                "function(a, b)",
                globals={"function": function, "a": a, "b": b},
                label="batched dot product",
                sub_label=f"{rows} x {length}",
                description=name,
                num_threads=threads,
            )
            timers[name, threads, rows, length] = timer
            cells.append(timer.blocked_autorange(min_run_time=seconds))
    many_rows = timers["bmm", 1, 16_384, 1]
    long_rows = timers["bmm", 1, 64, 256]
    for _ in range(rounds):
        many_s = many_rows.timeit(20).mean
        pairs.append(Pair(many_s, long_rows.timeit(20).mean))
    return Shapes(cells, pairs)


ROWS_COST = sixteen_shapes.claim(
    "rows-cost",
    "with one thread, `bmm` takes at least 1.5 times as long on 16 384 rows of 1 number as on 64 rows of 256 numbers",
    at_least=1.5,
    unit=units.ratio,
)
ALL_SHAPES = sixteen_shapes.claim(
    "row-per-shape",
    "`Compare` prints 32 rows of figures: one row for each of 16 shapes and 2 numbers of threads",
    equals=32,
    unit=things("row"),
)


@sixteen_shapes.explain
def _(page: Page, found: Shapes) -> None:
    table = str(Compare(found.cells)).strip()
    page.output(table, caption="print(Compare(cells))")
    longer = Interval.median(many_s / long_s for many_s, long_s in found.pairs)
    many_s, long_s = map(median, zip(*found.pairs, strict=True))
    page.reveal(
        longer,
        f"In the median round, `bmm` took {units.seconds(many_s)} on 16 384 rows of 1 number, and",
        f"{units.seconds(long_s)} on 64 rows of 256 numbers.",
    )
    page.settle(ROWS_COST, longer)
    page.settle(ALL_SHAPES, sum(" x " in line for line in table.splitlines()))
    page.say(
        ROWS_COST.words(
            held="Both inputs contain the same number of numbers. For each row, `bmm` starts one product, and each"
            " start takes time. So the number of numbers alone does not determine the time.",
            refuted=f"In this run, many short rows took less than {units.ratio(ROWS_COST.at_least)} as long as a few"
            " long rows. On some other machines, many short rows take longer.",
            unclear="This run does not show whether many short rows take longer than a few long rows.",
        ),
        "Name both sizes when you report a result, and measure the shapes that your program uses.",
    )
    threads = sorted({each.num_threads for each in found.cells})
    wins = {number: shapes_won(found.cells, "bmm", number) for number in threads}
    page.say(
        "The medians of `bmm` are smaller than the medians of `mul_sum` at",
        ", and at ".join(f"{won} of 16 shapes with {units.some(number, 'thread')}" for number, won in wins.items())
        + ".",
        "If other programs use the cores, cells with several threads can be much slower than cells with one thread.",
        "PyTorch's benchmark recipe prints such a table for sixteen shapes and four numbers of threads.",
    )


def shapes_won(results: Sequence[Measurement], name: str, threads: int) -> int:
    """Return the number of shapes at which the function `name` has the smallest median with this number of threads."""
    best: dict[str, Measurement] = {}
    for each in results:
        if each.num_threads == threads:
            shape = each.sub_label
            best[shape] = min(best.get(shape, each), each, key=lambda one: one.median)
    return sum(each.description == name for each in best.values())


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Compared(NamedTuple):
    numbers: int
    duel: Duel


@lesson.given
class Search(NamedTuple):
    steps: list[Compared]
    quarter: Duel
    fourfold: Duel


LEAST, MOST, NEAR = 64, 1_048_576, 1.25
"""The smallest and the largest size of the search in step 5, and the ratio of two sizes at which the search ends."""


@lesson.step(
    "Where the winner changes",
    predict=Guess(
        "What is the largest row length at which `mul_sum` is faster than `bmm`, with one thread?", "elements", near=3
    ),
    expected="about 50 000 elements",
    depends_on="the processor and on the sizes of its caches",
    wrong_reasoning="Students look for the size in the table. But the table has only a few sizes, and the winner "
    "changes somewhere between two of them.",
    fast={"budget_s": 0.03},
)
def where(budget_s: float = 0.2) -> Search:
    """At some size, the winner (the faster function) changes. Bisection finds this size with few measurements.

    We compare the functions at the middle of a range of sizes, on a logarithmic scale, and keep the half in which the
    winner changes. Each comparison is a duel, which runs both functions alternately in one process. Two more duels
    check the result: at a quarter of the size that was found, and at four times this size.
    """

    def compare(n: int) -> Duel:
        a, b = torch.rand(2, 1, n)
        candidate, baseline = partial(bmm, a, b), partial(mul_sum, a, b)
        return duel(candidate, baseline, budget_s=budget_s)

    steps: list[Compared] = []
    low, high = 64, 1_048_576
    while high > 1.25 * low:
        n = round(math.sqrt(low * high))
        steps.append(Compared(n, compare(n)))
        if steps[-1].duel.ratio < 1:
            low = n
        else:
            high = n
    return Search(steps, compare(high // 4), compare(4 * low))


BELOW = where.claim(
    "below-it-mul-sum",
    "at a quarter of the size where the winner changes, `mul_sum` is faster than `bmm`",
    at_most=1,
    unit=units.ratio,
)
ABOVE = where.claim(
    "above-it-bmm",
    "at four times the size where the winner changes, `bmm` is faster than `mul_sum`",
    at_least=1,
    unit=units.ratio,
)


@where.explain
def _(page: Page, search: Search) -> None:
    show_search(page, search.steps)
    crossing, found = crossing_of(search.steps)
    page.reveal(crossing, found)
    # An undecided duel can lead the search to a wrong range, in which one of the functions never wins.
    ratios = [Interval.duel(each.duel) for each in search.steps]
    lost = not (any(each.high < 1 for each in ratios) and any(each.low > 1 for each in ratios))
    for claim, each in ((BELOW, search.quarter), (ABOVE, search.fourfold)):
        page.settle(claim, Interval.duel(each).void_if(lost), remark="speed of `bmm` ÷ speed of `mul_sum`")
    size_count = 1 + math.floor(math.log(MOST / LEAST) / math.log(NEAR))
    decided = sum(each.duel.verdict in {Finding.FASTER, Finding.SLOWER} for each in search.steps)
    page.say(
        f"The bisection measured {len(search.steps)} sizes. A search of the same range in which each size is a quarter",
        f"larger than the size before would measure up to {units.count(size_count)} sizes.",
        f"{decided} of the {len(search.steps)} duels had a winner. Near the size where the winner changes, the ratio",
        "is close to 1.",
        f"SAME means that the difference is at most {units.percent(MARGIN)}, so either function is a good choice.",
        "UNDECIDED means that the time ran out before the result was clear.",
    )
    page.say(
        "A dispatcher is a function that checks the size with one `if`, and calls the faster function. The limit in",
        "the `if` need not be exact, because both functions take about the same time near this limit. Measure the",
        "limit again on each machine. In the exercise, you write a dispatcher.",
    )


def show_search(page: Page, steps: Sequence[Compared]) -> None:
    """Print a table of the duels of the search, one row per duel."""
    columns: Heads = {"numbers": units.count, "`bmm` is": None, "ratio": units.ratio, "between": None}
    rows = [
        (n, each.verdict.value, each.ratio, f"{units.ratio(ends.low)} and {units.ratio(ends.high)}")
        for n, each in steps
        for ends in [Interval.duel(each)]
    ]
    title = "The duels, in the order of the search. Ratio: time of `mul_sum` ÷ time of `bmm`"
    page.table(Table.of(title, columns, rows))


def crossing_of(steps: Sequence[Compared]) -> tuple[Interval, str]:
    """Return the range of sizes in which the winner changes, and a sentence about this range.

    The range is unknown if the winner never changes.
    """
    low = max((n for n, each in steps if each.ratio < 1), default=None)
    high = min((n for n, each in steps if each.ratio >= 1), default=None)
    if low is None:
        return Interval.unknown(), "In each duel, `bmm` had the smaller time, so the winner never changes in this run."
    if high is None:
        return (
            Interval.unknown(),
            "In each duel, `mul_sum` had the smaller time, so the winner never changes in this run.",
        )
    found = f"In this run, the winner changes between {units.count(low)} and {units.count(high)} numbers."
    return Interval(math.sqrt(low * high), low, high), found


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
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


@lesson.given
class Looks(NamedTuple):
    results: list[Measurement]
    plain: str
    trimmed: str
    coloured: str
    in_file: str
    unpickled: str


@lesson.step(
    "Other forms of the table",
    predict=Choice(
        "`colorize` prints the best figures of a table in green. We write this table to a file. How does the file "
        "contain the colour?",
        {"a": "not at all", "b": "as control codes for a terminal", "c": "as the word “best”"},
    ),
    expected="b",
    wrong_reasoning="Students think that a file cannot contain a colour. But a terminal's colours are characters in "
    "the text, and they are written to the file too.",
    fast={"seconds": 0.005, "turns": 15},
)
def dressed(seconds: float = 0.08, turns: int = 30) -> Looks:
    """Three more methods of `Compare` change the form of the table. `str(table)` is the table as text.

    We write the text to a file. We also save the table itself in bytes with `pickle`, load it, and print it again.

    To get a row with a warning, we time sleeps of random length. We time each sleep separately, because the mean of
    ten sleeps would vary less.
    """
    results = [timed(64, mul_sum, seconds), timed(64, bmm, seconds)]
    results.append(sleeps(turns))

    table = Compare(results)
    plain = str(table)
    table.trim_significant_figures()
    trimmed = str(table)
    table.highlight_warnings()
    table.colorize()
    coloured = str(table)
    with TemporaryDirectory() as folder:
        file = Path(folder, "table.txt")
        file.write_text(coloured)
        in_file = file.read_text()
    unpickled = str(pickle.loads(pickle.dumps(table)))
    return Looks(results, plain, trimmed, coloured, in_file, unpickled)


ONE_DECIMAL = dressed.claim(
    "plain-one-decimal",
    "by default, `Compare` prints each figure with one decimal place, whatever the precision of the figure",
    equals=1,
    unit=followed("of the figures", units.percent),
)
FOUR_DIGITS = dressed.claim(
    "trim-four-digits",
    "after `trim_significant_figures`, each figure has at most four significant digits",
    at_most=4,
    unit=things("digit"),
)
WARNED = dressed.claim(
    "naps-warned",
    "the row of random sleeps gets a warning, because its IQR is 10 % of its median or more",
    at_least=0.1,
    unit=units.percent,
)
CODES = dressed.claim(
    "file-holds-codes",
    "a table that is written to a file after `colorize` contains control codes for a terminal",
    at_least=1,
    unit=things("code"),
)
PICKLED_SAME = dressed.claim(
    "pickled-same",
    "a `Compare` that is saved with `pickle` and loaded again prints the same text, with its colours and marks",
    equals=True,
    unit=yes_no,
)


@dressed.explain
def _(page: Page, looks: Looks) -> None:
    page.output(looks.plain.strip(), caption="str(Compare(results))")
    page.output(looks.coloured.strip(), caption="after trim_significant_figures(), highlight_warnings() and colorize()")
    row = next(line for line in looks.in_file.splitlines() if "64 numbers" in line)
    page.output(ascii(row)[1:-1], caption="one row of the file")
    figures = figures_in(looks.plain)
    with_one = sum(len(each.partition(".")[2]) == 1 for each in figures)
    page.settle(ONE_DECIMAL, with_one / len(figures), remark=f"the table has {len(figures)} figures")
    page.settle(FOUR_DIGITS, max(len(each.replace(".", "").strip("0")) for each in figures_in(looks.trimmed)))
    slept = looks.results[-1]
    page.settle(WARNED, slept.iqr / slept.median)
    codes, before = (text.count("\033[") for text in (looks.in_file, looks.plain))
    page.settle(CODES, codes, remark=f"{before} without `colorize`")
    page.reveal(CODES.answer(held="b", refuted="a"), f"The file contains {units.some(codes, 'control code')}.")
    page.say(
        "`trim_significant_figures` prints at most four significant digits. It prints fewer digits if the samples",
        "differ much or the time is short. `highlight_warnings` marks the cells with a large IQR.",
        "`colorize()` compares the figures of each column.",
        "`colorize(rowwise=True)` compares the figures of each row: use it if each column is an alternative.",
    )
    page.settle(PICKLED_SAME, looks.unpickled == looks.coloured)
    page.say(
        "To write a table to a file, call `str` before you call `colorize`. It is better to save the measurements",
        "themselves, because the table contains only rounded medians. Lesson 06 shows how to save measurements.",
    )
    page.say(
        PICKLED_SAME.words(
            held="A `Compare` that is saved with `pickle` keeps all samples and the settings of the three methods, so"
            " it prints the same table later. With `extend_results`, you can add new measurements to it.",
            refuted="This version of torch does not keep all of a `Compare` in a pickle. Save the measurements"
            " instead.",
            unclear="The two texts could not be compared.",
        ),
        "Load a pickle only if you trust its author, because loading it can run code.",
    )


def figures_in(table: str) -> list[str]:
    """Return the numbers in the cells of a table without colours, as texts."""
    cells = [line.split("|")[1:] for line in table.splitlines() if "|" in line]
    return [match[0] for row in cells for cell in row if (match := re.match(r"\d+(\.\d+)?", cell.strip()))]


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def again(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
class Duels(NamedTuple):
    same_code: Duel
    sum_to_bmm: Duel
    bmm_to_sum: Duel
    two_ms: Duel


@lesson.given
class Copies(NamedTuple):
    cells: Grid
    duels: Duels


@lesson.step(
    "No difference",
    predict=Choice(
        "`again` has the same code as `mul_sum`. We measure both functions at five sizes. At how many sizes do their "
        "medians differ?",
        {"a": "at none", "b": "at one to three", "c": "at four or five"},
        limits=(1, 4),
    ),
    expected="c",
    wrong_reasoning="Students think that equal code gives equal medians. But two measurements of the same code nearly "
    "always differ a little.",
    fast={"seconds": 0.0005, "budget_s": 0.1},
)
def no_difference(
    seconds: float = 0.06,
    budget_s: float = 1.5,
) -> Copies:
    """A table of medians cannot show that two functions are equally fast. We time the same code under two names.

    A duel compares a candidate with a baseline until the result is clear. FASTER means that the candidate is more than
    1 % faster. SLOWER means that the candidate is more than 1 % slower. SAME means that the difference is at most 1 %.
    If the time runs out first, the result is UNDECIDED.
    """
    a, b = torch.rand(2, 1, 64)
    way, copy, other = (partial(f, a, b) for f in (mul_sum, again, bmm))
    duels = Duels(
        same_code=duel(copy, way, budget_s=budget_s),
        sum_to_bmm=duel(way, other, budget_s=budget_s),
        bmm_to_sum=duel(other, way, budget_s=budget_s),
        two_ms=duel(copy, way, budget_s=0.002),
    )
    cells = grid(
        {"mul_sum": mul_sum, "again": again},
        lambda n: tuple(torch.rand(2, 1, n)),
        sizes=(1, 16, 64, 1024, 4096),
        label="the same code twice",
        min_run_time=seconds,
        turns=1,
    )
    return Copies(cells, duels)


exactly = partial(units.ratio, digits=4)
"""A format with four digits, for ratios close to 1."""

WINNERS = no_difference.claim(
    "table-has-winners",
    "at four or five of the five sizes, the medians of the same code under two names differ",
    at_least=4,
    unit=followed("of 5"),
)
SAME = no_difference.claim(
    "duel-same",
    "a duel of the same code under two names ends with SAME: the two times differ by at most 1 %",
    at_least=1 / (1 + MARGIN),
    at_most=1 + MARGIN,
    unit=exactly,
)
FASTER = no_difference.claim(
    "duel-faster",
    "a duel of `mul_sum` against `bmm` on 64 numbers ends with FASTER",
    at_least=1 + MARGIN,
    unit=exactly,
)
SLOWER = no_difference.claim(
    "duel-slower",
    "a duel of `bmm` against `mul_sum` on 64 numbers ends with SLOWER",
    at_most=1 / (1 + MARGIN),
    unit=exactly,
)
UNDECIDED = no_difference.claim(
    "duel-undecided", "a duel that has only 2 ms ends with UNDECIDED", equals=True, unit=yes_no
)


@no_difference.explain
def _(page: Page, found: Copies) -> None:
    cells, duels = found.cells, found.duels
    page.table(medians_of_copies(cells))
    apart = [abs(math.log(ratio)) for ratio in cells.ratios("again", "mul_sum")]
    differ = sum(each > 0 for each in apart)
    page.reveal(
        differ,
        f"The medians differ at {differ} of {len(apart)} sizes, by up to {units.percent(math.expm1(max(apart)))}.",
    )
    names = ("again / mul_sum", "mul_sum / bmm", "bmm / mul_sum", "again / mul_sum, 2 ms")
    rows = [(name, each.verdict.upper(), each.ratio) for name, each in zip(names, duels, strict=True)]
    columns = {"candidate / baseline": None, "result": None, "ratio": exactly}
    page.table(Table.of("Four duels on 64 numbers", columns, rows))
    page.settle(WINNERS, differ)
    for claim, each in ((SAME, duels.same_code), (FASTER, duels.sum_to_bmm), (SLOWER, duels.bmm_to_sum)):
        page.settle(claim, Interval.duel(each), remark=units.some(len(each.rounds), "round"))
    hurried = duels.two_ms.verdict
    page.settle(UNDECIDED, hurried is Finding.UNDECIDED, shown=hurried.upper())
    page.say(
        WINNERS.words(
            held=f"At {differ} of {len(apart)} sizes, one name has the smaller median, although both names stand for"
            " the same code.",
            refuted="In this run, the two medians are equal at several sizes. This is rare: two medians are equal only"
            " if all their digits are equal.",
            unclear="The medians of the two names could not be compared.",
        ),
        "Two medians do not show whether their difference is real. The IQR does not show this either, because an IQR",
        "describes the samples of one cell, not the difference between two cells.",
    )
    page.say(
        f"The duel of the same code had {units.some(len(duels.same_code.rounds), 'round')}. Each round timed the code",
        "under both names, one directly after the other. The result is a ratio with an interval.",
        SAME.words(
            held=f"All ratios in the interval differ from 1 by at most {units.percent(MARGIN)}, so the result is SAME.",
            refuted="In this process, the two copies differ in speed. A possible cause is that their addresses in"
            " memory differ. `duel(…, paired_processes=True)` compares the copies in new processes instead.",
            unclear=f"The interval is too wide: a difference of more than {units.percent(MARGIN)} is still possible."
            " With a larger `budget_s`, the interval usually becomes narrower.",
        ),
    )


def medians_of_copies(cells: Grid) -> Table:
    """Return a table of the medians of the same code under two names, with the name of the smaller median."""
    exact_s = partial(units.seconds, digits=5)
    columns: Heads = {"numbers": units.count, "mul_sum": exact_s, "again": exact_s, "smaller": None}
    rows = [(n, cells.median_s("mul_sum", n), cells.median_s("again", n), smaller(cells, n)) for n in cells.sizes]
    return Table.of("Medians of the same code under two names", columns, rows)


def smaller(cells: Grid, size: int) -> str:
    """Return the name of the function with the smaller median, or "equal" if the medians are equal."""
    one, other = cells.median_s("mul_sum", size), cells.median_s("again", size)
    if one == other:
        return "equal"
    return "mul_sum" if one < other else "again"


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "Find the mistake",
    predict=Choice.ranges(
        "What is the median in the last row of the table that this program prints, divided by the median in the first "
        "row?",
        (2, 10),
        units.ratio,
    ),
    expected="a",
    wrong_reasoning="Students see different labels and think that different inputs were measured. But a label is only "
    "a text, and the statement used the same input.",
    fast={"turns": 3, "seconds": 0.0005},
)
def with_a_mistake(turns: int = 5, seconds: float = 0.01) -> list[Measurement]:
    """This program should measure `mul_sum` at the five sizes of step 2. It contains a mistake.

    The author first wrote the program for rows of 64 numbers, and later added the loop over five sizes. Read the code
    before you answer.
    """
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


ROWS_ALIKE = with_a_mistake.claim(
    "rows-alike",
    "with the mistake, the time in the row of a million numbers is at most 5 times the time in the row of 1 number",
    at_most=5,
    unit=units.ratio,
)
REPAIRED_GROWS = with_a_mistake.claim(
    "repaired-grows",
    "without the mistake (step 2), `mul_sum` takes at least 10 times as long on a million numbers as on 1 number",
    at_least=10,
    unit=units.ratio,
)


@with_a_mistake.explain
def _(page: Page, results: list[Measurement]) -> None:
    repaired = [each for each in page.result(five_sizes) if each.description == "mul_sum"]
    page.output(str(Compare(results)).strip(), caption="print(Compare(results))")
    wrong, right = growth(results), growth(repaired)
    page.reveal(wrong, f"Without the mistake, this quotient is {units.ratio(right.middle)}.")
    page.table(beside(results, repaired))
    page.settle(ROWS_ALIKE, wrong)
    page.settle(REPAIRED_GROWS, right)
    page.say(
        "The mistake is `globals=tensors`. The loop makes `tensor`, but each Timer receives `tensors`, which contains",
        "two rows of 64 numbers.",
        ROWS_ALIKE.words(
            held="So all five rows of the table show the time of the same call.",
            refuted="All five rows measure the same call, so a disturbance made the last row slower in this run.",
            unclear="All five rows measure the same call, but disturbances made them differ in this run.",
        ),
        "The repaired line is `globals=tensor`.",
    )
    page.say(
        "The title of a row comes from `sub_label`. torch does not check whether it describes the measured input.",
        "Make the title from the same object that you pass to `globals`. With `tensors` in both places, `Compare`",
        "would have printed a single row of 64 numbers. Look for a mistake if a larger input takes no more time.",
    )


def growth(results: Sequence[Measurement]) -> Interval:
    """Return median at the largest size ÷ median at the smallest size, as an interval that contains each repetition.

    `results` contains one measurement per size, in ascending order, for each repetition.
    """
    pairs = zip(results[:: len(SIZES)], results[len(SIZES) - 1 :: len(SIZES)], strict=True)
    return Interval.median(large.median / small.median for small, large in pairs)


def beside(wrong: Sequence[Measurement], right: Sequence[Measurement]) -> Table:
    """Return a table with the median times at each size, with the mistake and without it."""
    columns: Heads = {"row of the table": None, "with the mistake": units.seconds, "without": units.seconds}
    merged = zip(Measurement.merge(wrong), Measurement.merge(right), strict=True)
    rows = [(bad.sub_label, bad.median, good.median) for bad, good in merged]
    return Table.of("Time of `mul_sum`, with the mistake and without it", columns, rows)


lesson.key_points = (
    "Which function is faster can depend on the size and on the number of threads. Measure several of each.",
    "Find the size where the winner changes by bisection with duels. The limit in your code need not be exact.",
    "A table of medians nearly always shows a winner. A duel can also end without a winner: SAME or UNDECIDED.",
)
lesson.references = (
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "PyTorch, `torch.utils.benchmark.Compare`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "`grid` in this kit: help(harness.torch_benchmark.grid.grid)",
    "`duel` in this kit: help(harness.paired.duel.duel)",
)

if __name__ == "__main__":
    main(lesson)
