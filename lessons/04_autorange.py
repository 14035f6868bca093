"""Lesson 04: how many calls make one sample, and how sure the answer is.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
"""

import math
import os
import subprocess
import sys
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness import units
from harness.others import Others, others_watched
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, every
from lessons.engine.words import change

lesson = Lesson(
    __file__,
    title="How many calls make one sample?",
    objective="Afterwards you can say how long to time a piece of code, and how sure you are of the answer.",
    minutes=12,
)


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


@lesson.step(
    "One call on a stopwatch",
    predict=Choice(
        "The same call on the same numbers: how long does the slowest take, against the usual one?",
        {"a": "less than 1.5 times", "b": "1.5 to 5 times", "c": "more than 5 times"},
    ),
    claims={"single-calls-differ": "the slowest of many single calls takes 1.5 times the usual one, or more"},
    fast={"calls": 1000},
)
def one_call(calls: int = 5000) -> tuple[list[float], list[float]]:
    """Two ways to take the dot product of 256 pairs of rows, and some random rows to do it with.

    The first idea for timing one of them: look at the clock, call, look again. We do it many times over, and
    each time we look once more with nothing in between, to learn what looking costs.
    """
    a, b = torch.rand(2, 256, 64)
    calls_s, nothing_s = [], []
    for _ in range(calls):
        start = perf_counter()
        mul_sum(a, b)
        stop = perf_counter()
        again = perf_counter()
        calls_s.append(stop - start)
        nothing_s.append(again - stop)
    return calls_s, nothing_s


@one_call.observe
def explain_one_call(page: Page, timed: tuple[list[float], list[float]]) -> None:
    calls_s, nothing_s = timed
    usual_s, slowest_s, looking_s = median(calls_s), max(calls_s), median(nothing_s)
    times = slowest_s / usual_s
    page.histogram(calls_s, name="single-calls", caption=f"{units.count(len(calls_s))} single calls, each timed alone")
    page.reveal("a" if times < 1.5 else "b" if times <= 5 else "c", f"{units.ratio(times)} the usual call.")
    page.claim("single-calls-differ", times, low=1.5, unit=units.ratio)
    page.say(
        f"Half of the calls took at most {units.seconds(usual_s)}, one took {units.seconds(slowest_s)}.",
        "Nobody asked for that one: the machine did something else in between."
        if times >= 1.5
        else "A quiet machine today. Do not count on it.",
        f"And looking at the clock took {units.seconds(looking_s)}, {units.percent(looking_s / usual_s)}",
        "of a call, which is within every figure above.",
    )
    page.say("So a sample should hold more than one call. How many? That is this lesson.")


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def how_many_calls(page: Page) -> Guess:
    usual_s = median(page.result(one_call)[0])
    return Guess(f"One call took about {units.seconds(usual_s)}. At how many calls does `autorange` stop?", "calls")


@lesson.step(
    "One long run",
    predict=how_many_calls,
    claims={
        "run-is-long": "`autorange` ends with one run of 0.2 s or more",
        "search-is-dear": "finding that run takes nearly as many calls as the run itself",
    },
)
def one_long_run() -> list[tuple[int, float]]:
    """Python's own answer to that is `timeit.Timer.autorange`.

    It tries 1, 2, 5, 10, 20, 50 … calls until one try lasts 0.2 s (`Lib/timeit.py`), and gives back that
    last try. We note every try on the way.
    """
    tries: list[tuple[int, float]] = []
    timer = timeit.Timer("mul_sum(a, b)", globals=names())
    timer.autorange(callback=lambda calls, s: tries.append((calls, s)))
    return tries


