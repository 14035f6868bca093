"""Lesson 04: how many calls to time together as one sample, and how precise the result is.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

import math
import os
import subprocess
import sys
import timeit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Guess, Interval, Lesson, Page, Standing
from lessons.engine.command import main
from lessons.engine.words import change, part_of, things

lesson = Lesson(
    __file__,
    objective="You can decide how long to time a piece of code, and how much to trust the result.",
)

FEWEST_BLOCKS = 4
"""With fewer blocks, torch prints no IQR, `adaptive_autorange` goes on, and this lesson trusts no IQR.

If something disturbs torch's search for the length of a block, one block can be as long as the whole measurement.
"""


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.given
def names() -> dict[str, object]:
    a, b = torch.rand(2, 256, 64)
    return {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}


@lesson.given
class SingleCalls(NamedTuple):
    calls_s: list[float]
    clock_s: list[float]


@lesson.step(
    "Time each call alone",
    predict=Choice.ranges(
        "We time the same call on the same numbers many times. What is the time of the slowest call divided by the "
        "median time?",
        (1.5, 5),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that equal work takes equal time, so the slowest call is close to the median. But "
    "among many calls, some are interrupted by other work.",
    fast={"calls": 1000},
)
def one_call(calls: int = 5000) -> SingleCalls:
    """Here are two functions that compute the dot product of 256 pairs of rows, and random rows as input.

    The simplest way to time a call is to read the clock, make the call, and read the clock again. We do this many
    times. After each call, we read the clock once more, to measure how long reading the clock takes.
    """
    a, b = torch.rand(2, 256, 64)
    calls_s, clock_s = [], []
    for _ in range(calls):
        start = perf_counter()
        mul_sum(a, b)
        stop = perf_counter()
        again = perf_counter()
        calls_s.append(stop - start)
        clock_s.append(again - stop)
    return SingleCalls(calls_s, clock_s)


CALLS_DIFFER = one_call.claim(
    "single-calls-differ",
    "the slowest single call takes at least 1.5 times as long as the median call",
    at_least=1.5,
    unit=units.ratio,
)


@one_call.explain
def _(page: Page, timed: SingleCalls) -> None:
    usual_s, slowest_s, clock_s = median(timed.calls_s), max(timed.calls_s), median(timed.clock_s)
    number = units.count(len(timed.calls_s))
    page.histogram(timed.calls_s, name="single-calls", caption=f"{number} single calls, each timed separately")
    page.reveal(Interval.exact(slowest_s / usual_s))
    page.settle(CALLS_DIFFER, slowest_s / usual_s)
    page.say(
        f"The median time of a call is {units.seconds(usual_s)}, and the slowest call took {units.seconds(slowest_s)}.",
        CALLS_DIFFER.words(
            held=about_slowest(timed.calls_s.index(slowest_s)),
            refuted="In this run, no call took much longer than the median call. The next run may be different.",
            unclear="This run does not show whether other work of the machine made a call slower.",
        ),
    )
    page.say(
        f"Reading the clock took {units.seconds(clock_s)}, which is {units.percent(clock_s / usual_s)} of the median",
        "time of a call. Each measured time of a single call includes the time of reading the clock.",
    )
    page.say(
        "A sample (one measured time) should therefore contain more than one call. This lesson shows how to choose the",
        "number of calls.",
    )


def about_slowest(place: int) -> str:
    """Return sentences that explain the slowest call. `place` is the number of calls before it."""
    if place == 0:
        return "The slowest call was the first call. Lesson 02 explains why first calls are often slow."
    return (
        f"The slowest call was call number {place + 1}. It does the same work as the other calls, so the machine"
        " probably also did other work during this call."
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def how_many_calls(page: Page) -> Guess:
    usual_s = median(page.result(one_call).calls_s)
    return Guess(
        f"A single call took about {units.seconds(usual_s)}. How many calls does the last run of `autorange` make?",
        "calls",
    )


@lesson.given
class Run(NamedTuple):
    calls: int
    seconds: float


@lesson.step(
    "One long run",
    predict=how_many_calls,
    expected="about 50 000 calls",
    depends_on="the time of a call",
    wrong_reasoning="Students divide the time of a run by the time of a call. But `autorange` only tries 1, 2, 5, 10, "
    "20, 50 … calls, and the first number that is large enough wins.",
)
def one_long_run() -> list[Run]:
    """Python's `timeit.Timer.autorange` finds a number of calls that is large enough to be timed precisely.

    `autorange` makes runs of 1, 2, 5, 10, 20, 50 … calls until one run takes at least 0.2 s (`Lib/timeit.py`). The
    method returns the number of calls and the time of this last run. We record all runs.
    """
    runs = []
    timer = timeit.Timer("mul_sum(a, b)", globals=names())
    timer.autorange(callback=lambda calls, s: runs.append(Run(calls, s)))
    return runs


LONG_ENOUGH = one_long_run.claim(
    "run-is-long", "the last run of `autorange` takes at least 0.2 s", at_least=0.2, unit=units.seconds
)
SEARCH_COSTS = one_long_run.claim(
    "search-is-dear",
    "all runs before the last run together make 70 % to 100 % as many calls as the last run",
    at_least=0.7,
    at_most=1.0,
    unit=units.percent,
)


@one_long_run.explain
def _(page: Page, runs: list[Run]) -> None:
    last, searched = runs[-1], sum(run.calls for run in runs[:-1])
    per_call_s = last.seconds / last.calls
    columns = {"calls": units.count, "time": units.seconds, "time per call": units.seconds}
    rows = [(run.calls, run.seconds, run.seconds / run.calls) for run in [*runs[:-1:3], last]]
    page.table(Table.of("Every third run of `autorange`, and the last run", columns, rows))
    page.reveal(
        last.calls, f"The last run took {units.seconds(last.seconds)}, or {units.seconds(per_call_s)} per call."
    )
    page.settle(LONG_ENOUGH, last.seconds)
    page.settle(SEARCH_COSTS, searched / last.calls, remark=f"{units.count(searched)} calls discarded")
    page.say(
        f"The first run, of a single call, took {units.ratio(runs[0].seconds / per_call_s)} as long as a call of the",
        "last run. The first call of a function is often slow, so the discarded runs are useful as a warm-up.",
    )
    page.say(
        f"The result of `autorange` is a single time for {units.count(last.calls)} calls. This time does not show",
        "whether some of the calls were disturbed. With more calls, the time per call usually varies less between",
        "runs. But a single time still has no spread.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Blocks(NamedTuple):
    one_run: Measurement
    blocks: Measurement
    again: Measurement
    spent_s: float
    clock_s: list[float]


@lesson.step(
    "Many short blocks",
    predict=Choice.ranges(
        "What is the interquartile range (IQR) of the blocks' times divided by the median of these times?",
        (0.01, 0.1),
        units.percent,
    ),
    expected="a",
    depends_on="how busy the machine is",
    wrong_reasoning="Students think of the spread of single calls and expect a large one. But a block contains many "
    "calls, so their differences cancel within the block.",
    fast={"seconds": 0.2},
)
def many_blocks(seconds: float = 1.0) -> Blocks:
    """PyTorch's `blocked_autorange` divides a run into blocks of calls, and keeps the time of each block.

    A block must be long compared with reading the clock, and short compared with the whole run. So torch tries blocks
    of 1, 10, 100 … calls until two conditions hold. First, reading the clock takes at most a ten-thousandth of the
    block's time. Second, the block takes at least a thousandth of `min_run_time`. The search also ends with a block
    that takes longer than `min_run_time`. This search is the function `_estimate_block_size` in
    `torch/utils/benchmark/utils/timer.py`. Then torch measures blocks until they together take at least `min_run_time`.
    """
    timer = Timer("mul_sum(a, b)", globals=names())
    one_run = timer.timeit(1000)

    start = perf_counter()
    blocks = timer.blocked_autorange(min_run_time=seconds)
    spent_s = perf_counter() - start

    again = timer.blocked_autorange(min_run_time=seconds / 5)
    clock_s = timeit.repeat(number=0, repeat=1000)
    return Blocks(one_run, blocks, again, spent_s, clock_s)


NO_SPREAD = many_blocks.claim("one-run-no-spread", "a single run has an IQR of zero", equals=0, unit=units.percent)
SPREAD = many_blocks.claim(
    "blocks-have-spread",
    "the IQR of the blocks' times is at least 0.01 % of their median",
    at_least=1e-4,
    unit=units.percent,
)
CLOCK_SMALL = many_blocks.claim(
    "clock-is-small",
    "reading the clock takes less than 0.1 % of the time of a block, which is the limit in torch's manual",
    at_most=1e-3,
    unit=units.percent,
)
WASTES_LESS = many_blocks.claim(
    "blocks-waste-less",
    "time of the search ÷ time of the measurement is smaller for `blocked_autorange` than for `autorange`",
    unit=units.percent,
)


@many_blocks.explain
def _(page: Page, found: Blocks) -> None:
    blocks, again, clock_s = found.blocks, found.again, median(found.clock_s)
    spread, few = blocks.iqr / blocks.median, len(blocks.times) < FEWEST_BLOCKS
    number = f"{units.some(len(blocks.times), 'block')} of {units.count(blocks.number_per_run)} calls"
    page.histogram(blocks.times, name="blocks", caption=f"{number}, time per call")
    page.output(torch_text(blocks), caption="print(blocks), without its first line")
    page.reveal(
        Interval.exact(spread).void_if(few),
        f"The median time is {units.seconds(blocks.median)} per call. The IQR is {units.percent(spread)} of it.",
    )
    page.settle(NO_SPREAD, found.one_run.iqr / found.one_run.median)
    page.settle(SPREAD, spread, disturbed=few)
    shares = Interval.every(clock_s / median(each.raw_times) for each in (blocks, again))
    page.settle(CLOCK_SMALL, shares, remark="the limit in torch's code is 0.01 %")
    *searched, last = page.result(one_long_run)
    search = sum(run.seconds for run in searched) / last.seconds
    waste = found.spent_s / sum(blocks.raw_times) - 1
    page.settle(WASTES_LESS, waste, at_most=search, remark=f"`autorange`: {units.percent(search)}", disturbed=few)
    page.say(
        "In torch's text, “Median” is the median of the blocks. The two times in brackets after “IQR” are the limits",
        "of the middle half of the blocks. The IQR is their difference. torch calls a block a “measurement”, and a",
        "call a “run”.",
    )
    page.say(
        f"A block takes {units.seconds(median(blocks.raw_times))}. Reading the clock takes {units.seconds(clock_s)}.",
        "Shorter blocks would give more samples, but reading the clock would take a larger share of the time. Longer",
        "blocks would give fewer samples.",
    )
    page.say(
        "In a second measurement with a fifth of the `min_run_time`, torch chose blocks of",
        f"{units.count(again.number_per_run)} calls. The size of the blocks depends on `min_run_time`. It can also",
        "differ between equal measurements: if other work interrupts the search, a block or the clock looks slow.",
    )
    page.say(too_few(len(blocks.times)) if few else torch_warns(spread))
    page.say(
        "For comparison: PyTorch's benchmark recipe prints 231.79 µs for a similar product on a GPU, from 1",
        "measurement. A single measurement has no spread, so the precision of this time is unknown.",
    )


def torch_text(measured: Measurement) -> str:
    """Return the text that torch prints for a measurement, without its first line (the address of the object)."""
    return "\n".join(repr(measured).splitlines()[1:])


def too_few(blocks: int) -> str:
    """Return sentences about a measurement with fewer than `FEWEST_BLOCKS` blocks."""
    return (
        f"This measurement has only {units.some(blocks, 'block')}, because a block is nearly as long as `min_run_time`."
        " So few blocks do not show how much the times of blocks differ. Run the lesson again."
    )


def torch_warns(spread: float) -> str:
    """Return sentences that state which warning torch prints for this `spread`, the IQR divided by the median.

    The limits of the warnings are in `torch/utils/benchmark/utils/common.py`.
    """
    if spread >= 0.25:
        return (
            "torch warns of “significant environmental influence”, because the IQR is 25 % of the median or more."
            " Measure again."
        )
    if spread >= 0.1:
        return "torch warns that the IQR “could indicate system fluctuation”, because it is 10 % of the median or more."
    return (
        "torch prints no warning for this IQR. It prints a warning if the IQR is 10 % of the median or more, and a"
        " stronger warning from 25 % on."
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
@contextmanager
def neighbours(lifetime_s: float) -> Iterator[None]:
    burst = f"""if True:
        from time import sleep, time
        end = time() + {lifetime_s}
        while time() < end:
            if time() % 0.1 > 0.02:
                sleep(0.001)
    """
    command = [sys.executable, "-I", "-S", "-c", burst]
    cores = os.cpu_count() or 1
    started = [subprocess.Popen(command) for _ in range(2 * cores)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


@lesson.given
class Round(NamedTuple):
    quiet: Measurement
    loud: Measurement
    others: BackgroundLoad


@lesson.step(
    "Busy neighbours",
    predict=Choice(
        "Busy neighbours are other programs on the same machine. Which do they increase more: the mean or the median "
        "of the measured times?",
        {"a": "the mean", "b": "both, at most 2 percentage points apart", "c": "the median"},
        limits=(-0.02, 0.02),
    ),
    expected="a",
    wrong_reasoning="Students think that busy neighbours slow each block equally. But they slow only some blocks, and "
    "a few slow blocks move the mean more than the median.",
    fast={"rounds": 3, "seconds": 0.08},
)
def beside_neighbours(rounds: int = 5, seconds: float = 0.25) -> list[Round]:
    """Now we disturb the measurement ourselves: this code starts two busy processes (“neighbours”) per core.

    All neighbours work at the same time, for 20 of every 100 milliseconds. After each measurement, this code ends
    its neighbours. The neighbours also end by themselves after ten seconds. Measurements with and without
    neighbours alternate, so that other programs affect both kinds of measurements alike. We also record how many
    cores other programs use, because our neighbours have little effect on a machine that is already busy.
    """
    timer = Timer("mul_sum(a, b)", globals=names())
    result = []
    for _ in range(rounds):
        with watch_background_load() as others:
            quiet = timer.blocked_autorange(min_run_time=seconds)
        with neighbours(lifetime_s=10):
            loud = timer.blocked_autorange(min_run_time=seconds)
        result.append(Round(quiet, loud, others))
    return result


FELT = beside_neighbours.claim(
    "neighbour-is-felt", "busy neighbours increase the mean time of the blocks", at_least=0, unit=change
)
MEDIAN_LESS = beside_neighbours.claim(
    "median-moves-less", "busy neighbours increase the median time less than the mean time", at_least=0, unit=change
)


class Moves(NamedTuple):
    """The increases of the mean and of the median in one round, as fractions."""

    mean: float
    median: float


@beside_neighbours.explain
def _(page: Page, rounds: list[Round]) -> None:
    moves = [Moves(loud.mean / quiet.mean - 1, loud.median / quiet.median - 1) for quiet, loud, _ in rounds]
    crowded = BackgroundLoad(median(others.cores for _, _, others in rounds)).is_high
    few = any(len(each.times) < FEWEST_BLOCKS for quiet, loud, _ in rounds for each in (quiet, loud))
    show_blocks(page, rounds)
    show_moves(page, moves)
    in_the_middle = Moves(*map(median, zip(*moves, strict=True)))
    page.reveal(
        moved_more(moves, page.noise).void_if(crowded or few),
        f"The mean changed by {change(in_the_middle.mean)} and the median by {change(in_the_middle.median)}. Both",
        "figures are medians of all rounds.",
    )
    felt = Interval.every(each.mean for each in moves).widened(page.noise).void_if(crowded)
    page.settle(FELT, felt)
    unnoticed = felt.compare(at_least=0) is not Standing.HELD
    further = Interval.every(each.mean - each.median for each in moves).widened(page.noise).void_if(unnoticed or few)
    page.settle(MEDIAN_LESS, further, remark="increase of the mean - increase of the median")
    page.say(
        MEDIAN_LESS.words(
            held="The neighbours slow some blocks more than others. The slowest blocks increase the mean. The median"
            " is the time of the middle block, so a few slow blocks hardly change it.",
            refuted="In this run, the median increased more than the mean, because the neighbours also slowed the"
            " middle block. The median is stable only if a disturbance affects fewer than half of the samples.",
            unclear="The rounds do not agree, or the neighbours had no clear effect. This run therefore does not show"
            " whether the mean or the median increases more. Run the step again when the machine is less busy.",
        ),
        FELT.words(
            held="",
            refuted="The mean did not increase, so the neighbours did not disturb this code.",
            unclear="Because of the noise of this machine, or because other programs were busy already, this run does"
            " not show either whether the mean increased.",
        ),
    )
    warned = sum(each.loud.has_warnings for each in rounds)
    page.say(
        f"torch marks {warned} of the {len(rounds)} disturbed measurements with a warning.",
        part_of(
            warned,
            len(rounds),
            none="The IQR ignores the slowest quarter of the blocks, so it can hide the effect of the neighbours.",
            some="The IQR ignores the slowest quarter of the blocks, so it does not always show the effect of the"
            " neighbours.",
            every="In each of them, a quarter of the blocks or more were clearly slower than the fastest quarter.",
        ),
        "Keep all samples, and look at them.",
    )


def show_blocks(page: Page, rounds: Sequence[Round]) -> None:
    """Print two histograms of block times: one without neighbours, and one with neighbours."""
    for name, results in (("quiet", [each.quiet for each in rounds]), ("loud", [each.loud for each in rounds])):
        samples = [time for result in results for time in result.times]
        page.histogram(samples, name=name, caption=f"{name}: {units.count(len(samples))} blocks, time per call")


def show_moves(page: Page, moves: Sequence[Moves]) -> None:
    """Print a table of the smallest, middle and largest increase of the mean and of the median."""
    figures = {"mean": [each.mean for each in moves], "median": [each.median for each in moves]}
    rows = [(name, min(values), median(values), max(values)) for name, values in figures.items()]
    columns = {"": None, "smallest": change, "middle": change, "largest": change}
    page.table(Table.of(f"Increase with neighbours, in {len(moves)} rounds", columns, rows))


def moved_more(moves: Sequence[Moves], noise: float) -> Interval:
    """Return the increase of the median minus the increase of the mean, as an interval that contains each round.

    If the mean did not increase by more than `noise` in each round, the neighbours had no clear effect. The interval
    then has no limits, unless the two increases differ by at most 2 % in each round.
    """
    more = Interval.every(each.median - each.mean for each in moves)
    together = more.compare(at_least=-0.02, at_most=0.02) is Standing.HELD
    noticed = Interval.every(each.mean for each in moves).widened(noise).compare(at_least=0) is Standing.HELD
    return more.void_if(not (together or noticed))


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Answers(NamedTuple):
    mul_sum: list[Measurement]
    bmm: list[Measurement]


@lesson.step(
    "Until the result is steady",
    predict=Choice.ranges(
        "We measure `mul_sum` several times, each time until the IQR is below 5 % of the median, or until the time is "
        "up. By what percentage is the largest of these medians above the smallest?",
        (0.01, 0.05),
        units.percent,
    ),
    expected="b",
    depends_on="how busy the machine is",
    wrong_reasoning="Students think that a steady measurement must be right. But samples taken together share the "
    "same conditions, and these can change before the next measurement.",
    fast={"times": 3, "limit": 0.15},
)
def until_steady(times: int = 5, limit: float = 0.3) -> Answers:
    """How long should a measurement take? `adaptive_autorange` decides this from the samples.

    `adaptive_autorange` measures at least four blocks, and adds blocks until the IQR is a small part of the median. The
    measurement is then called steady. If the blocks together take longer than `max_run_time`, the measurement ends even
    if it is not steady. We measure `mul_sum` and `bmm` alternately, several times each.
    """
    first = Timer("mul_sum(a, b)", globals=names())
    second = Timer("bmm(a, b)", globals=names())
    sums, bmms = [], []
    for _ in range(times):
        sums.append(first.adaptive_autorange(0.05, max_run_time=limit))
        bmms.append(second.adaptive_autorange(0.05, max_run_time=limit))
    return Answers(sums, bmms)


QUICK = until_steady.claim(
    "steady-is-quick",
    "each measurement that became steady took less than half as long as the blocks of step 3",
    at_most=0.5,
    unit=units.percent,
)
DIFFER = until_steady.claim(
    "answers-differ",
    "the range of the medians of the steady measurements is at least twice the range that chance would give",
    at_least=2,
    unit=units.ratio,
)
SUM_WINS = until_steady.claim(
    "mul-sum-wins",
    "in each repetition, `mul_sum` is faster than `bmm` on 256 pairs of rows",
    at_least=1,
    unit=units.ratio,
)

FEWEST_STEADY = 3
"""The smallest number of steady measurements from which the lesson computes how long such measurements take."""
ROOM = 2 * FEWEST_BLOCKS
"""The number of blocks that must fit into half the time of step 3.

