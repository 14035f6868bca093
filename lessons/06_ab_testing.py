"""Lesson 06: the same code in two environments, compared without fooling oneself.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
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

import torch
from torch import Tensor
from torch.utils.benchmark import CallgrindStats, Compare, Measurement, Timer

import lessons
from harness import plots, units
from harness.noise import p95
from harness.store import Kept, keep, load, save, table
from harness.tables import Heads, Row, Table
from lessons.engine import Choice, Lesson, Page, Standing, counted, every, middle
from lessons.engine.words import change, things, yes_no

lesson = Lesson(
    __file__,
    title="The same code, two environments",
    objective="Afterwards you can compare today with yesterday, and say how often you would be wrong.",
    minutes=18,
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
def recorded() -> tuple[Kept, ...]:
    folder = Path(lessons.__path__[0], "recorded")
    return load(folder / "06_counts.jsonl")


@lesson.step(
    "Something to keep",
    predict=Choice(
        "A `Measurement` is pickled and loaded again, and so are instruction counts. Which copy equals its original?",
        {"a": "both", "b": "that of the Measurement", "c": "neither"},
    ),
    claims={
        "pickle-equal": "a pickled `Measurement` comes back equal, sample for sample",
        "counts-unequal": "pickled `CallgrindStats` come back and are not `==` to the original",
        "counts-same": "and yet not one count of theirs differs",
        "line-equal": "a line of JSON gives all of it back as well, environment included",
    },
    fast={"seconds": 0.05},
)
def kept(seconds: float = 0.2) -> dict[str, object]:
    """To compare with yesterday you need yesterday: every sample of it, and what it was measured on.

    We keep a measurement made just now in two ways. Collecting instruction counts takes a while, so those here
    were recorded before, in two environments (lesson 08 collects its own).
    """
    result, counts = measure(seconds), recorded()[0].result
    copy = pickle.loads(pickle.dumps(result))
    counts_copy = pickle.loads(pickle.dumps(counts))
    with TemporaryDirectory() as folder:
        file = Path(folder, "today.jsonl")
        save(keep([result]), file)
        return {
            "pickled": (result, copy),
            "counts": (counts, counts_copy),
            "line": file.read_text(),
            "loaded": (keep([result])[0], load(file)[0]),
        }


@kept.observe
def explain_kept(page: Page, found: dict[str, object]) -> None:
    result, copy = pair(found["pickled"])
    counts, counts_copy = pair(found["counts"])
    before, after = pair(found["loaded"])
    assert isinstance(result, Measurement)
    assert isinstance(counts, CallgrindStats)
    line = str(found["line"])
    page.output(short_json(line), caption=f"today.jsonl: one line of {units.size(len(line))}, shortened here")
    same, unequal = result == copy, counts != counts_copy
    page.reveal("a" if same and not unequal else "b" if same else "c" if unequal else None)
    page.claim("pickle-equal", float(same), 1, 1, unit=yes_no, remark=f"{units.count(len(result.times))} samples")
    page.claim("counts-unequal", float(unequal), 1, 1, unit=yes_no)
    ours = recorded()
    reread = pickle.loads(pickle.dumps(ours[0]))
    instructions = units.count(counts.counts())
    page.claim("counts-same", float(reread == ours[0]), 1, 1, unit=yes_no, remark=f"{instructions} instructions")
    page.claim("line-equal", float(before == after), 1, 1, unit=yes_no)
    page.say(
        "torch gives `CallgrindStats` no equality of their own, so `==` asks whether they are one object. `Kept`, in"
        " `harness.store`, compares what is in them.",
        "A pickle is short to write and bound to the classes of this torch, and loading one runs what is in it. JSON"
        " lines are longer, and whatever reads text can read them in ten years.",
    )
    without = ours[1].result
    assert isinstance(without, CallgrindStats)
    more = without.counts() / counts.counts() - 1
    page.say(
        f"The recorded counts are of `x * y` on 128 floats, a hundred times: {instructions} instructions with vector",
        f"instructions, {change(more)} without. Their file says where: {ours[0].environment.describe()}, Callgrind.",
    )


def pair(value: object) -> tuple[object, object]:
    """Return the two things that a step has put side by side."""
    assert isinstance(value, tuple)
    first, second = value
    return first, second


def short_json(line: str) -> str:
    """Return the fields of a kept line, one a line, long values cut."""
    fields = json.loads(line)
    shown = {name: json.dumps(value) for name, value in fields.items()}
    return "\n".join(f"{name:>15}  {text if len(text) < 58 else text[:55] + '...'}" for name, text in shown.items())


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def here(env: str, seconds: float) -> Kept:
    timer = Timer(
        "x.sigmoid()",
        globals={"x": torch.rand(10_000)},
        label="sigmoid",
        description="10 000 numbers",
        env=env,
        timer=thread_time,
    )
    result = timer.blocked_autorange(min_run_time=seconds)
    return keep([result])[0]


@lesson.given
def there(env: str, seconds: float, **settings: str) -> Kept:
    code = f"""if True:
        import gc, importlib, pickle, sys
        gc.disable()  # importing torch is quicker so
        lesson = importlib.import_module("lessons.06_ab_testing")
        gc.freeze()  # and ending as well
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
    assert isinstance(result, Kept)
    return result


