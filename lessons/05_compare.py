"""Lesson 05: which of two is faster, at which size, on how many threads, and when nobody can say.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
"""

import math
import os
import re
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch.utils.benchmark import Compare, Measurement, Timer

from harness import units
from harness.duel import Duel, Finding, duel
from harness.grid import Grid, grid
from harness.others import Others, others_watched
from harness.tables import Heads, Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, every, middle
from lessons.engine.words import yes_no

lesson = Lesson(
    __file__,
    title="Which one, where?",
    objective="Afterwards you can say at which sizes one way beats another, and when there is no winner at all.",
    minutes=15,
)


def doubt(*measured: Measurement) -> float:
    """Return how far a ratio of these medians may be off, as a fraction: half of each one's IQR."""
    return sum(each.iqr / each.median for each in measured) / 2


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.step(
    "One size",
    predict=Choice(
        "A dot product of two rows of 64 numbers. Which is faster?",
        {"a": "the two steps, mul_sum", "b": "the one product, bmm", "c": "neither by 10 %"},
    ),
    claims={"small-mul-sum": "`mul_sum` beats `bmm` on 64 numbers"},
    fast={"seconds": 0.001},
)
def one_size(
    turns: int = 5,
    seconds: float = 0.05,
) -> list[tuple[Measurement, Measurement]]:
    """The usual benchmark: two ways to do one thing, and one input. We measure each five times, in turn.

    `mul_sum` takes two steps and writes the products down in between. `bmm` is one matrix product, and
    somebody else's optimised code.
    """
    a, b = torch.rand(2, 1, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    first = Timer("mul_sum(a, b)", globals=names)
    second = Timer("bmm(a, b)", globals=names)
    return [
        (
            first.blocked_autorange(min_run_time=seconds),
            second.blocked_autorange(min_run_time=seconds),
        )
        for _ in range(turns)
    ]


@one_size.observe
def explain_one_size(page: Page, turns: list[tuple[Measurement, Measurement]]) -> None:
    rows = [(turn, mul.median, matrix.median) for turn, (mul, matrix) in enumerate(turns, 1)]
    page.table(Table.of("Medians", {"turn": units.count, "mul_sum": units.seconds, "bmm": units.seconds}, rows))
    ratios = [matrix.median / mul.median for mul, matrix in turns]
    ratio, error = every(ratios)
    middle = median(ratios)
    truth = "c" if 1 / 1.1 < middle < 1.1 else "a" if middle > 1 else "b"
    page.reveal(truth, f"`mul_sum` was {units.ratio(middle)} as fast, in the middle turn.")
    shown = f"{units.ratio(min(ratios))} to {units.ratio(max(ratios))}"
    won = page.claim("small-mul-sum", ratio, low=1, error=error, unit=units.ratio, shown=shown, remark="over all turns")
    page.say(
        f"So `mul_sum` it is, {units.ratio(middle)} as fast. Shall we write that down and go home?"
        if won.standing is Standing.HELD
        else "Here it does not win for certain, as it did where this was written. Another machine, or another moment,"
        " and another answer: that is half of this lesson.",
        "Sixty-four numbers are sixty-four numbers. Nothing was asked about sixty-five.",
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
        "From 1 number to a million: at how many of the five sizes does `bmm` win?",
        {"a": "none", "b": "some", "c": "all"},
    ),
    claims={
        "winner-changes": "on a million numbers it is `bmm` that beats `mul_sum`",
        "margin-changes": "from one size to another, the ratio of the two moves by 1.5 times or more",
    },
    fast={"turns": 3, "seconds": 0.0005},
)
def five_sizes(
    turns: int = 5,
    seconds: float = 0.01,
) -> list[Measurement]:
    """So we ask at five sizes. `Compare` makes the table of it, and goes by what each Timer was told.

    `label` is the table, `sub_label` the row, `description` the column. Measurements that agree in all three,
    and in everything else a Timer knows, are merged into one cell: here, all turns of it.
    """
    results = []
    for _ in range(turns):
        for n in (1, 64, 4096, 65_536, 1_048_576):
            results.append(timed(n, mul_sum, seconds))
            results.append(timed(n, bmm, seconds))
    return results