If fewer blocks fit, the length of the blocks alone would refute the claim `steady-is-quick`.
"""


@until_steady.explain
def _(page: Page, answers: Answers) -> None:
    page.table(turns("mul_sum", answers.mul_sum))
    page.table(turns("bmm", answers.bmm))
    far = apart(answers.mul_sum)
    page.reveal(Interval.exact(far), f"The largest median is {units.percent(far)} above the smallest.")
    steady = became_steady(answers.mul_sum)
    whole_s = sum(page.result(many_blocks).blocks.raw_times)
    page.settle(QUICK, part_spent(steady, whole_s).with_noise(page.noise), remark="time ÷ time of the blocks of step 3")
    page.settle(DIFFER, wandered(steady), remark=f"chance would give {units.percent(by_chance(steady).mean)}")
    ratio = Interval.every(bmm.median / mul.median for mul, bmm in zip(*answers, strict=True))
    page.settle(SUM_WINS, ratio.with_noise(page.noise))
    page.say(
        f"{len(steady)} of the {len(answers.mul_sum)} measurements of `mul_sum` became steady in time.",
        "torch does not report that a measurement ran out of time, so compare its IQR with your limit.",
        QUICK.words(
            held="",
            refuted="",
            unclear="This run does not show how long such measurements take: too few became steady, their blocks were"
            " too long, or the machine was too noisy.",
        ),
    )
    page.say(
        "The IQR describes how much the blocks of one measurement differ. The IQR does not describe how much two",
        "measurements differ.",
        DIFFER.words(
            held="In this run, the speed of the machine changed between the measurements: their medians differ more"
            " than chance explains. A measurement that stops when its samples agree can stop at a moment without"
            " disturbances.",
            refuted="In this run, chance can explain how much the medians differ, so the speed of the machine changed"
            " little between the measurements. At other times, it can change more.",
            unclear="This run does not show whether the speed of the machine changed between the measurements. Too few"
            " measurements were steady, or their medians could differ by chance.",
        ),
    )
    page.say(
        SUM_WINS.words(
            held=f"In each repetition, `bmm` took longer than `mul_sum`: {units.ratio(ratio.low)} to"
            f" {units.ratio(ratio.high)} as long.",
            refuted=f"In each repetition, `bmm` was faster than `mul_sum`: it took {units.ratio(ratio.low)} to"
            f" {units.ratio(ratio.high)} as long.",
            unclear="This run does not show whether `bmm` or `mul_sum` is faster: the repetitions disagree, or the"
            " machine is too noisy.",
        ),
        "Lesson 05 measures the two functions in pairs, which shows small differences more clearly.",
    )


def became_steady(answers: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements that `adaptive_autorange` ended as steady, without those that ran out of time."""
    return [each for each in answers if len(each.times) >= FEWEST_BLOCKS and each.iqr / each.median < 0.05]