@one_long_run.observe
def explain_long_run(page: Page, tries: list[tuple[int, float]]) -> None:
    calls, run_s = tries[-1]
    searched = sum(calls for calls, _ in tries[:-1])
    shown = [*tries[:-1:3], tries[-1]]
    columns = {"calls": units.count, "took": units.seconds, "per call": units.seconds}
    page.table(Table.of("Every third try, and the last", columns, [(n, s, s / n) for n, s in shown]))
    page.reveal(calls, f"They took {units.seconds(run_s)}, so {units.seconds(run_s / calls)} each.")
    page.claim("run-is-long", run_s, low=0.2, unit=units.seconds)
    page.claim(
        "search-is-dear",
        searched / calls,
        0.7,
        1.0,
        unit=units.percent,
        remark=f"{units.count(searched)} thrown away",
    )
    first_s, per_call_s = tries[0][1], run_s / calls
    slower = units.ratio(first_s / per_call_s)
    page.say(
        f"The very first call took {units.seconds(first_s)}, {slower} the later average:"
        if first_s > 1.5 * per_call_s
        else "The first call was no slower than the rest, warm from step 1; elsewhere it would have been:",
        "the tries before the last one are a warm-up as well as a search.",
    )
    page.say(
        f"And the answer is one number. {units.count(calls)} calls went into it, quiet ones and disturbed",
        "ones, and nothing is left to tell them apart. More calls make it smoother, never more talkative.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "Many short ones",
    predict=Choice(
        "How wide is the middle half of the blocks (the IQR), as a part of their median?",
        {"a": "under 1 %", "b": "1 to 10 %", "c": "over 10 %"},
    ),
    claims={
        "one-run-no-spread": "one run has no spread to show",
        "blocks-have-spread": "blocks of the same calls do",
        "clock-is-small": "the clock's own share of a block is below the 0.1 % of torch's manual",
        "blocks-waste-less": "the search costs a smaller part of the time than `autorange`'s did",
    },
    fast={"seconds": 0.2},
)
def many_blocks(
    seconds: float = 1.0,
) -> tuple[Measurement, list[Measurement], float, list[float]]:
    """PyTorch's answer is `blocked_autorange`: cut the run into blocks, and keep the time of every block.

    A block must be long beside the clock and short beside the run. It tries 1, 10, 100 … calls until the
    clock takes a ten-thousandth of a block at most (`_estimate_block_size` in
    `torch/utils/benchmark/utils/timer.py`).
    """
    timer = Timer("mul_sum(a, b)", globals=names())
    one_run = timer.timeit(1000)

    start = perf_counter()
    blocks = timer.blocked_autorange(min_run_time=seconds)
    spent_s = perf_counter() - start

    again = timer.blocked_autorange(min_run_time=seconds / 5)
    clock_s = timeit.repeat(number=0, repeat=1000)
    return one_run, [blocks, again], spent_s, clock_s


@many_blocks.observe
def explain_blocks(page: Page, run: tuple[Measurement, list[Measurement], float, list[float]]) -> None:
    one_run, (blocks, again), spent_s, clock_s = run
    spread = blocks.iqr / blocks.median
    blocks_of = f"{units.count(len(blocks.times))} blocks of {units.count(blocks.number_per_run)} calls"
    page.histogram(blocks.times, name="blocks", caption=f"{blocks_of}, time per call")
    page.reveal(
        "a" if spread < 0.01 else "b" if spread <= 0.1 else "c",
        f"Median {units.seconds(blocks.median)}, IQR {units.percent(spread)} of it.",
    )
    page.claim("one-run-no-spread", one_run.iqr / one_run.median, 0, 0, unit=units.percent)
    page.claim("blocks-have-spread", spread, low=1e-4, unit=units.percent)
    block_s = median(blocks.raw_times)
    share, error = every([median(clock_s) / median(each.raw_times) for each in (blocks, again)])
    aims = "torch's code aims below 0.01 %"
    page.claim("clock-is-small", share, high=1e-3, error=error, unit=units.percent, remark=aims)
    tries = page.result(one_long_run)
    run_waste = sum(s for _, s in tries[:-1]) / tries[-1][1]
    waste = spent_s / sum(blocks.raw_times) - 1
    there = f"there {units.percent(run_waste)}"
    page.claim("blocks-waste-less", waste, high=run_waste, unit=units.percent, remark=there)
    page.say(
        f"A block lasts {units.seconds(block_s)} and the clock {units.seconds(median(clock_s))}. Shorter",
        "blocks: more samples, a larger share to the clock. Longer ones: fewer samples. That is the bargain.",
        f"Asked again, it chose {units.count(again.number_per_run)} calls: a hiccup while it searches makes a"
        " short block look long enough."
        if again.number_per_run != blocks.number_per_run
        else "Asked again, it chose the same number of calls.",
    )
    page.say(warning_words(spread))
    page.say(
        "For comparison: PyTorch's benchmark recipe prints, for a product like ours on larger rows, 395.0 µs",
        "from “1 measurement, 1000 runs”. It may be a good figure. Nobody can tell.",
    )