@lesson.step(
    "Two environments, one table",
    predict=Choice(
        "Two results of the same statement go to `Compare`, and nobody said `env=`. How many rows are there?",
        {"a": "two", "b": "one", "c": "none, it refuses"},
    ),
    claims={
        "merged": "without `env=`, the results of two environments become one row",
        "told-apart": "with it, they are two",
        "prints-differ": "the fingerprints of the two environments differ",
        "plain-slower": "without vector instructions the same statement takes 1.2 times as long, or more",
    },
    fast={"seconds": 0.05},
)
def two_environments(seconds: float = 0.3) -> list[Kept]:
    """The same code in two environments: this process, and another one that may not use vector instructions.

    torch reads that from `ATEN_CPU_CAPABILITY` when it starts. The other one sends its result and its
    environment as a pickle. Each goes to a file of its own, and then both are loaded. The clock is this thread's own
    CPU time, for the two are measured at different moments.
    """
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "a.jsonl"), Path(folder, "b.pkl")
        save([here("A: as it comes", seconds)], one)
        plain = {"ATEN_CPU_CAPABILITY": "default"}
        save([there("B: no vectors", seconds, **plain)], other)
        return [*load(one), *load(other)]


@two_environments.observe
def explain_environments(page: Page, results: list[Kept]) -> None:
    first, second = results
    one, other = (each.result for each in results)
    assert isinstance(one, Measurement)
    assert isinstance(other, Measurement)
    nameless = [unnamed(each) for each in (one, other)]
    page.output(str(table(results)).strip(), caption="harness.store.table(results)")
    merged, apart = (len(rows_of(str(shown))) for shown in (Compare(nameless), table(results)))
    page.reveal("b" if merged == 1 else "a")
    page.claim("merged", merged, 1, 1, unit=things("row"))
    page.claim("told-apart", apart, 2, 2, unit=things("row"))
    prints = [each.environment.fingerprint() for each in results]
    page.claim("prints-differ", float(prints[0] != prints[1]), 1, 1, unit=yes_no, shown=" and ".join(prints))
    (a_low, a_high), (b_low, b_high) = (quartiles(each) for each in (one, other))
    ratio, error = every([b_low / a_high, b_high / a_low])
    shown = f"{units.ratio(other.median / one.median)} by the medians"
    slower = page.claim("plain-slower", ratio, low=1.2, error=error, unit=units.ratio, shown=shown)
    page.say(
        f"A and B differ (A's comes first) in {'; '.join(first.environment.differences(second.environment))}.",
        "A fingerprint is short for all that is known to move a timing: versions, processor, cores, and such settings.",
        "Keep it beside every figure, for “it got slower” is often “it was measured elsewhere”.",
    )
    page.say(
        "`Compare` merges whatever agrees in all that Timer was told. So without a name for the environment, it takes"
        " the two for replicates and prints a median that was measured nowhere.",
        "The table has no way to say so."
        if slower.standing is Standing.HELD
        else "Here the two hardly differ, so the mixture would look right. Some processors have one kernel only.",
    )
    page.say("And this was A first and then B. Was it the environment, or the moment? On to that.")


def quartiles(result: Measurement) -> tuple[float, float]:
    """Return the first and the third quartile of the samples, in seconds."""
    low, _, high = quantiles(result.times, n=4, method="inclusive") if len(result.times) > 1 else [result.median] * 3
    return low, high


