"""Lesson 06: compare the same code in two environments, and find out how often such a comparison is wrong.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

import json
import math
import os
import pickle
import subprocess
import sys
import timeit
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from random import choice
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import CallgrindStats, Compare, Measurement, Timer

import lessons
from harness.charts import plots
from harness.charts.pictures import histogram_svg
from harness.paired.noise import p95
from harness.rendering import units
from harness.rendering.tables import Heads, Row, Table
from harness.torch_benchmark.result_store import Result, SavedResult, load, save, table, with_environment
from lessons.engine import Choice, Interval, Lesson, Page, smallest
from lessons.engine.command import main
from lessons.engine.words import change, things, yes_no

lesson = Lesson(
    __file__,
    objective="You can compare today's measurement with yesterday's, and know how often such a comparison is wrong.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def measure(seconds: float) -> Measurement:
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = Timer("mul_sum(a, b)", globals=names, env="today")
    return timer.blocked_autorange(min_run_time=seconds)


@lesson.given
def recorded() -> tuple[SavedResult, ...]:
    folder = Path(lessons.__path__[0], "recorded")
    return load(folder / "06_counts.jsonl")


@lesson.given
class Copies(NamedTuple):
    result: Measurement
    result_copy: Measurement
    counts: Result
    counts_copy: Result
    line: str
    saved: SavedResult
    loaded: SavedResult


@lesson.step(
    "Save results for later",
    predict=Choice(
        "We pickle a `Measurement` and a `CallgrindStats` object (instruction counts), and load both again. For which "
        "of the two objects is `copy == original` true?",
        {"a": "for both", "b": "for the Measurement only", "c": "for neither"},
    ),
    expected="b",
    wrong_reasoning="Students think that a copy always equals its original. But `==` compares identity if a class "
    "does not define equality, although the contents are the same.",
    fast={"seconds": 0.05},
)
def kept(seconds: float = 0.2) -> Copies:
    """To compare a result with yesterday's result, you need yesterday's samples and a description of the machine.

    We measure a function and save the result in two ways: as a pickle (Python's own format), and as a line of JSON. We
    also save instruction counts as a pickle. Callgrind needs a long time to count instructions, so these counts were
    recorded earlier, in two environments. In lesson 08, you count instructions on your own machine.

    By default, `==` of two Python objects is true only if both are the same object. A class that defines `__eq__` can
    compare the contents instead.
    """
    result, counts = measure(seconds), recorded()[0].result
    result_copy = pickle.loads(pickle.dumps(result))
    counts_copy = pickle.loads(pickle.dumps(counts))
    with TemporaryDirectory() as folder:
        file = Path(folder, "today.jsonl")
        (saved,) = with_environment([result])
        save([saved], file)
        (loaded,) = load(file)
        line = file.read_text()
    return Copies(
        result, result_copy, counts, counts_copy, line, saved, loaded
    )  # fmt: skip


PICKLE_EQUAL = kept.claim(
    "pickle-equal", "a `Measurement` that was pickled and loaded equals the original", equals=True, unit=yes_no
)
COUNTS_UNEQUAL = kept.claim(
    "counts-unequal",
    "`CallgrindStats` that were pickled and loaded are not equal to the original, compared with `==`",
    equals=True,
    unit=yes_no,
)
COUNTS_SAME = kept.claim(
    "counts-same",
    "`CallgrindStats` that were pickled and loaded contain the same counts as the original",
    equals=True,
    unit=yes_no,
)
LINE_EQUAL = kept.claim(
    "line-equal",
    "a measurement that was saved with its environment as a line of JSON and loaded equals the original",
    equals=True,
    unit=yes_no,
)


@kept.explain
def _(page: Page, copies: Copies) -> None:
    result, counts = copies.result, copies.counts
    assert isinstance(counts, CallgrindStats)
    size = units.size(len(copies.line))
    page.output(short_json(copies.line), caption=f"today.jsonl: one line of {size}, shortened for this page")
    equal, counts_equal = result == copies.result_copy, counts == copies.counts_copy
    page.reveal(equal_copies(equal, counts_equal))
    usual, plain = recorded()
    instructions = units.count(counts.counts())
    page.settle(PICKLE_EQUAL, equal, remark=f"{units.count(len(result.times))} samples")
    page.settle(COUNTS_UNEQUAL, not counts_equal)
    (counts_again,) = with_environment([copies.counts_copy], usual.environment)
    page.settle(COUNTS_SAME, counts_again == usual, remark=f"{instructions} instructions")
    page.settle(LINE_EQUAL, copies.saved == copies.loaded)
    page.say(
        "`CallgrindStats` does not define `__eq__`, so `==` only checks whether both sides are the same object.",
        "`SavedResult`, in `harness.torch_benchmark.result_store`, compares the contents.",
    )
    page.say(
        "A pickle is easy to write, but a program that loads it needs the same classes. Loading a pickle can run any",
        "code, so load only pickles that you trust. A line of JSON contains only data, and many programs can read it.",
    )
    assert isinstance(plain.result, CallgrindStats)
    more = plain.result.counts() / counts.counts() - 1
    page.say(
        f"The recorded program computes `x * y` on 128 floats a hundred times and needs {instructions} instructions",
        "with torch's usual kernels (its compiled loops). With kernels that do not use AVX, the number of instructions",
        f"changes by {change(more)}. The file of the counts also describes the machine:",
        f"{usual.environment.describe()}.",
    )


def equal_copies(measurement: bool, counts: bool) -> str | None:
    """Return the letter of the right answer to the question of step 1, or None if only the counts are equal."""
    if counts:
        return "a" if measurement else None
    return "b" if measurement else "c"


def short_json(line: str) -> str:
    """Return the fields of a line of JSON, one per line, with long values shortened."""
    fields = json.loads(line)
    shown = {name: json.dumps(value) for name, value in fields.items()}
    return "\n".join(f"{name:>15}  {text if len(text) < 58 else text[:55] + '...'}" for name, text in shown.items())


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
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


@lesson.given
def elsewhere(env: str, seconds: float, **settings: str) -> SavedResult:
    code = f"""if True:
        import gc, importlib, pickle, sys
        gc.disable()  # makes the import of torch faster
        lesson = importlib.import_module("lessons.06_ab_testing")
        gc.freeze()  # makes the end of the process faster
        gc.enable()
        result = lesson.here({env!r}, {seconds})
        sys.stdout.buffer.write(pickle.dumps(result))
    """
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        check=True,
    )
    result = pickle.loads(run.stdout)
    assert isinstance(result, SavedResult)
    return result


@lesson.given
class Results(NamedTuple):
    a: SavedResult
    b: SavedResult


@lesson.step(
    "Two environments, one table",
    predict=Choice(
        "We measure one statement in two environments, without `env=`, and pass both measurements to `Compare`. How "
        "many rows does the table of `Compare` have?",
        {"a": "none, it raises an error", "b": "one", "c": "two"},
        limits=(1, 2),
    ),
    expected="b",
    wrong_reasoning="Students think that two measurements give two rows. But `Compare` recognizes a row by its "
    "labels, and here all labels are equal.",
    fast={"seconds": 0.05},
)
def two_environments(seconds: float = 0.3) -> Results:
    """We run the same code in two environments: in this process (A), and in a second process (B).

    Process B starts with the setting `ATEN_CPU_CAPABILITY=default`. torch then uses its plain kernels: loops that are
    compiled without AVX instructions. Process B sends its result and a description of its environment back as a pickle.
    We save the results of A and B to files, and load the two results again.

    A and B run at different times, so another program may disturb only one of them. We therefore measure the CPU time
    of the thread instead of wall-clock time.
    """
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "a.jsonl"), Path(folder, "b.jsonl")
        save([here("A: usual kernels", seconds)], one)
        plain = {"ATEN_CPU_CAPABILITY": "default"}
        save([elsewhere("B: plain kernels", seconds, **plain)], other)
        return Results(*load(one), *load(other))


MERGED = two_environments.claim(
    "merged",
    "without `env=`, `Compare` merges the results of two environments into one row",
    equals=1,
    unit=things("row"),
)
SEPARATE = two_environments.claim(
    "told-apart", "with `env=`, `Compare` prints one row for each of two environments", equals=2, unit=things("row")
)
PRINTS_DIFFER = two_environments.claim(
    "prints-differ", "the descriptions of the two environments have different fingerprints", equals=True, unit=yes_no
)
PLAIN_SLOWER = two_environments.claim(
    "plain-slower",
    "`x.sigmoid()` takes at least 1.2 times as long with torch's plain kernels (without AVX) as with the usual ones",
    at_least=1.2,
    unit=units.ratio,
)


@two_environments.explain
def _(page: Page, results: Results) -> None:
    one, other = (each.result for each in results)
    assert isinstance(one, Measurement)
    assert isinstance(other, Measurement)
    nameless = [unnamed(each) for each in (one, other)]
    page.output(str(table(results)).strip(), caption="The table of both results, made with `Compare` and `env=`")
    merged, separate = (len(rows_of(str(shown))) for shown in (Compare(nameless), table(results)))
    page.reveal(merged)
    page.settle(MERGED, merged)
    page.settle(SEPARATE, separate)
    prints = [each.environment.fingerprint() for each in results]
    page.settle(PRINTS_DIFFER, prints[0] != prints[1], shown=" and ".join(prints))
    (a_low, a_high), (b_low, b_high) = (quartiles(each) for each in (one, other))
    by_medians = f"{units.ratio(other.median / one.median)} by the medians"
    page.settle(PLAIN_SLOWER, Interval.every([b_low / a_high, b_high / a_low]), remark=by_medians)
    differences = "; ".join(results.a.environment.differences(results.b.environment))
    page.say(
        PRINTS_DIFFER.words(
            held=f"The environments differ in {differences} (the value of A is the first one).",
            refuted="The environments do not differ: process A also has the setting `ATEN_CPU_CAPABILITY=default`.",
            unclear="",
        ),
        "A fingerprint is a short code for properties that can change times: versions, the processor, its cores, and",
        "settings such as `ATEN_CPU_CAPABILITY`. Save the fingerprint with each result.",
        "Without the fingerprint, you cannot know whether the code became slower or the environment changed.",
    )
    page.say(
        "Without `env=`, `Compare` treats the results of both environments as repetitions of one measurement. "
        "`Compare` merges the samples",
        "of both results and prints one median. Nothing in the table shows that the samples come from two",
        "environments.",
        PLAIN_SLOWER.words(
            held="",
            refuted=f"In this run, B took less than {units.ratio(PLAIN_SLOWER.at_least)} as long as A. For some "
            "processors, torch has only one kind of kernel.",
            unclear="This run does not show how much the speeds of the two environments differ.",
        ),
    )
    page.say(
        "In this step, we measured A first and B later. If the machine became slower between the two measurements, B "
        "looks slower than A. The next two",
        "steps show how to avoid this error.",
    )


def quartiles(result: Measurement) -> tuple[float, float]:
    """Return the first and the third quartile of the samples, in seconds."""
    low, _, high = quantiles(result.times, n=4, method="inclusive") if len(result.times) > 1 else [result.median] * 3
    return low, high


def unnamed(result: Measurement) -> Measurement:
    """Return a copy of the result without the name of its environment."""
    return replace(result, task_spec=replace(result.task_spec, env=None))


def rows_of(text: str) -> list[str]:
    """Return the rows of a table that `Compare` printed, without its header."""
    return [line for line in text.splitlines() if "|" in line][1:]


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
WINDOW = 40
"""The number of measured times in one comparison: 20 of A and 20 of B."""

ORDERS = {
    "back to back": "A" * (WINDOW // 2) + "B" * (WINDOW // 2),
    "alternating, ABAB": "AB" * (WINDOW // 2),
    "alternating, ABBA": "ABBA" * (WINDOW // 4),
}
"""The orders in which the times of one comparison are assigned to A and B."""

NOTICEABLE = 0.01
"""The smallest error of an A/A test that a reader would take for a real difference, as a fraction."""


@lesson.step(
    "The same code against itself",
    predict=Choice(
        "A and B are the same code. We measure A and then B, and repeat this comparison many times. In what share of "
        "the comparisons does B look slower than A?",
        {"a": "less than 10 %: A nearly always looks slower", "b": "10 % to 90 %", "c": "90 % or more"},
        limits=(0.1, 0.9),
    ),
    expected="b",
    wrong_reasoning="Students expect B to be slower always or never. But the machine changes in both directions "
    "between two measurements.",
    fast={"turns": 5_000},
)
def same_again(turns: int = 40_000) -> list[float]:
    """An A/A test compares a piece of code with itself, so each difference that it measures is an error.

    We time the same call again and again. Then we assign the times to A and B: first 20 to A and then 20 to B (back to
    back), or alternately. The three orders use the same measured times.
    """
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    return timer.repeat(turns, number=10)


BACK_TO_BACK_ERRS = same_again.claim(
    "back-to-back-errs",
    "the error of an A/A test is usually larger back to back than in ABBA order",
    at_least=1,
    unit=units.ratio,
)
BOTH_SIGNS = same_again.claim(
    "both-signs",
    "back-to-back A/A tests err in both directions: B looks slower in 10 % to 90 % of these tests",
    at_least=0.1,
    at_most=0.9,
    unit=units.percent,
)


@same_again.explain
def _(page: Page, times_s: list[float]) -> None:
    errors = {name: aa_errors(times_s, order) for name, order in ORDERS.items()}
    back, turn = errors["back to back"], errors["alternating, ABBA"]
    show_errors(page, errors)
    slower = b_slower(back)
    off = units.percent(sum(abs(x) >= NOTICEABLE for x in back) / len(back))
    page.reveal(slower, f"In {off} of the comparisons, A and B differ by {units.percent(NOTICEABLE)} or more.")
    # ABAB and ABBA both alternate, so most of the difference between their errors is chance.
    chance = log_ratio(errors["alternating, ABAB"], turn)
    page.settle(
        BACK_TO_BACK_ERRS,
        log_ratio(back, turn).widened(max(abs(chance.low), abs(chance.high))).mapped(math.exp),
        remark="error back to back ÷ error in ABBA order, median",
    )
    page.settle(BOTH_SIGNS, slower)
    page.say(
        "If the machine becomes slower between A and B, only the time of B increases. The two times do not show why "
        "the time of B is longer.",
        BACK_TO_BACK_ERRS.words(
            held="If A and B alternate, a slow change of the machine's speed affects both A and B, so the error is"
            " smaller.",
            refuted="In this run, the order ABBA did not help. Alternation cancels only slow changes of the machine's "
            "speed, not quick changes between neighbouring times.",
            unclear="This run does not show that the order of A and B matters. ABBA cancels only slow changes of the "
            "machine's speed.",
        ),
    )
    page.say(
        "Run an A/A test before you compare two versions of code. An A/A test shows which differences are too small to",
        f"be measured on this machine. In this run, {units.percent(TAIL)} of the A/A tests had an error below",
        f"{units.percent(within(back))} back to back, and below {units.percent(within(turn))} in ABBA order.",
    )


def log_ratio(errors: Sequence[float], others: Sequence[float]) -> Interval:
    """Return the median of log(|error| / |other error|) over pairs of errors."""
    ratios = (math.log(max(abs(x), 1e-6) / max(abs(y), 1e-6)) for x, y in zip(errors, others, strict=True))
    return Interval.median(ratios)


def show_errors(page: Page, errors: Mapping[str, Sequence[float]]) -> None:
    """Print a table of the A/A tests' errors for each order, and histograms of the errors for two of the orders."""
    rows = [(name, min(each), median(each), max(each), within(each)) for name, each in errors.items()]
    heads: Heads = {"order": None, "smallest": change, "middle": change, "largest": change}
    heads = {**heads, "95 % within": lambda share: f"±{units.percent(share)}"}
    number = units.count(len(errors["back to back"]))
    page.table(Table.of(f"Error (time of B ÷ time of A - 1) in {number} A/A tests", heads, rows))
    for name, order in (("back-to-back", "back to back"), ("abba", "alternating, ABBA")):
        caption = f"Errors of the A/A tests, {order}"
        drawing = histogram_svg(errors[order], title=caption, unit=change)
        page.drawing(plots.histogram(errors[order], unit=change), drawing, name=name, caption=caption)


TAIL = 0.95
"""The share of the errors that do not exceed the limit that `within` returns."""


def within(errors: Sequence[float]) -> float:
    """Return the limit that the absolute values of 95 % of the errors do not exceed."""
    return p95([abs(each) for each in errors])


def b_slower(errors: Sequence[float]) -> Interval:
    """Return the share of comparisons in which B looks slower than A. Comparisons without a difference do not count."""
    different = [each for each in errors if each]
    return Interval.share(sum(each > 0 for each in different), len(different))


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
DRIFT = 0.04
"""The growth of the list in step 4 after each measurement, as a fraction of its first length."""


@lesson.given
def orders() -> dict[str, str]:
    return {
        "AAAA BBBB": "A" * 16 + "B" * 16,
        "ABAB": "AB" * 16,
        "ABBA": "ABBA" * 8,
    }


@lesson.step(
    "Drift",
    predict=Choice(
        "A and B are the same code, and this code becomes slower with each measurement. Which order of A and B shows "
        "the smallest difference?",
        {"a": "AAAA BBBB", "b": "ABAB", "c": "ABBA"},
    ),
    expected="c",
    wrong_reasoning="Students think that alternating orders are all equally good. But in ABAB, B is always measured "
    "after A, so a steady drift still counts against B.",
    fast={"rounds": 100},
)
def drifting(rounds: int = 300) -> dict[str, list[float]]:
    """A slow change of the machine in one direction is called drift. In this step, we cause such a drift ourselves.

    A and B both add up the same list. After each measurement, the list grows by 4 % of its first length. We try three
    orders of 32 measurements. We repeat each order many times, because the speed of the machine also changes by itself.
    """
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


BLOCKS_BLAME_B = drifting.claim(
    "blocks-blame-b",
    "with drift, the order AAAA BBBB makes B look at least 10 % slower than A",
    at_least=0.1,
    unit=change,
)
TURNS_LEAVE_A_STEP = drifting.claim(
    "turns-leave-a-step",
    "with drift, the order ABAB makes B look at least 1 % slower than A",
    at_least=0.01,
    unit=change,
)
ABBA_CANCELS = drifting.claim(
    "abba-cancels",
    "with drift, the order ABBA shows a difference of less than 1 %",
    at_least=-0.01,
    at_most=0.01,
    unit=change,
)


@drifting.explain
def _(page: Page, found: dict[str, list[float]]) -> None:
    medians = {name: Interval.median(values) for name, values in found.items()}
    rows = [(name, medians[name].middle, by_growth(order)) for name, order in orders().items()]
    heads = {"order": None, "B ÷ A - 1": change, "expected from the growth": change}
    number = units.count(len(next(iter(found.values()))))
    page.table(Table.of(f"Difference between A and B, median of {number} rounds", heads, rows))
    page.reveal(smallest(dict(zip("abc", map(size_of, medians.values()), strict=True))))
    for claim, interval in zip((BLOCKS_BLAME_B, TURNS_LEAVE_A_STEP, ABBA_CANCELS), medians.values(), strict=True):
        page.settle(claim, interval)
    page.say(
        "In the order AAAA BBBB, all later and slower measurements belong to B. In the order ABAB, each B comes "
        "directly after an A, so each B is slower by one step of the drift. In ABBA, A and B come first equally often, "
        "so a steady",
        "drift cancels.",
        ABBA_CANCELS.words(
            held="",
            refuted="In this run, ABBA showed a difference between A and B. ABBA cancels only a steady drift, but the "
            "speed of the machine can also change by itself.",
            unclear="The noise of this machine is too large to show whether ABBA cancels the drift.",
        ),
    )
    page.say(
        "If the drift is not steady, its effects on A and B need not cancel completely. If each pair of measurements "
        "has a random order, A and B come first equally often on average. Then no pattern of the drift favours A or B",
        "on average. `harness.paired.duel` uses such a random order.",
    )


def size_of(difference: Interval) -> Interval:
    """Return the interval of the absolute value of `difference`."""
    ends = sorted(map(abs, (difference.low, difference.high)))
    nearest = 0.0 if difference.low <= 0 <= difference.high else ends[0]
    return Interval(abs(difference.middle), nearest, ends[1])


def by_growth(order: str) -> float:
    """Return the relative difference (time of B ÷ time of A - 1) that the growth of the list alone would cause.

    The list grows after each measurement of A or B. We assume that a time is proportional to the list's length.
    """
    spent = {side: sum(1 + DRIFT * turn for turn, each in enumerate(order) if each == side) for side in "AB"}
    return round(spent["B"] / spent["A"] - 1, 12)


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def t_limit(pairs: int) -> float:
    freedom = pairs - 1
    return 1.645 + 1.524 / freedom + 1.42 / freedom**2


@lesson.given
def t_test(values: list[float]) -> list[bool]:
    says = []
    sums = accumulate(values)
    squares = accumulate(x * x for x in values)
    both = zip(sums, squares, strict=True)
    for n, (total, square) in enumerate(both, start=1):
        variance = (square - total * total / n) / max(1, n - 1)
        error = math.sqrt(max(variance, 1e-30) / n)
        says.append(n >= 10 and total / n > t_limit(n) * error)
    return says


@lesson.given
def bet(values: list[float]) -> list[bool]:
    capital, says = 1.0, []
    for x in values:
        capital *= 1.5 if x > 0 else 0.5
        says.append(capital >= 25)
    return says


@lesson.given
class Decisions(NamedTuple):
    t_test: list[list[bool]]
    bet: list[list[bool]]


@lesson.step(
    "Peeking",
    predict=Choice.ranges(
        "If a t-test is evaluated once, it wrongly reports a difference in at most about 5 % of comparisons. Now we "
        "evaluate the t-test after each of up to 100 pairs, and stop at the first reported difference. In what share "
        "of comparisons is this t-test wrong?",
        (0.06, 0.09),
        units.percent,
    ),
    expected="c",
    wrong_reasoning="Students think that more looks at the data make a test safer. But each look is one more chance "
    "for a false alarm.",
    fast={"tests": 1500, "pairs": 300},
)
def peeking(
    tests: int = 4000,
    pairs: int = 1000,
) -> Decisions:
    """We measure A and B in pairs. After each pair, we check whether B is clearly slower. This is called peeking.

    For each pair, we time the same call twice in a row, and assign the two times to A and B at random. There is no true
    difference between A and B, so each report of a difference is a false alarm. For each comparison, we draw 100 of the
    measured pairs, so a pair is in many comparisons.

    Two rules decide after each pair of times whether B is slower. The first rule is a t-test, which needs at least 10
    pairs. With the limit `t_limit`, a single evaluation of the t-test gives a false alarm in at most about 5 % of
    comparisons. The second rule starts with a capital of 1, and bets half of its capital on “B is slower” in each
    pair. This rule reports a difference when the capital reaches 25.
    """
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    times = timer.repeat(2 * pairs, number=5)
    both = zip(times[::2], times[1::2], strict=True)
    real = [math.log(y / x) for x, y in both]

    said = Decisions([], [])
    for _ in range(tests):
        drawn = [choice((-1, 1)) * choice(real) for _ in range(100)]
        said.t_test.append(t_test(drawn))
        said.bet.append(bet(drawn))
    return said


ONE_LOOK_KEEPS = peeking.claim(
    "one-look-keeps",
    "a t-test that is evaluated once, after 100 pairs, is wrong in less than 10 % of comparisons",
    at_most=0.1,
    unit=units.percent,
)
PEEKING_ERRS = peeking.claim(
    "peeking-errs",
    "a t-test that is evaluated after each pair is wrong at least twice as often as a t-test that is evaluated once",
    at_least=2,
    unit=units.ratio,
)
BET_KEEPS = peeking.claim(
    "bet-keeps",
    "the bet is wrong in less than 5 % of comparisons, although it is evaluated after each pair",
    at_most=0.05,
    unit=units.percent,
)


@peeking.explain
def _(page: Page, said: Decisions) -> None:
    tests = len(said.t_test)
    once = sum(says[-1] for says in said.t_test)
    peeked, bets = share_by(said.t_test), share_by(said.bet)
    page.table(false_alarms(said))
    page.reveal(
        Interval.share(peeked[-1] * tests, tests),
        f"The t-test with an evaluation after each pair was wrong in {units.percent(peeked[-1])} of the comparisons.",
    )
    page.settle(ONE_LOOK_KEEPS, Interval.share(once, tests))
    page.settle(PEEKING_ERRS, times_as_often(peeked[-1], once / tests, tests))
    page.settle(BET_KEEPS, Interval.share(bets[-1] * tests, tests))
    page.say(
        "Each evaluation of the t-test is another chance for a false alarm. With enough evaluations, a t-test that "
        "stops at the",
        "first report gives a false alarm in nearly every comparison. `t_limit` is the limit for normally distributed",
        "differences. With outliers, the t-test reports a difference less often.",
    )
    page.say(
        "The bet allows peeking. If A and B are equally fast, a win and a loss are equally likely in each bet. Then",
        "the probability that a capital of 1 ever becomes 25 is at most 1/25, however long the test runs (Ville's",
        "inequality).",
        BET_KEEPS.words(
            held="",
            refuted="In this run, the bet was wrong in more comparisons than expected. The step assigns the times at"
            " random, so only chance can explain this. Run the step again.",
            unclear="This run has too few comparisons to confirm how rarely the bet is wrong.",
        ),
        "If the rule waits until the capital is 100, the probability of a false alarm is at most 1/100. The bet uses "
        "only which of the two times is longer, so a very slow call has no more effect than any other call.",
    )
    page.say(
        "`harness.paired.duel` also evaluates its measurements several times. A duel plans the number of evaluations",
        "in advance, and divides the permitted probability of an error among them (`harness/paired/decide.py`).",
    )


def false_alarms(said: Decisions) -> Table:
    """Return a table of the shares of comparisons with a false alarm, for each rule and four numbers of pairs."""
    tests = len(said.t_test)
    peeked, bets = share_by(said.t_test), share_by(said.bet)
    looks = (10, 20, 50, 100)
    heads = {"pairs": None, **{str(look): units.percent for look in looks}}
    rows: list[Row] = [
        ("t-test, evaluated once", *(sum(says[look - 1] for says in said.t_test) / tests for look in looks)),
        ("t-test, after each pair", *(peeked[look - 1] for look in looks)),
        ("bet, after each pair", *(bets[look - 1] for look in looks)),
    ]
    return Table.of(f"False alarms in {units.count(tests)} comparisons, by number of pairs", heads, rows)


def times_as_often(often: float, rarely: float, tests: int) -> Interval:
    """Return the share `often` divided by the share `rarely`, as an interval.

    `often` and `rarely` are shares of `tests` comparisons. The interval includes the uncertainty of both shares.
    """
    least = 1 / tests
    times = often / max(rarely, least)
    doubts = (Interval.share(share * tests, tests).half_width / max(share, least) for share in (often, rarely))
    return Interval.plus_minus(times, times * math.hypot(*doubts))


def share_by(said: Sequence[Sequence[bool]]) -> list[float]:
    """Return, for each number n of pairs, the share of comparisons with a reported difference within n pairs."""
    ever = [list(accumulate(says, max)) for says in said]
    return [sum(column) / len(said) for column in zip(*ever, strict=True)]


lesson.key_points = (
    "Save all samples with their environment. Name the environment with `env=`, so that tables do not mix results.",
    (
        "First run an A/A test: compare the code with itself. Then measure A and B alternately, in ABBA or random "
        "order, so that drift affects both."
    ),
    (
        "Plan the number of evaluations in advance, or use a rule that may be evaluated after each pair. Otherwise, "
        "false alarms increase."
    ),
)
lesson.references = (
    "PyTorch, `torch.utils.benchmark`, `Compare` and `env=`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "Ramdas and others 2023, “Game-theoretic statistics and safe anytime-valid inference”: arxiv.org/abs/2210.01948",
    "This project: `harness.torch_benchmark.result_store` and `harness.paired.decide`",
)

if __name__ == "__main__":
    main(lesson)