def warning_words(spread: float) -> str:
    """Return what torch says about such an IQR; its limits are in `torch/utils/benchmark/utils/common.py`."""
    if spread > 0.25:
        return "Above 25 %, torch warns of “significant environmental influence”. Believe it, and measure again."
    if spread > 0.1:
        return "Above 10 %, torch warns that this “could indicate system fluctuation”. It does."
    return "torch warns when the IQR is above 10 %, and more loudly above 25 %. Here it has nothing to say."


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
WHY_MOVED = {
    "a": (
        "A block is hit or it is not, and most are not. The mean adds the hit ones in; the median asks only",
        "which block stands in the middle, and the hit ones are all at one end.",
    ),
    "b": (
        "The median moved more, against what we announced: so many blocks were hit that the middle one was",
        "among them. A median shrugs off only what hits less than half of the samples.",
    ),
    "c": (
        "They stayed together in every round: the neighbours found room beside us. It takes a machine whose",
        "cores are all taken to feel them.",
    ),
    None: (
        "The rounds do not agree, or the neighbours were not felt for sure, so this run says nothing about it. When",
        "a machine is busy by itself, ours are a few among many. Try again when it is quieter.",
    ),
}


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


@lesson.step(
    "A loud neighbour",
    predict=Choice(
        "Which figure do the neighbours move more?",
        {"a": "the mean", "b": "the median", "c": "both about alike"},
    ),
    claims={
        "neighbour-is-felt": "busy neighbours move the mean up",
        "median-moves-less": "beside them, the median moves up less than the mean",
    },
    fast={"rounds": 3, "seconds": 0.08},
)
def beside_neighbours(
    rounds: int = 5,
    seconds: float = 0.25,
) -> tuple[list[tuple[Measurement, Measurement]], Others]:
    """Now we make the disturbance ourselves: two processes a core, busy for 20 of every 100 milliseconds.

    They are busy all at once. They are started here and ended here, and end by themselves should we be
    unable to. Quiet and loud take turns, so that whatever else the machine is doing today falls on both,
    and how much that is we watch: beside a crowd, ours are a few among many.
    """
    timer = Timer("mul_sum(a, b)", globals=names())
    pairs, used = [], []
    for _ in range(rounds):
        with others_watched() as others:
            quiet = timer.blocked_autorange(min_run_time=seconds)
        with neighbours(lifetime_s=10):
            loud = timer.blocked_autorange(min_run_time=seconds)
        pairs.append((quiet, loud))
        used.append(others.cores)
    return pairs, Others(median(used))


@beside_neighbours.observe
def explain_neighbours(page: Page, found: tuple[list[tuple[Measurement, Measurement]], Others]) -> None:
    pairs, others = found
    means = [loud.mean / quiet.mean - 1 for quiet, loud in pairs]
    medians = [loud.median / quiet.median - 1 for quiet, loud in pairs]
    for name, side in (("quiet", 0), ("loud", 1)):
        samples = [time for pair in pairs for time in pair[side].times]
        page.histogram(samples, name=name, caption=f"{name}: {units.count(len(samples))} blocks, time per call")
    rows = [(name, min(x), median(x), max(x)) for name, x in (("mean", means), ("median", medians))]
    shown = {"": None, "least": change, "middle": change, "most": change}
    page.table(Table.of(f"Moved by the neighbours, over {len(pairs)} rounds", shown, rows))

    mean, middle = median(means), median(medians)
    further = [x - y for x, y in zip(means, medians, strict=True)]
    (felt, felt_error), (apart, apart_error) = every(means), every(further)
    moved, sure = which_moved(further), felt - felt_error > page.noise
    truth = moved if (sure or moved == "c") and not others.crowd else None
    page.reveal(truth, f"In the middle round, the mean moved by {change(mean)}, the median by {change(middle)}.")
    crowd, further_by = math.inf if others.crowd else 0.0, "between the two"
    page.claim("neighbour-is-felt", felt, low=0, error=felt_error, noise=page.noise + crowd, unit=change)
    page.claim("median-moves-less", apart, low=0, error=apart_error, noise=crowd, unit=change, remark=further_by)
    page.say(*WHY_MOVED[truth])
    warned = sum(loud.has_warnings for _, loud in pairs)
    page.say(
        f"torch's own warning came in {warned} of the {len(pairs)} loud rounds.",
        "The IQR leaves out the slowest quarter, so it is blind to neighbours that hit fewer blocks:"
        " keep the samples, and look at them."
        if warned < len(pairs)
        else "That is what it is for.",
    )


