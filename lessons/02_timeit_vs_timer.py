"""Lesson 02: the results of Python's `timeit` and of torch's `Timer`, and what can make these results misleading.

The steps appear on the screen in the order of this file. A step has teaching code, a question, claims, and an
explanation. The words of the explanation depend on what the run measured.
"""

import math
import re
import shlex
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterable, Sequence
from cProfile import Profile
from random import random
from statistics import mean, median
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Measurement, Timer

from harness.errors import UsageError
from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.rendering import units
from harness.rendering.tables import Table
from lessons.engine import Choice, Interval, Lesson, Page, Standing, smallest
from lessons.engine.command import main
from lessons.engine.published import LECTURE_LOOPS, LECTURE_RUNS_S, RECIPE_THREADS
from lessons.engine.words import followed

lesson = Lesson(
    __file__,
    objective="You can read the results of `timeit` and of torch's `Timer`, and you know when to doubt them.",
)


IN_SECONDS = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6, "nsec": 1e-9}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # from Python 3.15 on, timeit prints such codes if `FORCE_COLOR` is set
PRINTED_TIME = r"([\d.e+-]+) (sec|msec|usec|nsec)"


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
        "We call seven functions twenty times each. For how many of the functions is the first call the slowest call?",
        {"a": "none or one", "b": "two or three", "c": "four or more"},
        limits=(2, 4),
    ),
    expected="c",
    wrong_reasoning="Students think that the same call takes the same time. But the first call often fills caches, "
    "imports modules or allocates memory.",
)
def first_calls(calls: int = 20) -> dict[str, list[float]]:
    """Here are two functions that compute the dot product of many pairs of rows. Later steps use them again.

    We call these two functions and five functions of torch twenty times each, and time each call separately. When
    a function is called for the first time in a process, torch may have to prepare it. Other programs can slow any
    call.
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


FIRST_SLOWEST = first_calls.claim(
    "first-is-slowest",
    "for most of seven functions, the first of twenty calls is the slowest",
    at_least=0.5,
    unit=units.percent,
)
FIRST_EXPENSIVE = first_calls.claim(
    "first-is-dear",
    "for most of seven functions, the first call takes at least twice as long as the median call",
    at_least=2,
    unit=units.ratio,
)


@first_calls.explain
def _(page: Page, timed: dict[str, list[float]]) -> None:
    times = {name: calls_s[0] / median(calls_s) for name, calls_s in timed.items()}
    rows = [(name, calls_s[0], median(calls_s), times[name]) for name, calls_s in timed.items()]
    columns = {
        "function": None,
        "first call": units.seconds,
        "median call": units.seconds,
        "first ÷ median": units.ratio,
    }
    page.table(Table.of("The first of twenty calls, and the median of all twenty", columns, rows))
    slowest = sum(calls_s[0] == max(calls_s) for calls_s in timed.values())
    found = f"{slowest} of {len(timed)}"
    page.reveal(slowest, f"In this run, the first call was the slowest for {found} functions.")
    page.settle(FIRST_SLOWEST, Interval.share(slowest, len(timed)), remark=found)
    page.settle(FIRST_EXPENSIVE, median(times.values()), remark="median of the seven functions")
    page.say(
        "A first call can do work that later calls do not repeat. It finds the kernel (the compiled code of the",
        "operation), loads the kernel's code into memory and fills the caches.",
        FIRST_SLOWEST.words(
            held="If a later call was slower than the first, something disturbed the later call.",
            refuted="In this run, a later call was usually the slowest. Either the functions had been called before, or"
            " something disturbed the later calls.",
            unclear="This run does not show whether first calls are usually the slowest: seven functions are too few.",
        ),
        "So warm up: call the function a few times before you start the clock. `timeit.timeit` does not warm up.",
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def names() -> dict[str, object]:
    a, b = torch.rand(2, 256, 64)
    return {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}


@lesson.given
class Runs(NamedTuple):
    one_run_s: float
    tried: list[int]
    turns_s: list[list[float]]


@lesson.step(
    "Many calls, several times",
    predict=Choice(
        "We measure five runs, and repeat this measurement many times. Which of these three times differs least "
        "between the repetitions?",
        {"a": "the first run", "b": "the mean of the five runs", "c": "the shortest of the five runs"},
    ),
    expected="c",
    wrong_reasoning="Students choose the mean, because a mean reduces random errors. But disturbances only add time, "
    "so the mean moves with each of them.",
    fast={"turns": 60},
)
def several_runs(turns: int = 120, number: int = 100) -> Runs:
    """A single short call cannot be timed precisely, so `timeit` times a run of many calls.

    `timeit.timeit` makes one run, and `Timer.repeat` makes several runs. `Timer.autorange` searches for a number of
    calls that together take at least 0.2 s. Here, the timed code is a string. `globals=` contains the objects that
    the timed code uses.
    """
    stmt = "mul_sum(a, b)"
    one_run_s = timeit.timeit(stmt, globals=names(), number=number)

    timer = timeit.Timer(stmt, globals=names())
    tried: list[int] = []
    timer.autorange(callback=lambda calls, _: tried.append(calls))

    turns_s = [timer.repeat(5, number) for _ in range(turns)]
    return Runs(one_run_s, tried, turns_s)


STEPS = several_runs.claim(
    "autorange-steps",
    "`autorange` makes runs of 1, 2, 5, 10, 20, 50 … calls",
    equals=1,
    unit=followed("of its runs", units.percent),
)
BEST_STEADIER = several_runs.claim(
    "best-is-steadier",
    "between two repetitions, the shortest of five runs usually changes less than the mean of the five",
    at_least=0.5,
    unit=units.percent,
)


@several_runs.explain
def _(page: Page, runs: Runs) -> None:
    vary = show_turns(page, runs.turns_s)
    page.reveal(smallest(dict(zip("abc", map(Interval.exact, vary), strict=True))))
    right = sum(calls == series for calls, series in zip(runs.tried, one_two_five(len(runs.tried)), strict=True))
    page.settle(STEPS, right / len(runs.tried), remark=f"the last run had {units.count(runs.tried[-1])} calls")
    pairs = list(zip(runs.turns_s[::2], runs.turns_s[1::2], strict=True))
    steadier = sum(abs(min(one) - min(other)) < abs(mean(one) - mean(other)) for one, other in pairs)
    page.settle(
        BEST_STEADIER, Interval.share(steadier, len(pairs)), remark=f"{steadier} of {len(pairs)} pairs of repetitions"
    )
    page.say(
        f"`timeit.timeit` returned {units.seconds(runs.one_run_s)}, the time of all calls together. Divide this time",
        "by the number of calls to get the time per call. The times in the table are also times of whole runs.",
    )
    page.say(
        "A disturbance, such as another program, makes a run longer and never shorter.",
        BEST_STEADIER.words(
            held="The shortest of five runs is therefore usually the least disturbed run, and the mean contains all"
            " disturbances.",
            refuted="The shortest of five runs should therefore vary less than the mean of the five. In this step, the"
            " shortest run usually changed more. A possible cause is that disturbances often affected all five runs of"
            " a repetition, or none.",
            unclear="The shortest of five runs should therefore vary less than the mean of the five. This measurement"
            " does not show a clear difference.",
        ),
        "The shortest run does not show how often the machine disturbs your code. Lesson 04 keeps all samples, so that",
        "you see the disturbances.",
    )


def show_turns(page: Page, turns_s: Sequence[Sequence[float]]) -> list[float]:
    """Print a table of three times and of how much each time varies over the repetitions, and return the variations.

    A variation is a fraction: the largest time divided by the smallest time, minus 1.
    """
    figures = {
        "the first run": [runs_s[0] for runs_s in turns_s],
        "the mean of the five runs": [mean(runs_s) for runs_s in turns_s],
        "the shortest of the five runs": [min(runs_s) for runs_s in turns_s],
    }
    vary = [apart(values) for values in figures.values()]
    rows = [(name, min(values), max(values), by) for (name, values), by in zip(figures.items(), vary, strict=True)]
    columns = {"": None, "smallest": units.seconds, "largest": units.seconds, "difference": units.percent}
    page.table(Table.of(f"Times in {len(turns_s)} repetitions", columns, rows))
    return vary


def apart(values: Sequence[float]) -> float:
    """Return the largest value divided by the smallest, minus 1."""
    return max(values) / min(values) - 1


def one_two_five(length: int) -> list[int]:
    """Return the first `length` numbers of the series 1, 2, 5, 10, 20, 50 and so on."""
    return [(1, 2, 5)[place % 3] * 10 ** (place // 3) for place in range(length)]


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.step(
    "From the command line",
    predict=Choice(
        "`python -m timeit` makes five runs and prints one time at the end. Which time does it print?",
        {"a": "the mean of the five", "b": "the median of the five", "c": "the shortest of the five"},
    ),
    expected="c",
    wrong_reasoning="Students expect an average, as in most statistics. But `timeit` prints the best run, because "
    "disturbances only add time.",
)
def command_line(number: int = 200) -> subprocess.CompletedProcess[str]:
    """You can also start `timeit` from the command line. Then `timeit` runs in a process of its own.

    `-s` gives the setup, which is executed before each run and is not timed. `-n` gives the number of loops in a run:
    how often the run executes the statement. Without `-n`, `autorange` chooses this number. `-r` gives the number of
    runs, and `-v` prints the time of each run.
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