def part_spent(steady: Sequence[Measurement], whole_s: float) -> Interval:
    """Return the times of the steady measurements divided by `whole_s`, as an interval that contains all quotients.

    Return an unknown interval for fewer than three measurements, because they do not show the noise of the machine.
    Also return an unknown interval for long blocks, because torch always measures at least four of them.
    """
    blocks = [seconds for each in steady for seconds in each.raw_times]
    if len(steady) < FEWEST_STEADY or max(blocks) * ROOM > whole_s / 2:
        return Interval.unknown()
    return Interval.every(sum(each.raw_times) / whole_s for each in steady)


def turns(name: str, answers: Sequence[Measurement]) -> Table:
    """Return a table of the measurements of one function, one row per measurement."""
    rows = [(each.median, each.iqr / each.median, len(each.times), sum(each.raw_times)) for each in answers]
    return Table.of(
        f"`{name}`, one row per measurement",
        {"median": units.seconds, "IQR": units.percent, "blocks": units.count, "time spent": units.seconds},
        rows,
    )


def apart(answers: Sequence[Measurement]) -> float:
    """Return the largest median divided by the smallest, minus 1; NaN without measurements."""
    medians = [each.median for each in answers]
    return max(medians) / min(medians) - 1 if medians else math.nan


class Range(NamedTuple):
    """The distribution of a range (largest minus smallest value): its mean, and the limits of its middle 95 %."""

    mean: float
    least: float
    most: float