def bmm_wins(results: list[Measurement]) -> int:
    """Return at how many sizes the median of all turns together, which the table shows, is smaller for bmm."""
    merged = {(each.sub_label, each.description): each.median for each in Measurement.merge(results)}
    sizes = {size for size, _ in merged}
    return sum(merged[size, "bmm"] < merged[size, "mul_sum"] for size in sizes)


def ratios_by_size(results: list[Measurement]) -> list[list[float]]:
    """Return, for each size, mul_sum ÷ bmm in every turn, by medians."""
    ratios = [mul.median / matrix.median for mul, matrix in zip(results[::2], results[1::2], strict=True)]
    return [ratios[at :: len(SIZES)] for at in range(len(SIZES))]


@five_sizes.observe
def explain_five(page: Page, results: list[Measurement]) -> None:
    page.output(str(Compare(results)).strip(), caption="print(Compare(results))")
    by_size = ratios_by_size(results)
    middles = [median(ratios) for ratios in by_size]
    wins = bmm_wins(results)
    page.reveal("a" if wins == 0 else "c" if wins == len(SIZES) else "b", f"{wins} of {len(SIZES)}, by this table.")
    large, error = every(by_size[-1])
    shown = f"{units.ratio(min(by_size[-1]))} to {units.ratio(max(by_size[-1]))}"
    changes = page.claim(
        "winner-changes", large, low=1, error=error, unit=units.ratio, shown=shown, remark="as fast, over all turns"
    )
    least, most = (choose(range(len(SIZES)), key=lambda at: middles[at]) for choose in (min, max))
    moved, error = every([high / low for low, high in zip(by_size[least], by_size[most], strict=True)])
    page.claim("margin-changes", moved, low=1.5, error=error, unit=units.ratio)
    page.say(
        "Small inputs are all price of the call, and `mul_sum` makes two cheap calls where `bmm` makes one that is"
        " dear to set up. Large ones are all memory: `mul_sum` writes a million products down and reads them back,"
        " `bmm` adds them up as it goes."
        if changes.standing is Standing.HELD
        else "It could not be shown for certain here that the winner changes. Look at the ratios all the same: with"
        " size they move from the price of a call to the price of memory, and the two ways pay those differently.",
    )
    page.say(
        "PyTorch's benchmark recipe has such a grid, mul-sum against bmm in µs: [1, 1] 5.8 and 9.8, [1, 10000] 16.2",
        "and 11.4, [1024, 64] 120.8 and 81.9, [10000, 10000] 152 419 and 206 060. There the winner changes twice.",
        "Whoever had asked at one size would have been sure, and sometimes right.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Sizes and threads",
    predict=Choice(
        "All cores instead of one thread: what happens to the ratio of the two on a million numbers?",
        {"a": "it stays: both gain alike", "b": "it shifts towards mul_sum", "c": "it shifts towards bmm"},
    ),
    claims={
        "small-gain-nothing": "on 64 numbers, more threads make `mul_sum` less than 1.5 times as fast",
        "threads-move-margin": "on a million, more threads move the ratio of the two by 10 % or more",
    },
    fast={"seconds": 0.003, "turns": 1},
)
def sizes_and_threads(
    seconds: float = 0.1,
    turns: int = 3,
    rounds: int = 25,
) -> tuple[Grid, list[float], Others]:
    """Timer uses one thread unless told otherwise, and a user of torch has them all. So: sizes × threads.

    `harness.grid` makes the same Timers as we did, and lets all cells take turns, so that a bad moment of this
    machine falls on every cell a little and on no cell wholly. The smallest size then runs round by round, once with
    one thread and once with several, for a close look at what they gain it. Several threads need several free cores,
    so we watch how busy other programs keep them.
    """
    with others_watched() as others:
        cells = grid(
            {"mul_sum": mul_sum, "bmm": bmm},
            lambda n: tuple(torch.rand(2, 1, n)),
            sizes=(64, 4096, 65_536, 1_048_576),
            threads=(1, max(2, os.cpu_count() or 1)),
            label="dot product of two rows",
            min_run_time=seconds,
            turns=turns,
        )
    a, b = torch.rand(2, 1, cells.sizes[0])
    given = {"mul_sum": mul_sum, "a": a, "b": b}
    one, several = (
        Timer("mul_sum(a, b)", globals=given, num_threads=n)
        for n in cells.threads
    )  # fmt: skip
    gains = []
    for _ in range(rounds):
        one_s = one.timeit(100).mean
        gains.append(one_s / several.timeit(100).mean)
    return cells, gains, others