ROUNDING = 0.01
"""An upper limit of the relative rounding error of the ratio of two times that timeit prints with three digits."""

PRINTS_BEST = command_line.claim(
    "prints-the-best",
    "the time that `python -m timeit` prints is the time of its shortest run divided by the number of loops",
    at_least=1 - ROUNDING,
    at_most=1 + ROUNDING,
    unit=units.ratio,
)
RAW_DIFFER = command_line.claim(
    "raw-times-differ",
    "the slowest of five runs of `python -m timeit` takes at least 0.1 % longer than the fastest",
    at_least=0.001,
    unit=units.percent,
)


@command_line.explain
def _(page: Page, run: subprocess.CompletedProcess[str]) -> None:
    page.output(run.stdout.strip(), caption=shlex.join(["python", *run.args[1:]]))
    loops, printed_s, raw_s = timeit_numbers(run.stdout)
    candidates = {"c": min(raw_s), "b": median(raw_s), "a": mean(raw_s)}
    truth = min(candidates, key=lambda letter: round(abs(printed_s * loops / candidates[letter] - 1), 2))
    divided = f"{units.seconds(candidates[truth])} ÷ {units.count(loops)} loops"
    page.reveal(truth, f"{divided} is {units.seconds(printed_s)} per loop.")
    page.settle(PRINTS_BEST, printed_s * loops / min(raw_s), remark="printed time × loops ÷ shortest run")
    page.settle(RAW_DIFFER, Interval.exact(apart(raw_s)).widened(ROUNDING))
    lecture = mean(LECTURE_RUNS_S) / min(LECTURE_RUNS_S) - 1
    page.say(
        f"The mean time of the five runs is {units.percent(mean(raw_s) / min(raw_s) - 1)} larger than the shortest",
        "time. A lecture on high-performance machine learning shows the times of five runs for a NumPy product of",
        f"1000×1000 numbers: {', '.join(map(units.number, LECTURE_RUNS_S))} s, each for {LECTURE_LOOPS} loops. For",
        f"these runs, timeit prints {units.seconds(min(LECTURE_RUNS_S) / LECTURE_LOOPS)} per loop. The mean of the",
        f"five times is {units.percent(lecture)} larger than the shortest time.",
    )
    page.say(
        "timeit prints a warning if the slowest run takes at least four times as long as the fastest.",
        about_warning(run.stdout),
        "Look at the times of all runs yourself, because smaller differences cause no warning.",
    )