RANGES = {
    2: Range(1.13, 0.04, 3.17),
    3: Range(1.69, 0.30, 3.68),
    4: Range(2.06, 0.59, 3.98),
    5: Range(2.33, 0.85, 4.20),
}
"""The range of 2 to 5 normally distributed values, in standard deviations.

The means are the constants d₂ of control charts. The limits are percentage points of the range.
"""


def by_chance(answers: Sequence[Measurement]) -> Range:
    """Return the range that the medians would have if all blocks came from one normal distribution, as fractions.

    For n normal values, the standard error of the median is 1.25/√n standard deviations, and the IQR is 1.35 standard
    deviations. Return NaN for fewer than two measurements, and for measurements without a spread (of one block).
    """
    if len(answers) < 2:
        return Range(math.nan, math.nan, math.nan)
    error = median(each.iqr / each.median / 1.35 * 1.25 / math.sqrt(len(each.times)) for each in answers)
    return Range(*(each * (error or math.nan) for each in RANGES[len(answers)]))


def wandered(answers: Sequence[Measurement]) -> Interval:
    """Return the range of the medians divided by the range that chance would give; unknown if `by_chance` is NaN.

    By chance, a few medians can be close together or far apart. The interval is therefore wide on both sides.
    """
    chance = by_chance(answers)
    times = apart(answers) / chance.mean
    if math.isnan(times):
        return Interval.unknown()
    low, high = chance.mean / chance.most, chance.mean / chance.least
    return Interval(times, times * low, max(times, 0.1 * (1 - 1 / high)) * high)


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Slow(NamedTuple):
    usual: Measurement
    longer: Measurement