def which_moved(further: list[float]) -> str | None:
    """Return the option that every round agrees on; `further` is how much further the mean moved in each."""
    if max(map(abs, further)) < 0.02:
        return "c"
    return "a" if min(further) > 0 else "b" if max(further) < 0 else None


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "Until the answer is steady",
    predict=Choice(
        "Each answer is to be steady within 5 %. How far apart will the medians for `mul_sum` lie?",
        {"a": "within 1 %", "b": "1 to 5 % apart", "c": "more than 5 % apart"},
    ),
    claims={
        "steady-is-quick": "an answer that became steady took less than half the time of step 3",
        "answers-differ": "steady answers lie twice as far apart as their own blocks explain, or more",
        "mul-sum-wins": "`mul_sum` beats `bmm` at this size, whichever turn we look at",
    },
    fast={"times": 3, "limit": 0.15},
)
def until_steady(
    times: int = 5,
    limit: float = 0.3,
) -> tuple[list[Measurement], list[Measurement]]:
    """How long is long enough? `adaptive_autorange` lets the samples say.

    It adds blocks, four at least, until the IQR is a small part of the median. We ask the same question
    several times over, and ask it about `bmm` in between.
    """
    ask_sum = Timer("mul_sum(a, b)", globals=names())
    ask_bmm = Timer("bmm(a, b)", globals=names())
    sums, bmms = [], []
    for _ in range(times):
        sums.append(ask_sum.adaptive_autorange(0.05, max_run_time=limit))
        bmms.append(ask_bmm.adaptive_autorange(0.05, max_run_time=limit))
    return sums, bmms


FEWEST_BLOCKS = 4
"""`adaptive_autorange` calls no answer steady that has fewer: it ran out of time."""
FEWEST_STEADY = 3
"""Of fewer answers that became steady, nothing is said about how long that takes."""
ROOM = 2 * FEWEST_BLOCKS
"""How many blocks must fit into half the time of step 3, or an answer cannot show that it needs less."""


@until_steady.observe
def explain_steady(page: Page, answers: tuple[list[Measurement], list[Measurement]]) -> None:
    sums, bmms = answers
    page.table(turns("mul_sum", sums))
    page.table(turns("bmm", bmms))

    far = apart(sums)
    page.reveal("a" if far < 0.01 else "b" if far <= 0.05 else "c", f"They lie {units.percent(far)} apart.")
    whole_s = sum(page.result(many_blocks)[1][0].raw_times)
    steady = became_steady(sums)
    quick, error = part_spent(steady, whole_s)
    noise = 0.0 if math.isnan(quick) else quick * page.noise
    page.claim("steady-is-quick", quick, high=0.5, error=error, noise=noise, unit=units.percent, remark="of that time")
    times, error, explained = wandered(steady)
    blocks_say = f"they explain {units.percent(explained)}"
    differ = page.claim("answers-differ", times, low=2, error=error, unit=units.ratio, remark=blocks_say)
    ratio, error = every([bm.median / mul.median for mul, bm in zip(sums, bmms, strict=True)])
    page.claim("mul-sum-wins", ratio, low=1, error=error, noise=ratio * page.noise, unit=units.ratio)
    impatient = len(sums) - len(steady)
    page.say(
        f"{impatient} of the {len(sums)} ran out of patience and never were steady. Nobody tells: check."
        if impatient
        else "All of them became steady in time.",
        "The IQR tells how the blocks of one moment agree, and knows nothing of the next moment.",
        "Here the machine changed in between, and the answers wandered further than it said. To stop as soon"
        " as things look calm is to pick the calm moments."
        if differ.standing is Standing.HELD
        else "Here the moments were much alike, and what the blocks said was near the truth. Few machines are so.",
    )
    page.say(
        f"In the turns here, `bmm` took {units.ratio(ratio)} as long as `mul_sum`. Whether two such answers differ at",
        "all is lesson 05, where both are measured in turn.",
    )


def became_steady(answers: list[Measurement]) -> list[Measurement]:
    """Return the answers that `adaptive_autorange` ended because they were steady, not because the time was over."""
    return [each for each in answers if len(each.times) >= FEWEST_BLOCKS and each.iqr / each.median < 0.05]


def part_spent(steady: list[Measurement], whole_s: float) -> tuple[float, float]:
    """Return how long steady answers took, as a part of `whole_s`, and the doubt about it; NaN where it says nothing.

    How long an answer takes depends on how restless the machine is; one or two answers are too few to show that. If a
    block is long, the time is that of the four blocks that torch always takes, on any machine.
    """
    blocks = [seconds for each in steady for seconds in each.raw_times]
    if len(steady) < FEWEST_STEADY or max(blocks) * ROOM > whole_s / 2:
        return math.nan, 0.0
    return every([sum(each.raw_times) / whole_s for each in steady])


def turns(name: str, answers: list[Measurement]) -> Table:
    """Return the answers about one function as a table, one row a turn."""
    rows = [(each.median, each.iqr / each.median, len(each.times), sum(each.raw_times)) for each in answers]
    return Table.of(
        f"{name}, one row a turn",
        {"median": units.seconds, "IQR": units.percent, "blocks": units.count, "time spent": units.seconds},
        rows,
    )