@sizes_and_threads.observe
def explain_threads(page: Page, found: tuple[Grid, list[float], Others]) -> None:
    cells, small_gains, others = found
    page.output(str(cells.compare()).strip(), caption="print(grid.compare())")
    page.drawing(cells.plot(), cells.svg(), name="grid", caption="Time of a call against the size, both logarithmic")
    one, several = cells.threads
    large = cells.sizes[-1]
    gains = {
        name: cells.median_s(name, large, one) / cells.median_s(name, large, several) for name in ("mul_sum", "bmm")
    }
    moved = gains["mul_sum"] / gains["bmm"]
    apart = math.exp(abs(math.log(moved)))
    error = apart * doubt(*(m for place, m in cells.cells.items() if place.size == large))
    noise = math.inf if others.crowd else 2 * apart * page.noise
    told = apart - error - noise > 1.1 or apart + error + noise < 1.1
    truth = ("a" if apart < 1.1 else "b" if moved > 1 else "c") if told else None
    gained = ", ".join(f"`{name}` {units.ratio(gain)} as fast" for name, gain in gains.items())
    page.reveal(truth, f"{several} threads made {gained}.")
    measured = cells.cells.values()
    small_gain, error_small = middle(small_gains)
    page.claim("small-gain-nothing", small_gain, high=1.5, error=error_small, unit=units.ratio)
    if (os.cpu_count() or 1) < 2:
        page.skip("threads-move-margin", "a second core; take the lesson on a machine that has one")
    else:
        page.claim("threads-move-margin", apart, low=1.1, error=error, noise=noise, unit=units.ratio)
    page.say(
        "torch shares work out only when there is enough of it (32 768 elements at least, `GRAIN_SIZE` in torch's"
        " TensorIterator.h), so small inputs gain nothing from threads.",
        "Large ones gain as far as the memory lets them, and as far as the kernel was written for it: that differs"
        " from function to function."
        if min(gains.values()) > 1
        else "Large ones gain where a core is free for each thread. Here one of the two lost: a call waits for its"
        " last thread, and where others are at work on that core, the last one comes late."
        f" Other programs used {units.number(others.cores)} cores meanwhile.",
    )
    warned = sum(each.has_warnings for each in measured)
    page.say(
        f"“(! …%)” marks {units.count(warned)} of the {len(measured)} cells: torch warns where the IQR is above 10 %."
        if warned
        else "No cell is marked with “(! …%)”: torch warns where the IQR is above 10 % of the median.",
        f"“Winner” is now a question of size and threads: {winners(cells)}.",
    )