def about_warning(printed: str) -> str:
    """Return a sentence that states whether timeit printed its warning."""
    if "unreliable" in printed:
        return "In this run, timeit printed the warning."
    return "In this run, timeit printed no warning."


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Sorts(NamedTuple):
    same_list_s: list[float]
    new_list_s: list[float]


@lesson.step(
    "A statement with side effects",
    predict=Choice.ranges(
        "We sort the same list five times. What is the time of the first sort divided by the median time of the later "
        "sorts?",
        (1.5, 10),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that each call sorts the same list. But the first call leaves the list sorted, "
    "and the later calls find it in order.",
    fast={"length": 20_000},
)
def sort_again(length: int = 100_000) -> Sorts:
    """`list.sort` sorts a list in place. Sorting a list that is already in order needs less work.

    First we sort the same list five times. Then we sort a new list in each of five runs. The setup code makes the new
    list before each run, and is not timed. In this step, a run is a single call (`number=1`).
    """
    numbers = [random() for _ in range(length)]

    same = {"numbers": numbers.copy()}
    same_s = timeit.repeat("numbers.sort()", globals=same, number=1)

    copy = "new = numbers.copy()"
    kept = {"numbers": numbers}
    new_s = timeit.repeat("new.sort()", copy, globals=kept, number=1)
    return Sorts(same_s, new_s)


SORT_ONCE = sort_again.claim(
    "sort-once",
    "the first sort of a list takes at least twice as long as the median of its later sorts",
    at_least=2,
    unit=units.ratio,
)
SETUP_RENEWS = sort_again.claim(
    "setup-renews",
    "each sort of a new list takes at least twice as long as the median of those later sorts",
    at_least=2,
    unit=units.ratio,
)


@sort_again.explain
def _(page: Page, sorts: Sorts) -> None:
    rows = [(run, *times_s) for run, times_s in enumerate(zip(*sorts, strict=True), start=1)]
    columns = {"run": units.count, "the same list": units.seconds, "a new list": units.seconds}
    page.table(Table.of("One sort per run", columns, rows))
    first_s, later_s = sorts.same_list_s[0], median(sorts.same_list_s[1:])
    first = Interval.exact(first_s / later_s).with_noise(page.noise)
    page.reveal(
        first,
        f"The first sort took {units.seconds(first_s)}. The median of the later sorts is {units.seconds(later_s)}.",
    )
    page.settle(SORT_ONCE, first)
    page.settle(SETUP_RENEWS, Interval.every(new_s / later_s for new_s in sorts.new_list_s))
    million = (first_s + 999_999 * later_s) / 1e6 / first_s
    page.say(
        "By default, `timeit.timeit` makes a million calls, and only the first call would find an unsorted list.",
        SORT_ONCE.words(
            held=f"For this list, the mean time per call would be only {units.percent(million)} of the time of the"
            " first sort. The shortest of several runs also hides the time of the first sort.",
            refuted="In this run, the first sort took less than twice as long as the later sorts.",
            unclear="The noise of this machine hides how much longer the first sort took.",
        ),
    )
    page.say(
        "Check what a statement changes, for example the order of a list or the content of a cache.",
        "`setup` runs once per run, not once per call. If each call needs a new input, make all inputs before you",
        "start the clock. Otherwise, the measured time includes the time for making the inputs.",
    )


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Powers(NamedTuple):
    per_run_s: dict[str, float]
    constants: list[object]


@lesson.step(
    "Computed by the compiler",
    predict=Choice.ranges(
        "`x` is 2. What is the time of `x**10` divided by the time of `2**10`?",
        (1.5, 3),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that both expressions compute a power. But the compiler computes `2**10` once, "
    "before the program runs.",
    fast={"number": 50_000},
)
def worked_out(number: int = 200_000) -> Powers:
    """Some statements do less work than their text suggests. We time two powers, and `pass` to measure an empty loop.

    The last lines of the code list the constants that the compiled statement `y = 2**10` contains.
    """
    per_run_s = {}
    for statement in ["pass", "2**10", "x**10"]:
        totals_s = timeit.repeat(statement, setup="x = 2", number=number)
        per_run_s[statement] = min(totals_s) / number
    code = compile("y = 2**10", "statement", "exec")
    return Powers(per_run_s, list(code.co_consts))


FOLDED = worked_out.claim(
    "folded-constant", "`x**10` takes at least three times as long as `2**10`", at_least=3, unit=units.ratio
)
NOTHING_TIMED = worked_out.claim(
    "nothing-is-timed", "`2**10` takes at most 1.25 times as long as `pass`", at_most=1.25, unit=units.ratio
)


@worked_out.explain
def _(page: Page, timed: Powers) -> None:
    columns = {"statement": None, "shortest of five": units.seconds}
    page.table(
        Table.of(
            "Time per iteration, including the overhead of timeit's loop",
            columns,
            list(timed.per_run_s.items()),
        )
    )
    longer = Interval.exact(timed.per_run_s["x**10"] / timed.per_run_s["2**10"]).with_noise(page.noise)
    page.reveal(longer, f"In this run, `x**10` took {units.ratio(longer.middle)} as long as `2**10`.")
    page.settle(FOLDED, longer)
    empty = timed.per_run_s["2**10"] / timed.per_run_s["pass"]
    page.settle(NOTHING_TIMED, Interval.exact(empty).with_noise(page.noise))
    page.say(
        f"The constants of the compiled statement `y = 2**10` are {', '.join(map(repr, timed.constants))}.",
        about_constants(timed.constants),
        NOTHING_TIMED.words(
            held="A benchmark of `2**10` therefore measures an empty loop.",
            refuted="In this run, `2**10` took longer than the empty loop.",
            unclear="The noise of this machine hides whether `2**10` takes longer than the empty loop.",
        ),
        "Put the inputs of a benchmark into variables, and check each statement that seems to take no time.",
    )


def about_constants(constants: Sequence[object]) -> str:
    """Return a sentence that states whether the compiler computed `2**10`."""
    if 2**10 in constants:
        return "The compiler computed the power once, before `timeit` read the clock."
    return "This Python version computes the power when the statement runs. Other versions compute it in the compiler."


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Figures(NamedTuple):
    few_s: float
    many_s: float
    few: Measurement
    many: Measurement


@lesson.given
class BothTimers(NamedTuple):
    figures: list[Figures]
    extra_runs: int


@lesson.step(
    "torch's Timer",
    predict=Choice(
        "Python's `timeit` and torch's `timeit` both make ten times as many calls as before. Which of the two results "
        "becomes about ten times as large?",
        {"a": "both results", "b": "only the result of Python's `timeit`", "c": "neither result"},
    ),
    expected="b",
    wrong_reasoning="Students think that two methods with the same name return the same quantity. But one returns the "
    "time of all calls, and the other the time of one call.",
    fast={"rounds": 10},
)
def the_other_timer(number: int = 50, rounds: int = 20) -> BothTimers:
    """`torch.utils.benchmark` also has a class `Timer` with a method `timeit`.

    The timed code can use `torch` and the names that `globals` and `setup` define. `label`, `sub_label`, `description`
    and `env` describe the measurement, and do not change its result. We measure with both timers alternately, several
    times. At the end, we count how many calls torch's Timer really makes. In torch's own texts, a call is a “run”.
    """
    timer = Timer(
        "mul_sum(a, b)",
        setup="a, b = torch.rand(2, 256, 64)",
        globals={"mul_sum": mul_sum},
        label="batched dot",
        sub_label="mul_sum",
        description="256 x 64",
        env="default",
    )
    python = timeit.Timer("mul_sum(a, b)", globals=names())
    figures = []
    for _ in range(rounds):
        few_s, many_s = python.timeit(number), python.timeit(10 * number)
        few, many = timer.timeit(number), timer.timeit(10 * number)
        figures.append(Figures(few_s, many_s, few, many))
    ran: list[int] = []
    Timer("ran.append(1)", globals={"ran": ran}).timeit(number)
    return BothTimers(figures, len(ran) - number)


TOTAL_GROWS = the_other_timer.claim(
    "total-grows",
    "with ten times as many calls, the result of Python's `timeit` becomes 5 to 20 times as large",
    at_least=5,
    at_most=20,
    unit=units.ratio,
)
PER_RUN = the_other_timer.claim(
    "timer-is-per-run",
    "with ten times as many calls, the result of torch's Timer changes by less than a factor of 2",
    at_least=0.5,
    at_most=2,
    unit=units.ratio,
)
WARMS_UP = the_other_timer.claim(
    "timer-warms-up",
    "torch's Timer makes at least two calls more than the user requests",
    at_least=2,
    unit=units.count,
)
ONE_THREAD = the_other_timer.claim(
    "timer-one-thread", "by default, torch's Timer uses one thread", equals=1, unit=units.count
)
ONE_SAMPLE = the_other_timer.claim(
    "one-sample", "`timeit` of torch's Timer keeps a single sample", equals=1, unit=units.count
)
NO_SPREAD = the_other_timer.claim("no-spread", "the IQR of a single sample is zero", equals=0, unit=units.seconds)


@the_other_timer.explain
def _(page: Page, both: BothTimers) -> None:
    total = Interval.median(each.many_s / each.few_s for each in both.figures).with_noise(page.noise)
    per_run = Interval.median(each.many.median / each.few.median for each in both.figures).with_noise(page.noise)
    many = min((each.many for each in both.figures), key=lambda each: each.median)
    page.output(repr(many), caption="One of the measurements with more calls, as torch prints it")
    show_shortest(page, both.figures)
    page.reveal(
        grew(total, per_run),
        f"With more calls, the result of Python's `timeit` is {units.ratio(total.middle)} as large as before. The",
        f"result of torch's `timeit` is {units.ratio(per_run.middle)} as large as before.",
    )
    page.settle(TOTAL_GROWS, total)
    page.settle(PER_RUN, per_run)
    asked = both.figures[0].few.number_per_run
    page.settle(WARMS_UP, both.extra_runs, remark=f"in addition to the {asked} requested calls")
    page.settle(ONE_THREAD, many.num_threads)
    page.settle(ONE_SAMPLE, len(many.times))
    page.settle(NO_SPREAD, many.iqr)
    page.say(
        "Python's `timeit` returns the time of all calls together, and torch's `timeit` returns the time per call.",
        f"torch's Timer also made {both.extra_runs} calls to warm up, which it did not time. torch's Timer makes one",
        "warm-up call per hundred requested calls, and at least two warm-up calls (`timeit` in torch's timer.py).",
    )
    page.say(
        f"An IQR of {units.seconds(many.iqr)} does not mean that the time is steady, because the measurement has only",
        "one sample. torch prints the IQR only if there are at least four samples. torch does not print the `env`",
        f"of a single measurement. `Compare` uses `env` (here “{many.env}”) to keep measurements of different",
        "environments in separate rows.",
    )


def show_shortest(page: Page, figures: Sequence[Figures]) -> None:
    """Print a table of the shortest results of both timers, with one row for few calls and one row for many calls."""
    per_run = {"calls": units.count, "Python's timeit": units.seconds, "torch's timeit": units.seconds}
    few, many = figures[0].few.number_per_run, figures[0].many.number_per_run
    shortest = {
        few: (min(each.few_s for each in figures), min(each.few.median for each in figures)),
        many: (min(each.many_s for each in figures), min(each.many.median for each in figures)),
    }
    rows = [(runs, total_s, run_s, total_s / runs) for runs, (total_s, run_s) in shortest.items()]
    columns = per_run | {"Python's ÷ calls": units.seconds}
    page.table(Table.of(f"Results of both timers, the shortest of {len(figures)} repetitions", columns, rows))


def grew(total: Interval, per_run: Interval) -> str | None:
    """Return the letter of the right answer to the question of step 6, or None if the intervals do not decide it.

    `total` and `per_run` are the factors by which the results of Python's `timeit` and of torch's `timeit` grew. A
    result counts as about ten times as large if the whole interval of its factor is above 3.
    """
    held = [each.compare(at_least=3).words(held="yes", refuted="no", unclear="") for each in (total, per_run)]
    return {("yes", "yes"): "a", ("yes", "no"): "b", ("no", "no"): "c"}.get((held[0], held[1]))


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
CLEAR_CHANGE = 1.05
"""The smallest change of time of bmm ÷ time of mul_sum, as a factor, for which step 7 reports a different factor."""


@lesson.given
class Ways(NamedTuple):
    timeit_s: float
    one_thread_s: float
    all_threads_s: float


@lesson.given
def three_ways(stmt: str, work: dict[str, object], number: int) -> Ways:
    python = timeit.Timer(stmt, globals=work)
    timer = Timer(stmt, globals=work)
    threads = torch.get_num_threads()
    threaded = Timer(stmt, globals=work, num_threads=threads)
    return Ways(
        min(python.repeat(3, number)) / number,
        min(timer.timeit(number).median for _ in range(3)),
        min(threaded.timeit(number).median for _ in range(3)),
    )


@lesson.given
class Turn(NamedTuple):
    mul_sum: Ways
    bmm: Ways


@lesson.given
class Threads(NamedTuple):
    turns: list[Turn]
    others: BackgroundLoad


@lesson.step(
    "One thread or all threads",
    predict=Choice(
        "We compute time of `bmm` ÷ time of `mul_sum` twice: with one thread, and with all threads. How much do the "
        "two ratios differ?",
        {
            "a": "by less than 5 %",
            "b": "by 5 % or more, but the same function is faster",
            "c": "so much that the other function is faster",
        },
    ),
    expected="a",
    wrong_reasoning="Students think that more threads make both functions faster by the same factor. But the two "
    "functions use threads in different ways.",
    fast={"number": 2},
)
def one_thread_or_all(turns: int = 15, number: int = 3) -> Threads:
    """Now both timers measure larger inputs, on which torch can use several threads.

    `timeit` does not set the number of threads, so torch uses its default number. torch's Timer uses `num_threads`
    threads, by default one thread. Each function divides its work among the threads in its own way. We measure all
    times alternately and often, so that a disturbance affects all times alike. Each time is the shortest of three runs.
    """
    a, b = torch.rand(2, 10_000, 64)
    work = {"a": a, "b": b, "mul_sum": mul_sum, "bmm": bmm}
    measured = []
    with watch_background_load() as others:
        for _ in range(turns):
            sums = three_ways("mul_sum(a, b)", work, number)
            bmms = three_ways("bmm(a, b)", work, number)
            measured.append(Turn(sums, bmms))
    return Threads(measured, others)


ONE_SLOWER = one_thread_or_all.claim(
    "one-thread-is-slower",
    "for `mul_sum`, torch's Timer reports a longer time than `timeit`, because Timer uses one thread",
    at_least=1,
    unit=units.ratio,
)
THREADS_AGREE = one_thread_or_all.claim(
    "same-threads-agree",
    "with the same number of threads, the times of torch's Timer and of `timeit` differ by at most a third",
    at_least=3 / 4,
    at_most=4 / 3,
    unit=units.ratio,
)
TWO_ANSWERS = one_thread_or_all.claim(
    "two-answers",
    "for `mul_sum` or for `bmm`, the times of torch's Timer with one thread and of `timeit` differ by 10 % or more",
    at_least=1.1,
    unit=units.ratio,
)


@one_thread_or_all.explain
def _(page: Page, found: Threads) -> None:
    turns, crowded, threads = found.turns, found.others.is_high, torch.get_num_threads()
    sums, bmms = (Ways(*map(median, zip(*ways, strict=True))) for ways in zip(*turns, strict=True))
    ways = ("timeit", "Timer, 1 thread", f"Timer, {units.some(threads, 'thread')}")
    page.table(
        race(
            "Times per call and their ratio, medians of all repetitions",
            zip(ways, sums, bmms, median_ratios(turns), strict=True),
        )
    )
    one = [turn.bmm.one_thread_s / turn.mul_sum.one_thread_s for turn in turns]
    full = [turn.bmm.all_threads_s / turn.mul_sum.all_threads_s for turn in turns]
    truth = None if crowded or threads == 1 else winner_with_threads(one, full)
    page.reveal(
        truth,
        f"In the median of all repetitions, `bmm` took {units.ratio(median(one))} as long as `mul_sum` with one",
        f"thread, and {units.ratio(median(full))} as long with {units.some(threads, 'thread')}.",
    )
    for claim, values in (
        (ONE_SLOWER, [turn.mul_sum.one_thread_s / turn.mul_sum.timeit_s for turn in turns]),
        (THREADS_AGREE, [turn.mul_sum.all_threads_s / turn.mul_sum.timeit_s for turn in turns]),
        (TWO_ANSWERS, max((changes_of(ways) for ways in zip(*turns, strict=True)), key=median)),
    ):
        if threads == 1:
            page.skip(claim, "needs a second thread, but torch uses only one on this machine")
        else:
            page.settle(claim, Interval.median(values).void_if(crowded))
    page.say(ABOUT_WINNER[truth], TWO_ANSWERS.words(held=TIMERS_DIFFER, refuted="", unclear=""))
    if threads > 1:
        page.say(
            f"`mul_sum` took {units.ratio(sums.all_threads_s / sums.one_thread_s)} as long with",
            f"{units.some(threads, 'thread')} as with one. A call waits for its slowest thread. If another program",
            "uses the core of a thread, this thread finishes late. Several threads can then be slower than one thread.",
        )
    show_recipe(page, here=median(one))


ABOUT_WINNER = {
    "a": "More threads changed the times of both functions by about the same factor. At other sizes, the factors can"
    " differ.",
    "b": "More threads changed the times of the two functions by different factors.",
    "c": "More threads changed the times of the two functions by different factors, so the faster function changes.",
    None: "This run does not show how threads change the comparison of the two functions.",
}
"""For each right answer to the question of step 7, the explanation. The key None is for a run without a clear
answer."""

TIMERS_DIFFER = (
    "A student who uses `timeit` and a student who uses torch's Timer get different results, because the two timers"
    " use different numbers of threads."
)


def timeit_numbers(printed: str) -> tuple[int, float, list[float]]:
    """Return three results: the loops per run, the seconds per loop in the last line, and the seconds of each run.

    Raise `UsageError` if the text is not the output of `timeit -v`.
    """
    printed = COLOUR.sub("", printed)
    raw_line = next((line for line in printed.splitlines() if line.startswith("raw times:")), None)
    last = re.search(rf"(\d+) loops?, best of \d+: {PRINTED_TIME} per loop", printed)
    if raw_line is None or last is None:
        raise UsageError("This is not the output of python -m timeit -v.")
    raw_s = [float(value) * IN_SECONDS[unit] for value, unit in re.findall(PRINTED_TIME, raw_line)]
    return int(last[1]), float(last[2]) * IN_SECONDS[last[3]], raw_s


def median_ratios(turns: Sequence[Turn]) -> list[float]:
    """Return the median of time of bmm ÷ time of mul_sum over all repetitions, for each of the three ways to time."""
    by_turn = [[bmm_s / sum_s for sum_s, bmm_s in zip(turn.mul_sum, turn.bmm, strict=True)] for turn in turns]
    return [median(ratios) for ratios in zip(*by_turn, strict=True)]


def race(title: str, rows: Iterable[tuple[str, float, float, float]]) -> Table:
    """Return a table with the times of both functions in seconds and their ratio, one row per timer."""
    columns = {"timer": None, "mul_sum": units.seconds, "bmm": units.seconds, "bmm ÷ mul_sum": units.ratio}
    return Table.of(title, columns, list(rows))


def show_recipe(page: Page, here: float) -> None:
    """Print published times of `mul_sum` and `bmm`, and compare the ratios of these times with `here`.

    `here` is the ratio time of bmm ÷ time of mul_sum that this run measured with one thread.
    """
    published = [(how, sum_s, bmm_s, bmm_s / sum_s) for how, sum_s, bmm_s in RECIPE_THREADS]
    page.table(race("Published: PyTorch's benchmark recipe, and a reader's re-run of its notebook", published))
    recipe, again = (bmm_s / sum_s for how, sum_s, bmm_s in RECIPE_THREADS if "1 thread" in how)
    page.say(
        "In the recipe, `mul_sum` is faster with 1 thread, and `bmm` is faster with 40 threads. In the re-run, `bmm`",
        "is faster with 1 thread and with 8 threads.",
        f"With one thread, time of `bmm` ÷ time of `mul_sum` is {units.ratio(recipe)} in the recipe,",
        f"{units.ratio(again)} in the re-run, and {units.ratio(here)} in this run.",
        "So a result is valid only for one machine and one number of threads. Report the machine and the number of",
        "threads with the result.",
    )


def winner_with_threads(one: Sequence[float], full: Sequence[float]) -> str | None:
    """Return the letter of the right answer to the question of step 7, or None if the repetitions do not decide it.

    `one` and `full` contain time of bmm ÷ time of mul_sum for each repetition, with one thread and with all threads.
    """
    sides = {Interval.median(ratios).compare(at_least=1) for ratios in (one, full)}
    if sides == {Standing.HELD, Standing.REFUTED}:
        return "c"
    changed = Interval.median(changes(one, full))
    if changed.high < CLEAR_CHANGE:
        return "a"
    same_side = len(sides) == 1 and Standing.INCONCLUSIVE not in sides
    return "b" if same_side and changed.low >= CLEAR_CHANGE else None


def changes_of(ways: Iterable[Ways]) -> list[float]:
    """Return time by Timer with one thread ÷ time by `timeit` for each repetition, or the inverse (see `changes`).

    `ways` contains the times of one function in each repetition.
    """
    by_timeit, by_timer = zip(*((way.timeit_s, way.one_thread_s) for way in ways), strict=True)
    return changes(by_timeit, by_timer)


def changes(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Return `after` ÷ `before` for each repetition, or `before` ÷ `after` if the median is a decrease.

    If the repetitions do not show whether it is, the largest change decides.
    """
    factors = [late / early for early, late in zip(before, after, strict=True)]
    typical = Interval.median(factors)
    decrease = typical.high <= 1 or (typical.low < 1 and max(factors) <= 1 / min(factors))
    return [1 / factor for factor in factors] if decrease else factors


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


@lesson.given
class Seen(NamedTuple):
    calls: int
    own_s: float
    total_s: float


@lesson.given
class Profiled(NamedTuple):
    plain_s: float
    profiled_s: float
    seen: dict[str, Seen]


@lesson.step(
    "Benchmark and profile",
    predict=Choice.ranges(
        "What is the time of a call of `unit` under a profiler divided by its time without a profiler?",
        (1.5, 4),
        units.ratio,
    ),
    expected="b",
    wrong_reasoning="Students think that a profiler only watches. But a profiler runs its own code at each call and "
    "return.",
    fast={"number": 40},
)
def how_long_or_where(number: int = 200) -> Profiled:
    """A benchmark measures how long a statement takes. A profile shows in which functions the time is spent.

    We time the same statement twice: alone, and under Python's profiler `cProfile`, which records the start and the
    end of each call.
    """
    work = {"unit": unit, "values": [random() for _ in range(1000)]}
    timer = timeit.Timer("unit(values)", globals=work)
    plain_s = min(timer.repeat(5, number)) / number
    with Profile() as profile:
        profiled_s = min(timer.repeat(5, number)) / number

    seen = {}
    for each in profile.getstats():
        name = getattr(each.code, "co_name", str(each.code))
        times_s = each.inlinetime, each.totaltime
        seen[name] = Seen(each.callcount, *times_s)
    return Profiled(plain_s, profiled_s, seen)


SAYS_WHERE = how_long_or_where.claim(
    "profile-says-where",
    "in the profile, `norm` and the functions that it calls take more than half of the time of `unit`",
    at_least=0.5,
    unit=units.percent,
)
PROFILE_COSTS = how_long_or_where.claim(
    "profile-costs",
    "a call of `unit` under the profiler takes at least 1.5 times as long as without the profiler",
    at_least=1.5,
    unit=units.ratio,
)


@how_long_or_where.explain
def _(page: Page, costs: Profiled) -> None:
    whole_s = costs.seen["unit"].total_s
    within = {name: seen for name, seen in costs.seen.items() if seen.total_s <= whole_s}
    show_profile(page, within, whole_s)
    longer = Interval.exact(costs.profiled_s / costs.plain_s).with_noise(page.noise)
    page.reveal(
        longer,
        f"A call of `unit` took {units.seconds(costs.plain_s)} without the profiler, and",
        f"{units.seconds(costs.profiled_s)} under the profiler.",
    )
    page.settle(SAYS_WHERE, costs.seen["norm"].total_s / whole_s)
    page.settle(PROFILE_COSTS, longer)
    often = max(within, key=lambda name: within[name].calls)
    page.say(
        f"The benchmark shows that a call takes {units.seconds(costs.plain_s)}, but not which part to improve. In the",
        f"profile, the function with the most calls is `{often}`: {units.count(within[often].calls)} calls.",
        SAYS_WHERE.words(
            held="Most of the time is spent in `norm` and the functions that it calls.",
            refuted="Less than half of the time is spent in `norm` and the functions that it calls.",
            unclear="The profile does not show clearly whether `norm` takes more than half of the time.",
        ),
    )
    page.say(
        "The times in a profile are too long, because the profiler adds time to each call. Programs with many short",
        "calls are affected most.",
        PROFILE_COSTS.words(
            held=f"Under the profiler, a call of `unit` took {units.ratio(longer.middle)} as long as without it.",
            refuted="In this run, the profiler added less than half of the time of a call of `unit`.",
            unclear="The noise of this machine hides how much time the profiler added.",
        ),
        "Use a profile to find the slow part of the code. Then use a benchmark to check whether your change made the",
        "code faster.",
    )


def show_profile(page: Page, within: dict[str, Seen], whole_s: float) -> None:
    """Print a table of the four functions with the most own time (without the functions that they call).

    `whole_s` is the total time of `unit`.
    """
    most = sorted(within.items(), key=lambda item: -item[1].own_s)[:4]
    columns = {
        "function": None,
        "calls": units.count,
        "own time": units.seconds,
        "total time": units.seconds,
        "÷ total time of unit": units.percent,
    }
    rows = [(name, *seen, seen.total_s / whole_s) for name, seen in most]
    page.table(Table.of("The four functions with the most own time in the profile", columns, rows))


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Fed(NamedTuple):
    times: list[tuple[Measurement, Measurement]]
    finite: list[float]


@lesson.step(
    "Find the mistake: a product",
    predict=Choice(
        "The first Timer times `x = x.mm(x)`. What does `x` contain after 100 calls?",
        {"a": "numbers between 0 and 1", "b": "larger, finite numbers", "c": "no finite number"},
    ),
    expected="c",
    wrong_reasoning="Students think that each call multiplies the same matrix. But the statement replaces `x` by its "
    "product, so the numbers grow until they are infinite.",
)
def feeds_itself() -> Fed:
    """This program should time the product of a matrix with itself. `wrong` contains a mistake, and `right` does not.

    `x` is a matrix of random numbers between 0 and 1. We time both statements alternately. At the end, the program
    runs the first statement without a clock, and records the share of finite numbers in `x` after each call.
    """
    setup = "x = torch.rand(100, 100)"
    wrong = Timer("x = x.mm(x)", setup=setup)
    right = Timer("y = x.mm(x)", setup=setup)
    times = [(wrong.timeit(20), right.timeit(20)) for _ in range(60)]

    x, finite = torch.rand(100, 100), []
    for _ in range(100):
        x = x.mm(x)
        finite.append(x.isfinite().double().mean().item())
    return Fed(times, finite)


NOTHING_FINITE = feeds_itself.claim(
    "nothing-finite", "after 100 calls of `x = x.mm(x)`, `x` contains no finite number", equals=0, unit=units.percent
)
SOON_INFINITE = feeds_itself.claim(
    "soon-infinite",
    "in at least 90 of the 100 calls of `x = x.mm(x)`, the result contains no finite number",
    at_least=90,
    unit=units.count,
)
TIME_IS_SILENT = feeds_itself.claim(
    "time-is-silent",
    "the time per call does not show the mistake: time of `x = x.mm(x)` ÷ time of `y = x.mm(x)` is 0.5 to 2",
    at_least=0.5,
    at_most=2,
    unit=units.ratio,
)


@feeds_itself.explain
def _(page: Page, found: Fed) -> None:
    full, empty = (sum(share == end for share in found.finite) for end in (1, 0))
    last, total = found.finite[-1], len(found.finite)
    page.settle(NOTHING_FINITE, last)
    page.settle(SOON_INFINITE, empty)
    page.reveal(
        NOTHING_FINITE.answer(held="c", refuted="b"),
        f"All numbers were finite after each of the first {units.some(full, 'call')}. After {empty} of {total} calls,",
        "no number was finite.",
    )
    wrong_s, right_s = (median(each.median for each in side) for side in zip(*found.times, strict=True))
    ratio = Interval.median(wrong.median / right.median for wrong, right in found.times)
    page.settle(TIME_IS_SILENT, ratio)
    page.say(
        "`x = x.mm(x)` replaces its own input. Each call receives the result of the call before, and its numbers have",
        "about twice as many digits before the point. Soon they are larger than the largest number of the type",
        "`float32`, and become infinite.",
    )
    page.say(
        f"`x = x.mm(x)` took {units.seconds(wrong_s)} per call, and `y = x.mm(x)` took {units.seconds(right_s)}.",
        TIME_IS_SILENT.words(
            held="The times do not show the mistake, because a processor multiplies infinite numbers about as fast as"
            " other numbers.",
            refuted="In this run, the times also differ. The infinite numbers are a possible cause.",
            unclear="This run does not show whether the infinite numbers change the time.",
        ),
        "If the time depends on the values, as with the sort in step 4, the time is wrong too.",
        "Write the result to a name that the statement does not read, and check the result after the measurement.",
    )


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def first(text: str) -> list[str]:
    return re.findall(r"(\d{4})-(\d\d)-(\d\d)", text)


@lesson.given
def second(text: str) -> list[str]:
    return re.findall(r"(\d{4})-(\d\d)-(\d\d)", text)


@lesson.given
def benchmark(*functions: Callable[[str], object]) -> list[float]:
    work: dict[str, object] = {"text": "from 2026-01-31 to 2026-02-28"}
    times_s = []
    for function in functions:
        work["function"] = function
        stmt = "function(text)"
        times_s.append(timeit.timeit(stmt, globals=work, number=5))
    return times_s


@lesson.given
class Orders(NamedTuple):
    first_then_second: list[list[float]]
    second_then_first: list[list[float]]
    warm: list[list[float]]


@lesson.step(
    "Find the mistake: a comparison",
    predict=Choice.ranges(
        "`first` and `second` have the same code. After `re.purge()`, what is the time of `first` divided by the time "
        "of `second` in the result of `benchmark(first, second)`?",
        (0.67, 1.5),
        units.ratio,
    ),
    expected="c",
    wrong_reasoning="Students think that equal code must give equal times. But the function that is measured first "
    "pays for the empty cache.",
)
def only_a_cold_start() -> Orders:
    """`benchmark` compares functions that find the dates in a text. It contains a mistake.

    Python's module `re` compiles a pattern when the pattern is used first, and keeps it in a cache. `re.purge()`
    empties this cache. The cache of a new process is also empty. We call `benchmark` twice with an empty cache, in
    both orders. A third call finds the pattern in the cache.
    """
    orders = Orders([], [], [])
    for _ in range(20):
        re.purge()
        orders.first_then_second.append(benchmark(first, second))
        re.purge()
        orders.second_then_first.append(benchmark(second, first))
        orders.warm.append(benchmark(first, second))
    return orders


FIRST_LOSES = only_a_cold_start.claim(
    "first-loses",
    "with an empty cache, the function that is measured first takes at least twice as long, in both orders",
    at_least=2,
    unit=units.ratio,
)
WARM_EQUAL = only_a_cold_start.claim(
    "warm-equal",
    "with the pattern in the cache, the time of `first` ÷ the time of `second` is 2/3 to 3/2",
    at_least=2 / 3,
    at_most=3 / 2,
    unit=units.ratio,
)


@only_a_cold_start.explain
def _(page: Page, orders: Orders) -> None:
    page.table(times_by_order(orders))
    one, other, warm = ([early / late for early, late in times] for times in orders)
    page.reveal(Interval.median(one), "The figures in the table are medians of all rounds.")
    slower = [Interval.median(ratios) for ratios in (one, other)]
    page.settle(FIRST_LOSES, Interval.every(end for each in slower for end in (each.low, each.high)))
    page.settle(WARM_EQUAL, Interval.median(warm))
    page.say(
        FIRST_LOSES.words(
            held="With an empty cache, the function that was measured first was slower in both orders. Its five calls"
            " contain a cold start: the first call also compiles the pattern. The other function uses the cache.",
            refuted="In this run, the function that was measured first was not clearly slower.",
            unclear="This run does not show whether the function that is measured first is slower.",
        ),
        WARM_EQUAL.words(
            held="With the pattern in the cache, both functions take about the same time.",
            refuted="With the pattern in the cache, the times still differ in this run, although the code is the same.",
            unclear="This run does not show whether the times are equal with the pattern in the cache.",
        ),
    )
    page.say(
        "To repair `benchmark`, call each function once before you start the clock. torch's Timer also warms up. If",
        "the first call itself matters to you, start a new process for each function. To find such mistakes, measure",
        "the functions in both orders, and measure the same function under two names.",
    )


def times_by_order(orders: Orders) -> Table:
    """Return a table of the median times of both functions in seconds, one row per call of `benchmark`."""
    columns = {"": None, "first": units.seconds, "second": units.seconds, "first ÷ second": units.ratio}
    rows = []
    for words, times_s, swapped in (
        ("empty cache, first before second", orders.first_then_second, False),
        ("empty cache, second before first", orders.second_then_first, True),
        ("the pattern in the cache", orders.warm, False),
    ):
        early_s, late_s = map(median, zip(*times_s, strict=True))
        first_s, second_s = (late_s, early_s) if swapped else (early_s, late_s)
        rows.append((words, first_s, second_s, first_s / second_s))
    return Table.of("Time of five calls", columns, rows)


lesson.key_points = (
    "Python's `timeit` returns the time of all calls, torch's Timer the time per call. Check the number of threads.",
    "Warm up, put many calls into a run, and repeat the run. Disturbances only add time, so use the shortest run.",
    "Check whether the statement does the same work each time, and whether it does any work at all.",
)
lesson.references = (
    "Python, `timeit` and its command line: docs.python.org/3/library/timeit.html",
    "PyTorch, `torch.utils.benchmark.Timer`: docs.pytorch.org/docs/stable/benchmark_utils.html",
    "PyTorch benchmark recipe: docs.pytorch.org/tutorials/recipes/recipes/benchmark.html",
    "Python, `cProfile` and `profile`: docs.python.org/3/library/profile.html",
)

if __name__ == "__main__":
    main(lesson)