def apart(answers: list[Measurement]) -> float:
    """Return how far the largest median lies above the smallest, as a fraction of it; NaN of no answers."""
    medians = [each.median for each in answers]
    return max(medians) / min(medians) - 1 if medians else math.nan


RANGES = {2: (1.13, 0.04, 3.17), 3: (1.69, 0.30, 3.68), 4: (2.06, 0.59, 3.98), 5: (2.33, 0.85, 4.20)}
"""Of the range of so many normal values: its mean, and between what it lies 95 times in 100, all in standard deviations
(d₂ of control charts, and percentage points of the range)."""


def by_chance(answers: list[Measurement]) -> tuple[float, float, float]:
    """Return how far apart, as a fraction, medians lie when all blocks are of one kind, and within which multiples.

    The median of n normal values strays by 1.25/√n of their deviation, and an IQR is 1.35 deviations. 95 times in 100
    what is seen lies between the second and the third of what is returned, times the first. NaN where nothing is known:
    of fewer than two answers, and of answers without a spread, since most of them are one block each.
    """
    if len(answers) < 2:
        return math.nan, 1.0, 1.0
    mean, least, most = RANGES[len(answers)]
    strays = median(each.iqr / each.median / 1.35 * 1.25 / math.sqrt(len(each.times)) for each in answers)
    return mean * strays or math.nan, least / mean, most / mean


def wandered(answers: list[Measurement]) -> tuple[float, float, float]:
    """Return how many times as far apart answers lie as chance explains, the doubt about that, and what it explains."""
    explained, least, most = by_chance(answers)
    times = apart(answers) / explained
    if math.isnan(times):
        return times, 0.0, explained
    # Few answers may lie close by chance as well as far apart: the doubt is on the side on which the claim is.
    doubt = max(times, 0.1) * (1 / least - 1) if times < 2 else times * (1 - 1 / most)
    return times, doubt, explained


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "One slow statement",
    predict=Choice(
        "How many samples does the first of the two give?",
        {"a": "one", "b": "two or three", "c": "four or more, or there would be no IQR"},
    ),
    claims={
        "slow-gives-one": "a statement slower than `min_run_time` gives a single sample",
        "nobody-warns": "and no warning comes with it",
        "longer-cures": "time for six of them gives four samples or more",
    },
    fast={"statement_s": 0.04, "min_run_time": 0.03},
)
def one_slow_statement(
    statement_s: float = 0.3,
    min_run_time: float = 0.2,
) -> tuple[Measurement, Measurement]:
    """Last, something slow; a sleep stands for it.

    The usual `min_run_time` of `blocked_autorange` is 0.2 s. We ask once with a limit shorter than the
    statement, and once with time for six of them.
    """
    timer = Timer(f"time.sleep({statement_s})", setup="import time")
    usual = timer.blocked_autorange(min_run_time=min_run_time)
    longer = timer.blocked_autorange(min_run_time=6 * statement_s)
    return usual, longer


@one_slow_statement.observe
def explain_slow(page: Page, runs: tuple[Measurement, Measurement]) -> None:
    usual, longer = runs
    samples = len(usual.times)
    truth = "a" if samples == 1 else "b" if samples < 4 else "c"
    page.reveal(truth, f"Each took {units.seconds(usual.median)}.")
    page.claim("slow-gives-one", samples, 1, 1, unit=units.count)
    page.claim("nobody-warns", float(usual.has_warnings), 0, 0, unit=lambda warned: "one came" if warned else "none")
    page.claim("longer-cures", len(longer.times), low=4, unit=units.count)
    page.say(
        f"The IQR of a single sample is {units.seconds(usual.iqr)}, which looks perfect. torch prints no",
        "IQR below four samples, yet `.iqr` gives it to any program that asks. Count the samples before",
        f"believing it: `len(m.times)` was {samples} here, and {len(longer.times)} with more time.",
    )


lesson.take_along(
    "Enough calls in a sample that the clock's share is small, and no more: spend the time on samples.",
    "Keep every sample. Median and IQR resist what hits few of them; a picture shows what they leave out.",
    "Many samples of one moment are one moment. Ask again later, and count samples before trusting an IQR.",
)
lesson.read_on(
    "Python, `timeit.Timer.autorange`: docs.python.org/3/library/timeit.html",
    "PyTorch, `torch.utils.benchmark`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
)

if __name__ == "__main__":
    lesson.main()