@lesson.step(
    "One slow statement",
    predict=Choice(
        "A statement takes longer than `min_run_time`. How many samples does `blocked_autorange` collect?",
        {"a": "one", "b": "two or three", "c": "four or more"},
        limits=(2, 4),
    ),
    expected="a",
    wrong_reasoning="Students expect several samples, because the method promises blocks. But one call already takes "
    "longer than the requested time.",
    fast={"statement_s": 0.04, "min_run_time": 0.03},
)
def one_slow_statement(
    statement_s: float = 0.3,
    min_run_time: float = 0.2,
) -> Slow:
    """Finally, we time a slow statement: a sleep.

    The default `min_run_time` of `blocked_autorange` is 0.2 s. In the first measurement, `min_run_time` is shorter
    than the statement. In the second measurement, it is six times as long as the statement.
    """
    timer = Timer(f"time.sleep({statement_s})", setup="import time")
    usual = timer.blocked_autorange(min_run_time=min_run_time)
    longer = timer.blocked_autorange(min_run_time=6 * statement_s)
    return Slow(usual, longer)


ONE_SAMPLE = one_slow_statement.claim(
    "slow-gives-one", "a statement that takes longer than `min_run_time` gives one sample", equals=1, unit=units.count
)
NO_WARNING = one_slow_statement.claim(
    "nobody-warns", "torch prints no warning about a single sample", equals=0, unit=things("warning")
)
LONGER_HELPS = one_slow_statement.claim(
    "longer-cures",
    "a `min_run_time` of six times the statement's time gives at least four samples",
    at_least=4,
    unit=units.count,
)