def unnamed(result: Measurement) -> Measurement:
    """Return the result as it had been, had nobody told Timer about the environment."""
    return replace(result, task_spec=replace(result.task_spec, env=None))


def rows_of(text: str) -> list[str]:
    """Return the rows of torch's table, without its head."""
    return [line for line in text.splitlines() if "|" in line][1:]


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


WINDOW = 40
"""Turns of one comparison: 20 of A and 20 of B."""

ORDERS = {
    "back to back": "A" * (WINDOW // 2) + "B" * (WINDOW // 2),
    "in turn, ABAB": "AB" * (WINDOW // 2),
    "in turn, ABBA": "ABBA" * (WINDOW // 4),
}


@lesson.step(
    "The same against the same",
    predict=Choice(
        "A and B are the same code, first A is measured, then B. Over many such comparisons, which one looks slower?",
        {"a": "nearly always A", "b": "nearly always B", "c": "now A, now B", "d": "neither, they come out equal"},
    ),
    claims={
        "back-to-back-errs": "back to back, the same code usually errs more than when the two take turns",
        "both-signs": "it errs in both directions: sometimes A looks faster, sometimes B",
    },
    fast={"turns": 5_000},
)
def same_again(turns: int = 40_000) -> list[float]:
    """An A/A test: compare A with B in every detail, but let both be A. All that comes out is error.

    We time the same call again and again. Then we say afterwards which turns were A's and which were B's: 20
    and then 20, or taking turns. So all orders are judged by the same record, and only the order differs.
    """
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    return timer.repeat(turns, number=10)


@same_again.observe
def explain_same(page: Page, times_s: list[float]) -> None:
    errors = {name: aa_errors(times_s, order) for name, order in ORDERS.items()}
    shown = [(name, min(each), median(each), max(each), within(each)) for name, each in errors.items()]
    heads: Heads = {"order": None, "least": change, "middle": change, "most": change}
    heads = {**heads, "95 % within": lambda share: f"±{units.percent(share)}"}
    page.table(Table.of(f"{units.count(len(next(iter(errors.values()))))} A/A tests: B ÷ A - 1", heads, shown))
    back, turn = errors["back to back"], errors["in turn, ABBA"]
    for name, each in (("back-to-back", back), ("abba", turn)):
        caption = f"B ÷ A - 1 of the same code, {name.replace('-', ' ')}"
        page.drawing(
            plots.histogram(each, unit=change), plots.histogram_svg(each, title=caption, unit=change), name=name,
            caption=caption,
        )  # fmt: skip
    later, off = (sum(found) / len(back) for found in ([x > 0 for x in back], [abs(x) >= 0.01 for x in back]))
    equal = sum(each == 0 for each in back) / len(back)
    truth = "d" if equal > 0.5 else "b" if later > 0.9 else "a" if later < 0.1 else "c"
    by = f"{units.percent(off)} of them are off by 1 % or more"
    page.reveal(truth, f"B looks slower in {units.percent(later)} of the comparisons, and {by}.")
    times, error = middle([math.log(max(abs(x), 1e-6) / max(abs(y), 1e-6)) for x, y in zip(back, turn, strict=True)])
    low, high = (units.ratio(math.exp(end)) for end in (times - error, times + error))
    errs = page.claim(
        "back-to-back-errs", times, low=0, error=error, unit=exponent, shown=f"{low} to {high}", remark=
        "in the middle of all tests",
    )  # fmt: skip
    page.claim(
        "both-signs",
        later,
        0.1,
        0.9,
        error=counted(later, len(back)),
        unit=units.percent,
        remark="of the times it is B",
    )
    page.say(
        "What one moment does to A, the next does not do to B, and nothing in the two figures tells. Back to back"
        " lets the machine change between the sides; taking turns, it changes under both."
        if errs.standing is Standing.HELD
        else "Today the order made no certain difference: this machine kept still, or was disturbed in bursts as short"
        " as a turn. It is the slow changes that taking turns cancels.",
        "So an A/A test is the first thing to do on a machine. This one has nothing to say below",
        f"±{units.percent(within(back))} back to back, and in turn nothing below ±{units.percent(within(turn))}.",
    )


def within(errors: Sequence[float]) -> float:
    """Return what 95 % of the errors stay below in size."""
    return p95([abs(each) for each in errors])


def exponent(value: float) -> str:
    """Return what a logarithm is the logarithm of, as a ratio."""
    return units.ratio(math.exp(value))


def aa_errors(times_s: Sequence[float], order: str) -> list[float]:
    """Return B ÷ A - 1, by medians, of each window of turns, dealt out in this order."""
    windows = [times_s[start : start + WINDOW] for start in range(0, len(times_s) - WINDOW + 1, WINDOW)]
    return [
        median(s for s, side in zip(window, order, strict=True) if side == "B")
        / median(s for s, side in zip(window, order, strict=True) if side == "A")
        - 1
        for window in windows
    ]


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


DRIFT = 0.04
"""How much longer the list of step 4 gets with each turn, as a share of its first length."""


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
        "A and B are the same, and everything gets slower all the time. Which order finds no difference?",
        {"a": "AAAA BBBB", "b": "ABAB", "c": "ABBA"},
    ),
    claims={
        "blocks-blame-b": "all of A and then all of B: B looks 10 % slower, or more",
        "turns-leave-a-step": "ABAB: B still looks 1 % slower, or more, for it is always the later one",
        "abba-cancels": "ABBA: the difference is below one percent",
    },
    fast={"rounds": 100},
)
def drifting(rounds: int = 300) -> dict[str, list[float]]:
    """Here the drift is ours: a list that grows by 4 % of its first length with every turn, and a sum of it.

    There are three orders, 32 turns each, and each order in many rounds, since the machine has drifts of its own.
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


@drifting.observe
def explain_drift(page: Page, found: Mapping[str, list[float]]) -> None:
    middles = {name: middle(values) for name, values in found.items()}
    shown = [(name, middles[name][0], by_growth(order)) for name, order in orders().items()]
    heads = {"order": None, "B ÷ A - 1": change, "from the growth alone": change}
    page.table(Table.of(f"The middle of {len(next(iter(found.values())))} rounds", heads, shown))
    (blocks, blocks_error), (turns, turns_error), (abba, abba_error) = middles.values()
    best = min(middles, key=lambda name: abs(middles[name][0]))
    page.reveal("abc"[list(middles).index(best)], f"It is off by {change(middles[best][0])}.")
    page.claim("blocks-blame-b", blocks, low=0.1, error=blocks_error, unit=change)
    page.claim("turns-leave-a-step", turns, low=0.01, error=turns_error, unit=change)
    cancels = page.claim("abba-cancels", abba, -0.01, 0.01, error=abba_error, unit=change)
    page.say(
        "Taking turns takes away all of the drift but one step. In ABBA each side is the later one as often as the"
        " earlier one, and the step goes too"
        + ("." if cancels.standing is Standing.HELD else ", as far as this machine's own unrest lets us see."),
        "A drift that is no straight line leaves a little; drawing the order at random for each pair leaves nothing to"
        " depend on, and that is what `harness.duel` does.",
    )


def by_growth(order: str) -> float:
    """Return B ÷ A - 1 that comes of the growing list alone, each turn costing in proportion to its length."""
    spent = {side: sum(1 + DRIFT * turn for turn, each in enumerate(order) if each == side) for side in "AB"}
    return round(spent["B"] / spent["A"] - 1, 12)


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def t_test(values: list[float]) -> list[bool]:
    says = []
    sums = accumulate(values)
    squares = accumulate(x * x for x in values)
    both = zip(sums, squares, strict=True)
    for n, (total, square) in enumerate(both, start=1):
        variance = (square - total * total / n) / max(1, n - 1)
        error = math.sqrt(max(variance, 1e-30) / n)
        says.append(n >= 10 and total / n > 1.645 * error)
    return says


@lesson.given
def bet(values: list[float]) -> list[bool]:
    capital, says = 1.0, []
    for x in values:
        capital *= 1.5 if x > 0 else 0.5
        says.append(capital >= 25)
    return says


@lesson.step(
    "Peeking",
    predict=Choice(
        "A test errs once in 20. We ask after each of 100 pairs, and stop at the first yes. How often does it err?",
        {"a": "once in 20", "b": "up to twice in 20", "c": "more often"},
    ),
    claims={
        "one-look-keeps": "asked once, at the end, the test errs in less than 10 %",
        "peeking-errs": "asked after each pair, it errs at least twice as often",
        "bet-keeps": "the bet errs in less than 5 %, though it is asked after each pair, too",
    },
    fast={"tests": 1500, "pairs": 300},
)
def peeking(
    tests: int = 4000,
    pairs: int = 1000,
) -> dict[str, list[list[bool]]]:
    """Pairs come one by one, and we would like to stop as soon as it is clear that B is slower.

    The pairs are real: one call timed twice in a row. Which of the two is called B is drawn each time, so the
    truth is “no difference”. Two rules look at them: the t-test of the textbooks, which errs once in 20
    when asked once, and a bet on “B is slower”, in which half of a capital is staked every time.
    """
    a, b = torch.rand(2, 256, 64)
    names = {"a": a, "b": b, "mul_sum": mul_sum}
    timer = timeit.Timer("mul_sum(a, b)", globals=names)
    times = timer.repeat(2 * pairs, number=5)
    both = zip(times[::2], times[1::2], strict=True)
    real = [math.log(y / x) for x, y in both]

    said: dict[str, list[list[bool]]] = {"t-test": [], "bet": []}
    for _ in range(tests):
        drawn = [choice((-1, 1)) * choice(real) for _ in range(100)]
        said["t-test"].append(t_test(drawn))
        said["bet"].append(bet(drawn))
    return said


@peeking.observe
def explain_peeking(page: Page, said: Mapping[str, list[list[bool]]]) -> None:
    tests = len(said["t-test"])
    once = sum(says[-1] for says in said["t-test"]) / tests
    peeked = share_by(said["t-test"])
    bets = share_by(said["bet"])
    looks = (10, 20, 50, 100)
    heads = {"asked after": None, **{f"{look} pairs": units.percent for look in looks}}
    shown: list[Row] = [
        ("t-test, this once", *(sum(says[look - 1] for says in said["t-test"]) / tests for look in looks)),
        ("t-test, each time until then", *(peeked[look - 1] for look in looks)),
        ("bet, each time until then", *(bets[look - 1] for look in looks)),
    ]
    page.table(Table.of(f"Said that B is slower, out of {units.count(tests)} tests of equals", heads, shown))
    page.reveal("a" if peeked[-1] < 0.07 else "b" if peeked[-1] <= 0.11 else "c", f"{units.percent(peeked[-1])}.")
    page.claim("one-look-keeps", once, high=0.1, error=counted(once, tests), unit=units.percent)
    times = peeked[-1] / max(once, 1 / tests)
    error = times * math.hypot(*(counted(share, tests) / max(share, 1 / tests) for share in (peeked[-1], once)))
    page.claim("peeking-errs", times, low=2, error=error, unit=units.ratio)
    keeps = page.claim("bet-keeps", bets[-1], high=0.05, error=counted(bets[-1], tests), unit=units.percent)
    page.say(
        "Each look is another chance to be fooled. A rule that errs once in 20 errs, when asked often enough, as often"
        " as you like: nobody who stops at the first yes ever reports a no."
    )
    page.say(
        "The bet may be watched. If B is not slower, its coin is fair, and no way of staking makes 25 out of 1 on a",
        "fair coin with more than 1 in 25, however long one plays."
        if keeps.standing is Standing.HELD
        else "fair coin with more than 1 in 25; so many tests are not enough to show it.",
        "For 1 in 100 let it get to 100. And as it asks only who was slower, no outlier sways it.",
        "`harness.duel` peeks as well. It plans how often, and pays for each look beforehand (`harness/decide.py`).",
    )


def share_by(said: Sequence[Sequence[bool]]) -> list[float]:
    """Return, after each look, the share of tests that have said yes at it or before."""
    ever = [list(accumulate(says, max)) for says in said]
    return [sum(column) / len(said) for column in zip(*ever, strict=True)]


lesson.take_along(
    "Keep every sample with the environment it was made in, and name the environment, or a table will mix them.",
    "Run A against A first. Then let A and B take turns, in an order that no drift can take sides with.",
    "Decide beforehand when to look, or use evidence that may be watched. Whoever peeks and stops is always right.",
)
lesson.read_on(
    "PyTorch, `torch.utils.benchmark`, `Compare` and `env=`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "Ramdas and others 2023, “Game-theoretic statistics and safe anytime-valid inference”: arxiv.org/abs/2210.01948",
    "`harness.store` and `harness.decide` in this kit",
)

if __name__ == "__main__":
    lesson.main()
