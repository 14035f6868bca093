"""Lesson 02: two timers of one name, what each of them reports, and what neither of them notices.

Read it top to bottom: it is the screen's own order. Every step is teaching code, a question, and an
explanation in words that are chosen by what this machine has just measured.
"""

import math
import shlex
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterable, Sequence
from cProfile import Profile
from operator import attrgetter
from random import random
from statistics import mean, median
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness import timeit_text, units
from harness.others import Others, others_watched
from harness.tables import Table
from lessons.engine import Choice, Lesson, Page, Standing, counted, every, middle
from lessons.engine.published import LECTURE_LOOPS, LECTURE_RUNS_S, RECIPE_THREADS

lesson = Lesson(
    __file__,
    title="Two timers, one name",
    objective="Afterwards you can read the figures of `timeit` and of torch's `Timer`, and doubt them.",
    minutes=18,
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def mul_sum(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


@lesson.given
def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0]


@lesson.step(
    "The first call",
    predict=Choice(
        "For how many of the seven functions is the very first call the slowest?",
        {"a": "one at most, as by chance", "b": "two or three", "c": "four or more"},
    ),
    claims={
        "first-is-slowest": "the first call is the slowest of twenty, for most of the functions",
        "first-is-dear": "it takes twice the usual time, or more",
    },
)
def first_calls(calls: int = 20) -> dict[str, list[float]]:
    """Two ways to take the dot product of many pairs of rows. They stay with us for the whole lesson.

    We call them, and five of torch's own functions, twenty times each, and time every call by itself.
    """
    a, b = torch.rand(2, 256, 64)
    functions: list[Callable[[Tensor, Tensor], Tensor]] = [mul_sum, bmm]
    functions += [torch.maximum, torch.fmod, torch.hypot]
    functions += [torch.atan2, torch.pow]
    timed: dict[str, list[float]] = {}
    for function in functions:
        calls_s = timed[function.__name__] = []
        for _ in range(calls):
            start = perf_counter()
            function(a, b)
            calls_s.append(perf_counter() - start)
    return timed


@first_calls.observe
def explain_first(page: Page, timed: dict[str, list[float]]) -> None:
    dearer = {name: calls_s[0] / median(calls_s) for name, calls_s in timed.items()}
    rows = [(name, calls_s[0], median(calls_s), dearer[name]) for name, calls_s in timed.items()]
    seconds = {"function": None, "first call": units.seconds, "usual one": units.seconds}
    page.table(Table.of("The usual call is the median of the twenty", seconds | {"first ÷ usual": units.ratio}, rows))
    slowest = sum(calls_s[0] == max(calls_s) for calls_s in timed.values())
    page.reveal("a" if slowest <= 1 else "b" if slowest <= 3 else "c", f"{slowest} of {len(timed)}.")
    share, of_them = slowest / len(timed), f"{slowest} of {len(timed)}"
    strays = math.sqrt(
        share * (1 - share) / len(timed)
    )  # a later call is slower by chance too, where it is interrupted
    most = page.claim("first-is-slowest", share, low=0.5, error=strays, unit=units.percent, remark=of_them)
    page.claim("first-is-dear", median(dearer.values()), low=2, unit=units.ratio, remark="in the middle")
    page.say(
        "A first call does what no later one has to: find the kernel, load code from disk, ask for memory,"
        " fill the caches. Where a later one was slower still, the machine was disturbed just then."
        if most.standing is Standing.HELD
        else "Not so this time. Either something had called these functions before, or the machine was"
        " disturbed during later calls. In a fresh process on a quiet machine the first one is the slowest.",
        "So warm up: call a few times before the clock is read. `timeit` does not do that for you.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def names() -> dict[str, object]:
    a, b = torch.rand(2, 256, 64)
    return {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}


@lesson.step(
    "Many calls, several times",
    predict=Choice(
        "A turn is five runs. What will stay most alike from turn to turn?",
        {"a": "its first run", "b": "the mean of five", "c": "the best of five"},
    ),
    claims={
        "autorange-steps": "`autorange` tries 1, 2, 5, 10, 20, 50 … calls",
        "best-is-steadier": "from one turn to the next, the best of five runs mostly moves less than their mean",
    },
    fast={"turns": 60},
)
def several_runs(
    turns: int = 120,
    number: int = 100,
) -> tuple[float, list[int], list[list[float]]]:
    """One call is too short for a clock, so `timeit` times many together: `number` of them.

    `timeit.timeit` does it once, `Timer.repeat` several times over, and `Timer.autorange` looks for a number
    of calls that takes 0.2 s. The code to be timed is a string, and `globals=` says where its names are.
    """
    stmt = "mul_sum(a, b)"
    one_run_s = timeit.timeit(stmt, globals=names(), number=number)

    timer = timeit.Timer(stmt, globals=names())
    tried: list[int] = []
    timer.autorange(callback=lambda calls, _: tried.append(calls))

    turns_s = [timer.repeat(5, number) for _ in range(turns)]
    return one_run_s, tried, turns_s


@several_runs.observe
def explain_runs(page: Page, runs: tuple[float, list[int], list[list[float]]]) -> None:
    one_run_s, tried, turns_s = runs
    answers = {
        "its first run": [runs_s[0] for runs_s in turns_s],
        "the mean of five": [mean(runs_s) for runs_s in turns_s],
        "the best of five": [min(runs_s) for runs_s in turns_s],
    }
    wander = {name: apart(values) for name, values in answers.items()}
    rows = [(name, min(values), max(values), wander[name]) for name, values in answers.items()]
    shown = {f"over {len(turns_s)} turns": None, "least": units.seconds, "most": units.seconds, "apart": units.percent}
    page.table(Table.of("Time of one run", shown, rows))
    steadiest = min(wander, key=lambda name: wander[name])
    page.reveal("abc"[list(wander).index(steadiest)], f"Its answers lie {units.percent(wander[steadiest])} apart.")

    right = sum(calls == expected for calls, expected in zip(tried, one_two_five(len(tried)), strict=True))
    stopped = f"it stopped at {units.count(tried[-1])}"
    page.claim("autorange-steps", right / len(tried), 1, 1, unit=units.percent, remark=stopped)
    pairs = [
        abs(min(one) - min(other)) < abs(mean(one) - mean(other))
        for one, other in zip(turns_s[::2], turns_s[1::2], strict=True)
    ]
    share, remark = mean(pairs), f"of {len(pairs)} pairs of turns"
    error = counted(share, len(pairs))
    steadier = page.claim("best-is-steadier", share, low=0.5, error=error, unit=units.percent, remark=remark)
    page.say(
        f"`timeit.timeit` returned {units.seconds(one_run_s)}. That is the total of all its calls: what one"
        " call takes is for you to work out. The totals above want dividing as well."
    )
    page.say(
        "Whatever disturbs a run adds time, and nothing takes any away. So the smallest of a few runs is the"
        " one that was left alone, while a mean is paid for by every disturbance."
        if steadier.standing is Standing.HELD
        else "Disturbances only add time, so the smallest of a few runs should be the one left alone. Here it"
        " was not steadier for certain: with disturbances in every run, or in none, there is little to pick.",
        "What it hides is how often you are disturbed. Lesson 04 keeps every sample to see that too.",
    )


def apart(values: Sequence[float]) -> float:
    """Return how far the largest of some times lies above the smallest, as a fraction of it."""
    return max(values) / min(values) - 1


def one_two_five(length: int) -> list[int]:
    """Return the first numbers of the series 1, 2, 5, 10, 20, 50 and so on."""
    return [(1, 2, 5)[place % 3] * 10 ** (place // 3) for place in range(length)]


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "From the command line",
    predict=Choice(
        "It runs five times and prints one figure at the end. Which one?",
        {"a": "the mean of the five", "b": "the median", "c": "the best"},
    ),
    claims={
        "prints-the-best": "the last line is the best raw time divided by the loops, and no other",
        "raw-times-differ": "no two runs alike: the five raw times are more than 0.1 % apart",
    },
)
def command_line(number: int = 200) -> subprocess.CompletedProcess[str]:
    """The same from the command line, in a process of its own.

    `-s` is the setup, run before each run and not timed; `-n` how many loops are in a run (left out, it asks
    `autorange`); `-r` how many runs there are; `-v` shows them.
    """
    timer = [sys.executable, "-m", "timeit"]
    options = ["-v", "-n", str(number), "-r", "5"]
    setup = "numbers = [n * 7919 % 1000 for n in range(1000)]"
    return subprocess.run(
        [*timer, *options, "-s", setup, "sorted(numbers)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )


@command_line.observe
def explain_command(page: Page, run: subprocess.CompletedProcess[str]) -> None:
    page.output(run.stdout.strip(), caption=shlex.join(["python", *run.args[1:]]))
    loops, figure_s, raw_s = timeit_text.read(run.stdout)
    candidates = {"c": min(raw_s), "b": median(raw_s), "a": mean(raw_s)}
    truth = min(candidates, key=lambda key: round(abs(figure_s * loops / candidates[key] - 1), 2))
    divided = f"{units.seconds(candidates[truth])} ÷ {units.count(loops)}"
    page.reveal(truth, f"{divided} is {units.seconds(figure_s)}.")
    best, rounding = figure_s * loops / min(raw_s), 0.01
    page.claim("prints-the-best", best, 1 - rounding, 1 + rounding, unit=units.ratio, remark="rounded as printed")
    page.claim("raw-times-differ", apart(raw_s), low=0.001, unit=units.percent)
    lecture = mean(LECTURE_RUNS_S) / min(LECTURE_RUNS_S) - 1
    page.say(
        f"The mean would have been {units.percent(mean(raw_s) / min(raw_s) - 1)} more. A lecture on the subject",
        "(HPML, a NumPy product of 1000×1000) shows raw times of",
        f"{', '.join(map(units.number, LECTURE_RUNS_S))} s for {LECTURE_LOOPS} loops each, so it prints",
        f"{units.seconds(min(LECTURE_RUNS_S) / LECTURE_LOOPS)} a loop. The mean is {units.percent(lecture)} more.",
    )
    page.say(
        "And timeit warned, as it does when the worst run takes four times the best."
        if "unreliable" in run.stdout
        else "timeit warns only when the worst run takes four times the best. Look at the raw times yourself.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "What the statement leaves behind",
    predict=Choice(
        "One list is sorted five times. How long does the first time take, against the later ones?",
        {"a": "as long as they", "b": "up to ten times as long", "c": "longer still"},
    ),
    claims={
        "sort-once": "the first sort of a list takes twice as long as the later ones, or more",
        "setup-renews": "with a new list for every run, every run takes as long as a first one",
    },
    fast={"length": 20_000},
)
def sort_again(length: int = 100_000) -> tuple[list[float], list[float]]:
    """`list.sort` works in place, and sorting a list that is in order already is another, easier task.

    We time it on one list again and again, then on a new list each time. `setup` makes that one: it runs
    before every run of `repeat` and is not timed. A run is here a single call, `number=1`.
    """
    numbers = [random() for _ in range(length)]

    same = {"numbers": numbers.copy()}
    again_s = timeit.repeat("numbers.sort()", globals=same, number=1)

    copy = "new = numbers.copy()"
    kept = {"numbers": numbers}
    fresh_s = timeit.repeat("new.sort()", copy, globals=kept, number=1)
    return again_s, fresh_s


@sort_again.observe
def explain_sort(page: Page, sorts: tuple[list[float], list[float]]) -> None:
    again_s, fresh_s = sorts
    rows = [(run, *pair) for run, pair in enumerate(zip(again_s, fresh_s, strict=True), start=1)]
    shown = {"run": units.count, "the same list": units.seconds, "a new list": units.seconds}
    page.table(Table.of("One sort a run", shown, rows))
    later_s = median(again_s[1:])
    first = again_s[0] / later_s
    page.reveal(
        "a" if first < 1.5 else "b" if first <= 10 else "c",
        f"{units.seconds(again_s[0])}, then {units.seconds(later_s)}: {units.ratio(first)} as long.",
    )
    page.claim("sort-once", first, low=2, noise=first * page.noise, unit=units.ratio)
    renewed, error = every([fresh / later_s for fresh in fresh_s])
    page.claim("setup-renews", renewed, low=2, error=error, unit=units.ratio, remark="of a sort in order")
    million = (again_s[0] + 999_999 * later_s) / 1e6 / again_s[0]
    page.say(
        f"With timeit's usual million calls the first would not count at all, and the answer would be"
        f" {units.percent(million)} of what sorting this list takes. The best of several hides it just as well."
    )
    page.say(
        "So ask of every statement what it leaves behind: a sorted list, a full cache, a grown dictionary."
        " `setup` runs once a run, not once a call. Where every call needs new input, make as many inputs as"
        " calls before the clock is read. Making one between the two readings would be timed with it."
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "Worked out beforehand",
    predict=Choice(
        "`x` is 2. How much longer does `x**10` take than `2**10`?",
        {"a": "about as long", "b": "up to three times as long", "c": "longer still"},
    ),
    claims={
        "folded-constant": "`x**10` takes three times as long as `2**10`, or more",
        "nothing-is-timed": "`2**10` takes no longer than `pass`",
    },
    fast={"number": 50_000},
)
def worked_out(
    number: int = 200_000,
) -> tuple[dict[str, float], list[object]]:
    """A statement that does less than it says. `pass` stands beside it, so that we see the bare loop.

    The last line asks Python's compiler which constants it has put into a statement.
    """
    per_run_s = {}
    for statement in ["pass", "2**10", "x**10"]:
        totals_s = timeit.repeat(statement, setup="x = 2", number=number)
        per_run_s[statement] = min(totals_s) / number
    code = compile("y = 2**10", "statement", "exec")
    return per_run_s, list(code.co_consts)


@worked_out.observe
def explain_worked_out(page: Page, timed: tuple[dict[str, float], list[object]]) -> None:
    per_run_s, constants = timed
    shown = {"statement": None, "per run, best of 5": units.seconds}
    page.table(Table.of("The loop itself is in every figure", shown, list(per_run_s.items())))
    longer = per_run_s["x**10"] / per_run_s["2**10"]
    page.reveal("a" if longer < 1.5 else "b" if longer <= 3 else "c", f"{units.ratio(longer)} as long.")
    folded = page.claim("folded-constant", longer, low=3, noise=longer * page.noise, unit=units.ratio)
    empty = per_run_s["2**10"] / per_run_s["pass"]
    page.claim("nothing-is-timed", empty, high=1.25, noise=empty * page.noise, unit=units.ratio)
    found = 2**10 in constants
    page.say(
        f"The constants of `y = 2**10` are {', '.join(map(repr, constants))}:",
        "the compiler has done the work, once, before any clock was read."
        if found
        else "this Python leaves the power to be taken at run time.",
        "What was timed is an empty loop."
        if found and folded.standing is Standing.HELD
        else "Yet the two times are nearly alike, so look twice before you explain a figure."
        if found
        else "Others work it out beforehand, and then an empty loop is what you time.",
        "Give a benchmark its numbers as variables, and be wary of what takes no time.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "The other Timer",
    predict=Choice(
        "We ask both for ten times as many runs. Whose figure becomes ten times as large?",
        {"a": "that of both", "b": "Python's only", "c": "that of neither"},
    ),
    claims={
        "total-grows": "ten times the runs, ten times the figure of `timeit`",
        "timer-is-per-run": "torch's figure stays: it is per run",
        "timer-warms-up": "torch's Timer runs the statement more often than it was asked to",
        "timer-one-thread": "unless told otherwise it works on one thread",
        "one-sample": "its `timeit` keeps a single sample",
        "no-spread": "and the IQR of that is zero",
    },
    fast={"rounds": 10},
)
def the_other_timer(
    number: int = 50,
    rounds: int = 20,
) -> tuple[list[tuple[float, float, Measurement, Measurement]], int]:
    """`torch.utils.benchmark` has a Timer too, and that has a method `timeit` too.

    It sees what `globals` and `setup` give it, and `torch`. `label` and the three after it change no figure:
    they say what it is. We ask both timers in turn, several times. Last, we count the runs torch's makes.
    """
    timer = Timer(
        "mul_sum(a, b)",
        setup="a, b = torch.rand(2, 256, 64)",
        globals={"mul_sum": mul_sum},
        label="batched dot",
        sub_label="mul_sum",
        description="256 x 64",
        env="as it stands",
    )
    python = timeit.Timer("mul_sum(a, b)", globals=names())
    figures = []
    for _ in range(rounds):
        few_s, many_s = python.timeit(number), python.timeit(10 * number)
        few, many = timer.timeit(number), timer.timeit(10 * number)
        figures.append((few_s, many_s, few, many))
    ran: list[int] = []
    Timer("ran.append(1)", globals={"ran": ran}).timeit(number)
    return figures, len(ran) - number


@the_other_timer.observe
def explain_other(page: Page, told: tuple[list[tuple[float, float, Measurement, Measurement]], int]) -> None:
    (figures, extra), typical = told, attrgetter("median")
    total, total_error = middle([many_s / few_s for few_s, many_s, _, _ in figures])
    per_run, error = middle([many.median / few.median for _, _, few, many in figures])
    few_s, many_s = min(figure[0] for figure in figures), min(figure[1] for figure in figures)
    few, many = min((f[2] for f in figures), key=typical), min((f[3] for f in figures), key=typical)
    page.output(repr(many), caption="What torch prints of the longer one")
    shown = {"runs": units.count, "timeit": units.seconds, "torch's": units.seconds, "timeit ÷ runs": units.seconds}
    runs = ((each.number_per_run, each.median, s) for each, s in ((few, few_s), (many, many_s)))
    page.table(Table.of(f"Figures of both, best of {len(figures)}", shown, [(n, s, m, s / n) for n, m, s in runs]))
    grown = (total > 3, per_run > 3)
    answers = {(True, True): "a", (True, False): "b", (False, False): "c"}
    page.reveal(answers.get(grown), f"Python's grew {units.ratio(total)}, torch's {units.ratio(per_run)}.")
    page.claim("total-grows", total, 5, 20, error=total_error, noise=total * page.noise, unit=units.ratio)
    page.claim("timer-is-per-run", per_run, 0.5, 2, error=error, noise=per_run * page.noise, unit=units.ratio)
    page.claim("timer-warms-up", extra, low=2, unit=units.count, remark=f"on top of {few.number_per_run}")
    page.claim("timer-one-thread", many.num_threads, 1, 1, unit=units.count)
    page.claim("one-sample", len(many.times), 1, 1, unit=units.count)
    page.claim("no-spread", many.iqr, 0, 0, unit=units.seconds, remark="and nothing is known of it")
    page.say(
        "One name, two meanings: Python's `timeit` gives the total, torch's the time of one run. And torch's",
        f"made {extra} runs that it did not count, a hundredth of the number asked for and two at least, so",
        "that the first call is left out.",
    )
    page.say(
        f"An IQR of {units.seconds(many.iqr)} is no steadiness but a single sample, and that is why torch"
        " leaves it out above.",
        f"It also keeps `env` (`{many.env}`) to itself: `Compare` tells two environments apart by it.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
DECIDES = 1.05
"""From this change of bmm ÷ mul_sum on, one cannot overlook how many threads were used."""


@lesson.given
def three_ways(
    stmt: str,
    work: dict[str, object],
    number: int,
) -> list[float]:
    python = timeit.Timer(stmt, globals=work)
    timer = Timer(stmt, globals=work)
    threads = torch.get_num_threads()
    threaded = Timer(stmt, globals=work, num_threads=threads)
    return [
        min(python.repeat(3, number)) / number,
        min(timer.timeit(number).median for _ in range(3)),
        min(threaded.timeit(number).median for _ in range(3)),
    ]


@lesson.step(
    "One thread, or all",
    predict=Choice(
        "`mul_sum` against `bmm`: with one thread and with all, does the same one win?",
        {"a": "yes, by as much", "b": "yes, by more or by less", "c": "no, the other"},
    ),
    claims={
        "one-thread-is-slower": "for `mul_sum`, Timer says more than `timeit`: it uses one thread",
        "same-threads-agree": "given as many threads, Timer and `timeit` agree within a third",
        "two-answers": "of one of the functions at least, the two timers' answers are a tenth apart or more",
    },
    fast={"number": 2},
)
def one_thread_or_all(
    turns: int = 15,
    number: int = 3,
) -> tuple[list[dict[str, list[float]]], Others]:
    """Now both timers on larger rows, where torch shares the work out among threads.

    `timeit` knows nothing of threads and gets all of torch's. Timer sets one, or as many as `num_threads`
    says. We go round several times, so that whatever else the machine does falls on all of them, and each
    figure is the best of three.
    """
    a, b = torch.rand(2, 10_000, 64)
    work = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    with others_watched() as others:
        figures = [
            {
                "mul_sum": three_ways("mul_sum(a, b)", work, number),
                "bmm": three_ways("bmm(a, b)", work, number),
            }
            for _ in range(turns)
        ]
    return figures, others


@one_thread_or_all.observe
def explain_threads(page: Page, found: tuple[list[dict[str, list[float]]], Others]) -> None:
    turns, others = found
    threads = torch.get_num_threads()
    sums, bmms = ([median(way) for way in zip(*(turn[name] for turn in turns), strict=True)] for name in turns[0])
    ways = ("timeit", "Timer", f"Timer, num_threads={threads}")
    page.table(race("Per call, the middle of all turns", zip(ways, sums, bmms, strict=True)))
    one, full = ([turn["bmm"][way] / turn["mul_sum"][way] for turn in turns] for way in (1, 2))
    changed, error = middle(changes(one, full))
    other = max(one) < 1 < min(full) or max(full) < 1 < min(one)
    clear = "b" if changed - error >= DECIDES else "a" if changed + error < DECIDES else "unclear"
    truth = "single" if threads == 1 else "unclear" if others.crowd else "c" if other else clear
    page.reveal(
        truth if truth in "abc" else None,
        f"`bmm` takes {units.ratio(median(one))} as long as `mul_sum` with one thread,",
        f"{units.ratio(median(full))} with all.",
    )
    apart_by = [changes(*zip(*((turn[name][0], turn[name][1]) for turn in turns), strict=True)) for name in turns[0]]
    bounds = {
        "one-thread-is-slower": ([turn["mul_sum"][1] / turn["mul_sum"][0] for turn in turns], 1, math.inf),
        "same-threads-agree": ([turn["mul_sum"][2] / turn["mul_sum"][0] for turn in turns], 3 / 4, 4 / 3),
        "two-answers": (max(apart_by, key=median), 1.1, math.inf),
    }
    for id_, (values, low, high) in bounds.items():
        if threads == 1:
            page.skip(id_, "torch has a single thread here")
            continue
        measured, error = middle(values)
        page.claim(id_, measured, low, high, error=error, noise=math.inf if others.crowd else 0.0, unit=units.ratio)
    page.say(WHY_THREADS[truth])
    if threads > 1:
        page.say(
            f"`mul_sum` is {units.ratio(sums[1] / sums[2])} as fast with {threads} threads as with one."
            if sums[2] < sums[1]
            else f"`mul_sum` takes {units.ratio(sums[2] / sums[1])} as long with {threads} threads as with one:"
            " a call waits for its last thread, and where others are busy on a core, that one comes late."
        )
    page.table(race("Published: PyTorch's benchmark recipe, and its notebook on another machine", RECIPE_THREADS))
    recipe, another = (bmm_s / sum_s for how, sum_s, bmm_s in RECIPE_THREADS if "1 thread" in how)
    page.say(
        f"With one thread `bmm` took {units.ratio(recipe)} as long as `mul_sum` in the recipe,",
        f"{units.ratio(another)} on the other machine, and {units.ratio(median(one))} here. Carry no winner from",
        "one machine to another, and no figure without its number of threads.",
    )


def race(title: str, figures: Iterable[tuple[str, float, float]]) -> Table:
    """Return figures of both functions, in seconds, as a table with their ratio."""
    shown = {"asked": None, "mul_sum": units.seconds, "bmm": units.seconds, "bmm ÷ mul_sum": units.ratio}
    return Table.of(title, shown, [(how, sum_s, bmm_s, bmm_s / sum_s) for how, sum_s, bmm_s in figures])


def changes(one: Sequence[float], full: Sequence[float]) -> list[float]:
    """Return by what factor a figure changed in every turn, all turned so that the furthest is above 1."""
    wider = [after / before for before, after in zip(one, full, strict=True)]
    return wider if max(wider) > 1 / min(wider) else [1 / change for change in wider]


WHY_THREADS = {
    "a": "The threads served both functions alike, so it did not matter here which Timer was asked. Nothing"
    " promises that for other sizes, or for your functions.",
    "b": "The two functions do not use more threads equally well, and so the same question, asked through two"
    " timers that share a name, has two answers.",
    "c": "The two functions do not use more threads equally well: so unequally that the winner changes. Who"
    " asks `timeit` and who asks Timer will recommend different code, and both have measured.",
    "unclear": "Today the scatter is larger than what is to be told: threads that share their cores with others"
    " wait for each other. That too is a reason to compare on one thread first.",
    "single": "torch has a single thread here, so all three ways ask the same, and how threads change the"
    " outcome can only be read below.",
}


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def square(value: float) -> float:
    return value * value


@lesson.given
def norm(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += square(value)
    return math.sqrt(total)


@lesson.given
def unit(values: list[float]) -> list[float]:
    length = norm(values)
    return [value / length for value in values]


@lesson.step(
    "How long, or where",
    predict=Choice(
        "How much longer does `unit` take while a profiler looks on?",
        {"a": "less than 1.5 times", "b": "1.5 to 4 times", "c": "more than 4 times"},
    ),
    claims={
        "profile-says-where": "more than half of the time in `unit` goes into `norm`",
        "profile-costs": "a profiled call takes 1.5 times a plain one, or more",
    },
    fast={"number": 40},
)
def how_long_or_where(
    number: int = 200,
) -> tuple[float, float, dict[str, tuple[int, float, float]]]:
    """A benchmark says how long a statement takes, and not where in it the time goes. A profile does.

    The same runs twice: by themselves, and with Python's `cProfile`, which notes every call and return.
    """
    work = {"unit": unit, "values": [random() for _ in range(1000)]}
    timer = timeit.Timer("unit(values)", globals=work)
    plain_s = min(timer.repeat(5, number)) / number
    with Profile() as profile:
        profiled_s = min(timer.repeat(5, number)) / number

    seen = {}
    for each in profile.getstats():
        name = getattr(each.code, "co_name", str(each.code))
        seen[name] = each.callcount, each.inlinetime, each.totaltime
    return plain_s, profiled_s, seen


@how_long_or_where.observe
def explain_profile(page: Page, costs: tuple[float, float, dict[str, tuple[int, float, float]]]) -> None:
    plain_s, profiled_s, seen = costs
    whole_s = seen["unit"][2]
    shown = {"function": None, "calls": units.count, "own time": units.seconds, "with what it calls": units.seconds}
    within = [(name, cost) for name, cost in seen.items() if cost[2] <= whole_s]
    dearest = sorted(within, key=lambda item: -item[1][1])[:4]
    rows = [(name, *cost, cost[2] / whole_s) for name, cost in dearest]
    title = "What the profile saw: the four with most time of their own"
    page.table(Table.of(title, shown | {"of unit": units.percent}, rows))
    dearer = profiled_s / plain_s
    page.reveal(
        "a" if dearer < 1.5 else "b" if dearer <= 4 else "c",
        f"{units.seconds(plain_s)} plain, {units.seconds(profiled_s)} profiled: {units.ratio(dearer)} as long.",
    )
    share = seen["norm"][2] / whole_s
    found = page.claim("profile-says-where", share, low=0.5, unit=units.percent)
    page.claim("profile-costs", dearer, low=1.5, noise=dearer * page.noise, unit=units.ratio)
    name, (calls, _, _) = max(within, key=lambda item: item[1][0])
    page.say(
        f"The benchmark gave {units.seconds(plain_s)}, and no hint of what to improve. The profile",
        f"points at `norm`, which called `{name}` {units.count(calls)} times."
        if found.standing is Standing.HELD
        else "says that `norm` is not where most of the time goes.",
    )
    page.say(
        f"But its times are no timings. Every call that it notes costs extra, here {units.ratio(dearer)} in all,"
        " and small functions pay most. Profile to find the place; benchmark to see whether it got faster."
    )


lesson.take_along(
    "Know the unit: Python's `timeit` gives a total, torch's Timer the time of one run. Then count threads.",
    "Warm up, time many calls together, several times over; disturbances only add, so look at the best.",
    "Ask what the statement does the second time, and whether it does anything at all.",
)
lesson.read_on(
    "Python, `timeit` and its command line: docs.python.org/3/library/timeit.html",
    "PyTorch, `torch.utils.benchmark.Timer`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "Python, `cProfile` and `profile`: docs.python.org/3/library/profile.html",
)

if __name__ == "__main__":
    lesson.main()