@one_slow_statement.explain
def _(page: Page, slow: Slow) -> None:
    samples = len(slow.usual.times)
    page.reveal(samples, f"The statement took {units.seconds(slow.usual.median)}.")
    page.settle(ONE_SAMPLE, samples)
    page.settle(NO_WARNING, slow.usual.has_warnings)
    # If something disturbs the search, a block contains more than one call of the statement.
    page.settle(LONGER_HELPS, len(slow.longer.times), disturbed=slow.longer.number_per_run > 1)
    page.say(
        f"`.iqr` of the first measurement is {units.seconds(slow.usual.iqr)}, which looks like perfect precision.",
        "torch prints the IQR only if there are at least four samples, but a program can always read `.iqr`.",
        f"Check the number of samples first: `len(m.times)` was {samples} in the first measurement, and",
        f"{len(slow.longer.times)} in the second.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def uneven() -> Iterator[int]:
    while True:
        for turn in range(10):
            yield sum(range(50_000 if turn == 9 else 100))


@lesson.given
class Medians(NamedTuple):
    printed: str
    single: Measurement
    one_run: Measurement
    blocks: Measurement


@lesson.step(
    "Find the mistake",
    predict=Choice.ranges(
        "What is the time that this program prints as “Median” divided by the median time of the single calls?",
        (1.5, 5),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students trust the word “Median” in the output. But a single run keeps one time for all its "
    "calls, and this time is a mean.",
    fast={"seconds": 0.05},
)
def called_median(seconds: float = 0.2) -> Medians:
    """This program prints a wrong “Median” of the time of a call.

    Nine of ten calls of `next(work)` add up 100 numbers. The tenth call adds up 50 000 numbers. The last lines of the
    program measure the same calls in two other ways: each call separately, and in blocks.
    """
    timer = Timer("next(work)", globals={"work": uneven()})
    one_run = timer.timeit(1000)
    printed = f"Median: {one_run.median * 1e6:.2f} us"

    singly = [timer.timeit(1) for _ in range(1000)]
    single = Measurement.merge(singly)[0]
    blocks = timer.blocked_autorange(min_run_time=seconds)
    return Medians(printed, single, one_run, blocks)


IS_A_MEAN = called_median.claim(
    "median-is-a-mean",
    "the “median” of one run of 1000 calls is at least 3 times the median of 1000 single calls",
    at_least=3,
    unit=units.ratio,
)
NOT_PRINTED = called_median.claim(
    "torch-omits-median",
    "torch's own text for one run does not contain the word “Median”",
    equals=0,
    unit=things("word"),
)
BLOCKS_TOO = called_median.claim(
    "blocks-are-means",
    "the median of the blocks is also at least 3 times the median of 1000 single calls",
    at_least=3,
    unit=units.ratio,
)


@called_median.explain
def _(page: Page, found: Medians) -> None:
    page.output(found.printed, caption="The output of the program with the mistake")
    page.output(torch_text(found.one_run), caption="print(one_run), without its first line")
    page.output(torch_text(found.single), caption="print(single), without its first line")
    page.output(torch_text(found.blocks), caption="print(blocks), without its first line")
    usual_s = found.single.median
    times = with_factor(found.one_run.median / usual_s, page.noise)
    page.reveal(
        times,
        f"The median of the single calls is {units.seconds(usual_s)}, and their mean is",
        f"{units.seconds(found.single.mean)}.",
    )
    page.settle(IS_A_MEAN, times)
    page.settle(NOT_PRINTED, torch_text(found.one_run).count("Median"))
    page.settle(BLOCKS_TOO, with_factor(found.blocks.median / usual_s, page.noise))
    page.say(
        "The mistake is the word “Median”. `timeit(1000)` makes one run, and keeps one time: the time of all calls.",
        "Divided by 1000, this time is the mean of the calls. The median of a single number is the number itself.",
        IS_A_MEAN.words(
            held="So `.median` contains the slow calls, although a median of the calls would ignore them.",
            refuted="In this run, the two times differ little. A possible cause is that something slowed the single"
            " calls.",
            unclear="The noise of this machine hides how much the two times differ.",
        ),
    )
    page.say(
        "To repair the program, measure each call separately, or print “mean of 1000 calls”.",
        BLOCKS_TOO.words(
            held="Blocks alone are not enough: each block time is the mean of its calls, so “Median” in torch's text is"
            " a median of means.",
            refuted="In this run, the median of the blocks was close to the median of the single calls.",
            unclear="This run does not show how much the median of the blocks differs from the median of the calls.",
        ),
        "A histogram of single calls shows whether a few calls are slow.",
    )


def with_factor(ratio: float, noise: float) -> Interval:
    """Return the interval from `ratio` ÷ (1 + `noise`) to `ratio` × (1 + `noise`)."""
    return Interval.exact(math.log(ratio)).widened(math.log1p(noise)).mapped(math.exp)


lesson.key_points = (
    "Put just enough calls into a block that the clock's share is small. Use the remaining time for more blocks.",
    "Keep all samples. A few disturbed samples hardly change the median and the IQR, but a histogram shows them.",
    "Samples taken together share the same conditions. Measure again later. Count samples before you trust an IQR.",
)
lesson.references = (
    "Python, `timeit.Timer.autorange`: docs.python.org/3/library/timeit.html",
    "PyTorch, `torch.utils.benchmark`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    main(lesson)