def winners(cells: Grid) -> str:
    """Return in words which function has the smallest median, for each number of threads."""
    parts = []
    for threads in cells.threads:
        best = [cells.fastest(size, threads) for size in cells.sizes]
        words = f"{best[0]} throughout" if len(set(best)) == 1 else ", then ".join(dict.fromkeys(best))
        parts.append(f"with {units.some(threads, 'thread')} {words}")
    return "; ".join(parts)


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Where the winner changes",
    predict=Guess("Up to how many elements is `mul_sum` the faster one, on one thread?", "elements", near=3),
    claims={
        "below-it-mul-sum": "at a quarter of the size where it changes, `mul_sum` is the faster one",
        "above-it-bmm": "at four times that size, `bmm` is",
    },
    fast={"budget_s": 0.03},
)
def where(
    budget_s: float = 0.2,
) -> tuple[list[tuple[int, Duel]], list[Duel]]:
    """Somewhere between two rows of the table the winner changes. We need no more rows to find out where.

    Compare in the middle of what is left, and keep the half in which it changes. The middle is that of a
    logarithmic scale. The comparison is a duel: both functions in turn, in one process, back to back. Two more
    duels, far on either side, show whether it was worth the trouble.
    """

    def bmm_at(n: int) -> Duel:
        a, b = torch.rand(2, 1, n)
        candidate, baseline = partial(bmm, a, b), partial(mul_sum, a, b)
        return duel(candidate, baseline, budget_s=budget_s)

    found: list[tuple[int, Duel]] = []
    low, high = 64, 1_048_576
    while high > 1.25 * low:
        n = round(math.sqrt(low * high))
        found.append((n, bmm_at(n)))
        low, high = (n, high) if found[-1][1].ratio < 1 else (low, n)
    return found, [bmm_at(high // 4), bmm_at(4 * low)]


@where.observe
def explain_where(page: Page, outcome: tuple[list[tuple[int, Duel]], list[Duel]]) -> None:
    found, (quarter, fourfold) = outcome
    rows = [
        (n, each.verdict.value, each.ratio, f"{units.ratio(each.low)} and {units.ratio(each.high)}")
        for n, each in found
    ]
    heads = {"numbers": units.count, "bmm is": None, "ratio": units.ratio, "between": None}
    page.table(Table.of("A duel a row, in the order fought", heads, rows))
    low = max((n for n, each in found if each.ratio < 1), default=None)
    high = min((n for n, each in found if each.ratio >= 1), default=None)
    if low is None or high is None:
        page.reveal(None, f"One of them is ahead wherever we looked: `{'mul_sum' if high is None else 'bmm'}`.")
    else:
        page.reveal(math.sqrt(low * high), f"It changes between {units.count(low)} and {units.count(high)}.")
    # Whoever takes a wrong turn at an undecided duel never meets a clear winner on the other side.
    met = any(each.high < 1 for _, each in found) and any(each.low > 1 for _, each in found)
    for id_, each, low_, high_ in (
        ("below-it-mul-sum", quarter, -math.inf, 1.0),
        ("above-it-bmm", fourfold, 1.0, math.inf),
    ):
        if met:
            page.claim_duel(id_, each, low_, high_, remark="bmm's speed ÷ mul_sum's")
        else:
            page.claim(id_, math.nan, low_, high_, unit=units.ratio, remark="no clear winner on one side")
    walk = math.log(1_048_576 / 64) / math.log(1.25)
    verdicts = {each.verdict for _, each in found}
    page.say(
        f"It took {len(found)} sizes to find the place within a quarter. A walk through all sizes in such steps takes",
        f"{units.count(walk)}.",
        "Near the crossing the duels get closer, and some end SAME or UNDECIDED. That is no failure. It says that"
        " here it does not matter which one you take."
        if verdicts & {Finding.SAME, Finding.UNDECIDED}
        else "Every duel had a winner, even those next to the crossing: these two differ"
        f" by more than {units.percent(found[0][1].margin)} nearly everywhere.",
    )
    page.say(
        "A dispatcher is one `if` on such a size. It need not be exact, for around the crossing both are as good. It"
        " needs measuring, and on another machine measuring again. That is your exercise."
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def naps(turns: int) -> Measurement:
    timer = Timer(
        "sleep(0.001 + random() / 250)",
        "from random import random; from time import sleep",
        label="dot product of two rows",
        sub_label="naps",
        description="mul_sum",
    )
    singly = [timer.timeit(1) for _ in range(turns)]
    return next(iter(Measurement.merge(singly)))


@lesson.step(
    "What the table can wear",
    predict=Choice(
        "The coloured table is written to a file. What stands there where the screen was green?",
        {"a": "nothing, files have no colour", "b": "codes for a terminal", "c": "the word “best”"},
    ),
    claims={
        "plain-one-decimal": "as it comes, every figure has one decimal, whatever is known of it",
        "trim-four-digits": "trimmed, no figure claims more than four digits",
        "naps-warned": "a row of random naps gets a warning: its IQR is above 10 % of its median",
        "file-holds-codes": "the file holds the terminal's codes, unless it is written before `colorize`",
    },
    fast={"seconds": 0.005, "turns": 15},
)
def dressed(
    seconds: float = 0.08,
    turns: int = 30,
) -> tuple[list[Measurement], list[str], str]:
    """`Compare` has three more methods, and a table is text: `str(table)` goes into a file as well.

    To have something to warn of, one row is a nap of random length. We time each nap alone: `blocked_autorange` may
    put ten of them into one sample, and the mean of ten naps varies much less than a nap.
    """
    results = [timed(64, mul_sum, seconds), timed(64, bmm, seconds)]
    results.append(naps(turns))

    table = Compare(results)
    looks = [str(table)]
    table.trim_significant_figures()
    looks.append(str(table))
    table.highlight_warnings()
    table.colorize()
    looks.append(str(table))
    with TemporaryDirectory() as folder:
        file = Path(folder, "table.txt")
        file.write_text(str(table))
        return results, looks, file.read_text()


@dressed.observe
def explain_dressed(page: Page, outcome: tuple[list[Measurement], list[str], str]) -> None:
    results, (plain, trimmed, coloured), written = outcome
    page.output(plain.strip(), caption="str(Compare(results))")
    page.output(coloured.strip(), caption="after trim_significant_figures(), highlight_warnings() and colorize()")
    row = next(line for line in written.splitlines() if "64 numbers" in line)
    page.output(ascii(row)[1:-1], caption="one row of it, as the file has it")
    codes = written.count("\033[")
    page.reveal("b" if codes else "a", f"There are {units.count(codes)} of them in it.")
    figures = figures_in(plain)
    one = sum(len(each.partition(".")[2]) == 1 for each in figures) / len(figures)
    page.claim("plain-one-decimal", one, 1, 1, unit=units.percent, remark=f"of {len(figures)} figures")
    digits = max(len(each.replace(".", "").strip("0")) for each in figures_in(trimmed))
    page.claim("trim-four-digits", digits, high=4, unit=units.count)
    napped = results[-1]
    page.claim("naps-warned", napped.iqr / napped.median, low=0.1, unit=units.percent)
    page.claim("file-holds-codes", codes, low=1, unit=units.count, remark=f"before: {plain.count(chr(27))}")
    page.say(
        "`trim_significant_figures` shows as many digits as the middle half of the samples bears, four at most.",
        "`highlight_warnings` marks what torch would warn of. `colorize()` compares down each column, and",
        "`colorize(rowwise=True)` along each row, which is what you want when the columns are rivals.",
    )
    page.say(
        "So keep the text for the file before you colour it, or better, keep the measurements: a table is a view of",
        "them, rounded. How to keep them is lesson 06.",
    )


def figures_in(table: str) -> list[str]:
    """Return the figures in the cells of a table without colours, as they are printed."""
    cells = [line.split("|")[1:] for line in table.splitlines() if "|" in line]
    return [match[0] for row in cells for cell in row if (match := re.match(r"\d+(\.\d+)?", cell.strip()))]


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def again(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.step(
    "No difference",
    predict=Choice(
        "`again` is `mul_sum`, word for word. In how many of five rows will one of the two have the smaller median?",
        {"a": "none", "b": "one to three", "c": "four or five"},
    ),
    claims={
        "table-has-winners": "the table of medians names a winner in every row, or nearly",
        "duel-same": "the duel says that the two are within 1 % of each other: SAME",
        "duel-faster": "on 64 numbers, `mul_sum` against `bmm`: FASTER",
        "duel-slower": "`bmm` against `mul_sum`: SLOWER",
        "duel-undecided": "too little time: UNDECIDED, and no guess",
    },
    fast={"seconds": 0.0005, "budget_s": 0.1},
)
def no_difference(
    seconds: float = 0.06,
    budget_s: float = 1.5,
) -> tuple[Grid, dict[str, Duel]]:
    """Now the question that no table answers. We time the same code under two names, then let them duel.

    A duel goes on until it is clear that the candidate is faster or slower than the baseline by more than
    1 %, or that it is neither. When the time is up before that, it says so.
    """
    a, b = torch.rand(2, 1, 64)
    way, same, other = (partial(f, a, b) for f in (mul_sum, again, bmm))
    duels = {
        "again / mul_sum": duel(same, way, budget_s=budget_s),
        "mul_sum / bmm": duel(way, other, budget_s=budget_s),
        "bmm / mul_sum": duel(other, way, budget_s=budget_s),
        "again, 2 ms": duel(same, way, budget_s=0.002),
    }
    rows = grid(
        {"mul_sum": mul_sum, "again": again},
        lambda n: tuple(torch.rand(2, 1, n)),
        sizes=(1, 16, 64, 1024, 4096),
        label="the same code twice",
        min_run_time=seconds,
        turns=1,
    )
    return rows, duels


@no_difference.observe
def explain_no_difference(page: Page, outcome: tuple[Grid, dict[str, Duel]]) -> None:
    cells, duels = outcome
    pairs = [[cells.median_s(name, n) for name in ("mul_sum", "again")] for n in cells.sizes]
    digits = partial(units.seconds, digits=5)
    rows = [(n, *pair, "mul_sum" if pair[0] < pair[1] else "again") for n, pair in zip(cells.sizes, pairs, strict=True)]
    heads: Heads = {"numbers": units.count, "mul_sum": digits, "again": digits, "smaller": None}
    page.table(Table.of("Medians of the same code under two names", heads, rows))
    apart = [abs(math.log(ratio)) for ratio in cells.ratios("again", "mul_sum")]
    won = sum(each > 0 for each in apart)
    page.reveal(
        "a" if won == 0 else "b" if won <= 3 else "c",
        f"{won} of {len(apart)}. Their medians are up to {units.percent(math.expm1(max(apart)))} apart.",
    )
    fought = [(name, each.verdict.upper(), each.ratio) for name, each in duels.items()]
    heads = {"candidate / baseline": None, "verdict": None, "ratio": partial(units.ratio, digits=4)}
    page.table(Table.of("Four duels", heads, fought))
    page.claim("table-has-winners", won / len(apart), low=0.8, unit=units.percent)
    same, faster, slower, hurried = duels.values()
    for id_, found, low, high in (
        ("duel-same", same, 1 / (1 + same.margin), 1 + same.margin),
        ("duel-faster", faster, 1 + faster.margin, math.inf),
        ("duel-slower", slower, -math.inf, 1 / (1 + slower.margin)),
    ):
        rounds = f"{units.count(len(found.rounds))} rounds"
        page.claim_duel(id_, found, low, high, unit=partial(units.ratio, digits=4), remark=rounds)
    undecided = float(hurried.verdict is Finding.UNDECIDED)
    page.claim("duel-undecided", undecided, 1, 1, unit=yes_no, shown=hurried.verdict.upper())
    page.say(
        "The table has a figure for each, the figures are not equal, so the eye finds a winner: every time, also"
        " where there is none. A median has no word for “the same”."
        if won >= 0.8 * len(apart)
        else "Here some medians are equal to the last digit, which is luck: a median has no word for “the same”.",
        "Nor does the IQR help: it tells how the samples of one cell agree, not how two cells do.",
    )
    page.say(
        "The duel had that word today."
        if same.verdict is Finding.SAME
        else f"Today the duel did not get as far as that either: it says {same.verdict.upper()}, with a ratio between"
        f" {units.ratio(same.low, 4)} and {units.ratio(same.high, 4)}. In one process a function can lie in memory"
        " a little better than its double; `duel(…, twins=True)` asks in fresh processes.",
        f"It played {units.count(len(same.rounds))} rounds, each with both sides back to back, and its answer is an",
        "interval. What no interval excludes, nobody has measured.",
    )


lesson.take_along(
    "A winner is a winner at a size, on a number of threads, on a machine: measure the grid, not the point.",
    "Find a crossing by bisection, with a comparison that takes turns; dispatch on it, and do not polish it.",
    "A table of medians always shows a winner. Ask a duel whether there is one: faster, slower, same, undecided.",
)
lesson.read_on(
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "PyTorch, `torch.utils.benchmark.Compare`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "`harness.grid` and `harness.duel` in this kit: help(harness.grid.grid), help(harness.duel.duel)",
)

if __name__ == "__main__":
    lesson.main()
