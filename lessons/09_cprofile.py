"""Lesson 09: find the functions in which a program spends its time, and learn how profiling changes the times.

The steps appear on the screen in the order of this file. Some sentences of an explanation depend on the measurements on
this machine.
"""

import ast
import contextlib
import cProfile
import io
import pstats
import re
import shutil
import sys
import threading
import time
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from types import FrameType
from typing import NamedTuple

import torch
from torch import nn

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.machine import environment
from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.profiles.servers import served
from harness.profiles.stats import ProfiledFunction, ProfiledScript, of_one_thread, rows, run_script
from harness.rendering import units
from harness.rendering.tables import Table
from harness.storage.user_files import state_folder
from lessons.engine import Choice, Guess, Interval, Lesson, Page, largest
from lessons.engine.command import main
from lessons.engine.recorded_run import RecordedRun
from lessons.engine.words import followed, yes_no

lesson = Lesson(
    __file__,
    objective="You can profile a program, distinguish own and cumulative time, and explain how a profiler slows code.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def little() -> int:
    return 1


@lesson.given
def much() -> int:
    total = 0
    for i in range(20_000):
        total += i * i
    return total


@lesson.given
def program(calls: int) -> None:
    for _ in range(calls):
        little()
    for _ in range(calls // 10_000):
        much()


@lesson.given
def counting(call: Callable[[], object]) -> Counter[str]:
    calls = Counter[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1

    sys.setprofile(note)
    call()
    sys.setprofile(None)
    return calls


@lesson.given
def sampling(call: Callable[[], object]) -> Counter[str]:
    seen, over = Counter[str](), threading.Event()
    me = threading.get_ident()

    def look() -> None:
        while not over.wait(0.001):
            frame = sys._current_frames()[me]  # noqa: SLF001
            seen[frame.f_code.co_name] += 1

    watcher = threading.Thread(target=look)
    watcher.start()
    call()
    over.set()
    watcher.join()
    return seen


@lesson.given
def tracing(call: Callable[[], object]) -> Counter[str]:
    profile = cProfile.Profile()
    profile.runcall(call)
    own_us = Counter[str]()
    for each in rows(profile):
        own_us[each.name] += round(1e6 * each.own_s)
    return own_us


@lesson.given
class Looks(NamedTuple):
    found: dict[str, Counter[str]]
    turns: list[dict[str, float]]


@lesson.step(
    "Three ways to profile",
    predict=Choice(
        "A program calls the function `little` 10 000 times as often as the function `much`. Which way to profile the "
        "program costs the most CPU time?",
        {"a": "counting each call", "b": "sampling about every millisecond", "c": "tracing each call with cProfile"},
    ),
    expected="a",
    wrong_reasoning="Students choose tracing, because it measures times and also counts. But this counter is a Python "
    "function, and `cProfile` is written in C.",
    fast={"turns": 3, "calls": 200_000},
)
def three_ways_to_look(
    turns: int = 5,
    calls: int = 400_000,
) -> Looks:
    """A profiler shows in which functions a program spends its time. There are three ways to profile.

    Counting records how often each function is called. Sampling checks at regular intervals which function is running.
    Tracing measures each call from beginning to end. In this step we write a counter and a sampler ourselves, and use
    `cProfile` for tracing. We measure the CPU time of a program with each profiler, and without a profiler.
    """

    def plain(call: Callable[[], None]) -> Counter[str]:
        call()
        return Counter()

    seconds: list[dict[str, float]] = []
    found = defaultdict[str, Counter[str]](Counter)
    for _ in range(turns):
        seconds.append({})
        for way in (plain, counting, sampling, tracing):
            began_s = time.process_time()
            seen = way(lambda: program(calls))
            seconds[-1][way.__name__] = time.process_time() - began_s
            found[way.__name__].update(seen)
    return Looks(found, seconds)


COUNTS_KNOW_NO_TIME = three_ways_to_look.claim(
    "counts-know-no-time",
    "most samples are in `much`, although `little` is called more than 1 000 times as often",
    at_least=0.5,
    unit=units.percent,
)
TRACING_COSTS = three_ways_to_look.claim(
    "tracing-costs",
    "this program takes more than 1.2 times as long with tracing as without a profiler",
    at_least=1.2,
    unit=units.ratio,
)
SAMPLING_COSTS_LESS = three_ways_to_look.claim(
    "sampling-costs-less", "this program takes longer with tracing than with sampling", at_least=1, unit=units.ratio
)
TRACING_BLAMES_CALLS = three_ways_to_look.claim(
    "tracing-blames-calls",
    "the share of `much` in the traced time is at least 5 percentage points below its share of the samples",
    at_least=0.05,
    unit=units.percent,
)

NAMES = ("little", "much", "program")
WAYS = ("counting", "sampling", "tracing")


@three_ways_to_look.explain
def _(page: Page, looks: Looks) -> None:
    calls, samples, micros = (looks.found[way] for way in WAYS)
    sampled_all, traced_all = (sum(seen[name] for name in NAMES) for seen in (samples, micros))
    sampled = Interval.share(samples["much"], sampled_all)
    traced = micros["much"] / (traced_all or 1)
    page.table(shares(looks))
    costs = {way: Interval.every(turn[way] / turn["plain"] for turn in looks.turns) for way in WAYS}
    medians = [(way, median(turn[way] / turn["plain"] for turn in looks.turns)) for way in WAYS]
    caption = "CPU time with each profiler ÷ CPU time without a profiler, median"
    page.output(plots.bars(medians, unit=units.ratio), caption=caption)
    page.reveal(largest(dict(zip("abc", costs.values(), strict=True))))
    often = calls["little"] / max(calls["much"], 1)
    shown_share = sampled if often > 1000 else Interval.exact(0.0)
    page.settle(COUNTS_KNOW_NO_TIME, shown_share, remark=f"{units.ratio(often)} as many calls of `little` as of `much`")
    page.settle(TRACING_COSTS, costs["tracing"])
    page.settle(SAMPLING_COSTS_LESS, Interval.every(turn["tracing"] / turn["sampling"] for turn in looks.turns))
    page.settle(
        TRACING_BLAMES_CALLS, sampled.mapped(lambda share: share - traced), remark="the difference of the shares"
    )
    page.say(
        "The number of calls is exact, but contains no information about time. Our counter is a Python function that",
        "runs at each call and return, which slows the program.",
    )
    page.say(
        "Samples show which functions take a long time.",
        SAMPLING_COSTS_LESS.words(
            held="In this run, sampling costs less CPU time than tracing.",
            refuted="In this run, sampling costs more CPU time than tracing.",
            unclear="This run does not show whether sampling costs less CPU time than tracing.",
        ),
        sampler_text(sys.getswitchinterval(), environment.gil()),
    )
    page.say(
        "Tracing counts the calls and measures their times, but it also takes time at each call and return.",
        TRACING_BLAMES_CALLS.words(
            held="The profile counts some of this time as time of the program's functions. A function that makes many"
            " short calls therefore looks slower than it is.",
            refuted="In this run, tracing did not make the share of `much` smaller by 5 percentage points.",
            unclear="This run has too few samples to show how much tracing changes the shares of the functions.",
        ),
    )


def sampler_text(switch_interval_s: float, gil: str) -> str:
    """Return sentences about how the GIL slows our sampler, or "" if the GIL is off.

    `switch_interval_s` is the time after which a waiting thread asks the running thread for the GIL, in seconds.
    """
    if gil == environment.GIL_OFF:
        return ""
    return (
        "For each sample, our sampler needs Python's global lock (the GIL). After waiting for"
        f" {units.seconds(switch_interval_s)}, it asks the program's thread to release the lock. It therefore often"
        " takes fewer samples than one per millisecond."
    )


def shares(looks: Looks) -> Table:
    """Return a table with the calls of each function and its shares of the samples and of the traced time."""
    calls, samples, micros = (looks.found[way] for way in WAYS)
    sampled, traced = (sum(seen[name] for name in NAMES) for seen in (samples, micros))
    lines = [(name, calls[name], samples[name] / (sampled or 1), micros[name] / (traced or 1)) for name in NAMES]
    heads = {
        "function": None,
        "calls": units.count,
        "share of samples": units.percent,
        "share of traced time": units.percent,
    }
    return Table.of(f"One program, profiled in three ways; {units.some(sampled, 'sample')}", heads, lines)


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def many_functions(times: int) -> Callable[[], None]:
    text = "\n".join(f"def f{n}(): return {n}" for n in range(1000))
    functions: dict[str, Callable[[], int]] = {}
    exec(text, {}, functions)  # noqa: S102 - our own text

    def call_all() -> None:
        for _ in range(times):
            for function in functions.values():
                function()

    return call_all


@lesson.given
def with_cprofile(call: Callable[[], object]) -> cProfile.Profile:
    profile = cProfile.Profile()
    profile.runcall(call)
    return profile


@lesson.given
def each_event(call: Callable[[], object]) -> list[object]:
    events: list[object] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_name
        events.append((name, event, time.perf_counter()))

    sys.setprofile(note)
    call()
    sys.setprofile(None)
    return events


@lesson.given
def taken_bytes(
    way: Callable[[Callable[[], object]], object],
    call: Callable[[], object],
) -> int:
    tracemalloc.start()
    result = way(call)
    now_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return now_bytes


@lesson.given
class Taken(NamedTuple):
    way: str
    few_bytes: int
    many_bytes: int


@lesson.step(
    "The memory of a profiler",
    predict=Choice.ranges(
        "A program calls each of 1000 functions. What is the memory of `cProfile` if each function is called ten times"
        " as often, divided by its memory before?",
        (2, 5),
        units.ratio,
    ),
    expected="a",
    wrong_reasoning="Students think that a profiler keeps each call. But `cProfile` keeps only one entry per function "
    "and caller, and adds up the times.",
    fast={"times": 1},
)
def memory_of_a_profiler(times: int = 4) -> list[Taken]:
    """A profiler also takes memory. The amount depends on what the profiler stores.

    The counter and the sampler of step 1 store one number for each function. `cProfile` stores a row for each function,
    and for each pair of a caller and a called function. The function `each_event` stores the time of each call and of
    each return instead. Such a *trace* shows the order of the calls.

    `tracemalloc` counts the bytes that each profiler still uses at the end.
    """
    ways: tuple[Callable[[Callable[[], object]], object], ...]
    ways = (counting, sampling, with_cprofile, each_event)
    found = []
    for way in ways:
        few = taken_bytes(way, many_functions(times))
        many = taken_bytes(way, many_functions(10 * times))
        found.append(Taken(way.__name__, few, many))
    return found


PROFILE_STAYS_SMALL = memory_of_a_profiler.claim(
    "profile-stays-small",
    "with ten times as many calls, `cProfile` takes at most 1.5 times as much memory",
    at_most=1.5,
    unit=units.ratio,
)
TRACE_GROWS = memory_of_a_profiler.claim(
    "trace-grows",
    "with ten times as many calls, a trace of each event takes at least 3 times as much memory",
    at_least=3,
    unit=units.ratio,
)


@memory_of_a_profiler.explain
def _(page: Page, found: list[Taken]) -> None:
    stored = {
        "counting": "a number per function",
        "sampling": "a number per function seen",
        "with_cprofile": "a row per function",
        "each_event": "a row per call and return",
    }
    heads = {"profiler": None, "stores": None, "few calls": units.size, "ten times as many": units.size}
    page.table(
        Table.of(
            "The memory of four profilers",
            heads,
            [(each.way, stored[each.way], each.few_bytes, each.many_bytes) for each in found],
        )
    )
    by_name = {each.way: each for each in found}
    rows_, events = by_name["with_cprofile"], by_name["each_event"]
    page.reveal(rows_.many_bytes / rows_.few_bytes)
    page.settle(PROFILE_STAYS_SMALL, rows_.many_bytes / rows_.few_bytes)
    page.settle(TRACE_GROWS, events.many_bytes / events.few_bytes)
    page.say(
        PROFILE_STAYS_SMALL.words(
            held="`cProfile` adds the time of each call to the row of its function, and keeps no call. So you can"
            " profile a program for hours.",
            refuted="In this run, the memory of `cProfile` grew to more than 1.5 times its size.",
            unclear="This run does not show whether the memory of `cProfile` grows with the calls.",
        ),
        TRACE_GROWS.words(
            held="A trace keeps each call, so its memory grows with the number of calls. Record a trace for a few"
            " seconds only. Lesson 11 does this with torch's profiler.",
            refuted="In this run, the memory of the trace grew to less than three times its size.",
            unclear="This run does not show how much the trace grows.",
        ),
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def script(numbers: int) -> str:
    return f"""
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def clean(word):
    return int(word.strip())

def load(numbers):
    total = 0
    for n in range(numbers):
        total += clean(f" {{n}} ")
    return total

def report():
    return clean("7" * 4_000) + fib(16)

def main():
    load({numbers})
    report()

import time
began_s = time.process_time()
main()
print(time.process_time() - began_s)
"""


@lesson.given
class ScriptProfile(NamedTuple):
    functions: tuple[ProfiledFunction, ...]
    printed: str
    wall_s: float


@lesson.step(
    "Own time and cumulative time",
    predict=Choice(
        "The function `main` only calls `load` and `report`. We sort the profile once by own time (`tottime`) and "
        "once by cumulative time (`cumtime`). In which of these two orders is `main` near the top?",
        {"a": "in both orders", "b": "only by cumulative time", "c": "in neither order"},
    ),
    expected="b",
    wrong_reasoning="Students think that the most important function is at the top of each table. But `main` does "
    "nothing itself, so its own time is small.",
    fast={"numbers": 5_000},
)
def own_and_cumulative(
    numbers: int = 20_000,
) -> ScriptProfile:
    """`cProfile` traces a script, and `pstats` sorts and prints the result.

    In the printed table, `ncalls` is the number of calls. `tottime` is the function's own time, without the functions
    that it calls. `cumtime` (cumulative time) is the time from call to return. Each `percall` is the mean time of a
    call, computed from the column before it.

    `cProfile.run` reads the wall clock. If another program interrupts a function, the wall clock continues, and the
    function looks slow. We therefore profile a second time with the CPU clock of this thread.

    From Python 3.12 on, a profile can also contain calls of other threads, such as those of a notebook. We discard such
    a profile and try again.
    """
    printed, all_of_it = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(all_of_it):
        cProfile.run(script(numbers), sort="tottime")
    wall_s = float(all_of_it.getvalue().partition(" in ")[2].split()[0])
    for _ in range(20):
        profile = cProfile.Profile(time.thread_time)
        with contextlib.redirect_stdout(io.StringIO()):
            profile.run(script(numbers))
        if of_one_thread(rows(profile)):
            break
    stats = pstats.Stats(profile, stream=printed).strip_dirs()
    stats.sort_stats("cumtime").print_stats("string", 6)
    stats.sort_stats("tottime").print_stats("string", 4)
    return ScriptProfile(rows(stats), printed.getvalue(), wall_s)


MAIN_HAS_ALL = own_and_cumulative.claim(
    "main-has-all",
    "the cumulative time of `main` is more than 90 % of the time of the script",
    at_least=0.9,
    unit=units.percent,
)
MAIN_DOES_NOTHING = own_and_cumulative.claim(
    "main-does-nothing",
    "the own time of `main` is less than a tenth of its cumulative time",
    at_most=0.1,
    unit=units.percent,
)
OWN_ADDS_UP = own_and_cumulative.claim(
    "own-adds-up",
    "the own times of all functions add up to 98 % to 102 % of the traced time",
    at_least=0.98,
    at_most=1.02,
    unit=units.percent,
)
CUMULATIVE_DOES_NOT = own_and_cumulative.claim(
    "cumulative-does-not",
    "the cumulative times of all functions add up to more than twice the time of the script",
    at_least=2.0,
    unit=units.ratio,
)
RECURSION = own_and_cumulative.claim(
    "recursion-in-two-numbers",
    "exactly one call of the recursive function `fib` comes from another function",
    equals=1,
    unit=units.count,
)


@own_and_cumulative.explain
def _(page: Page, profile: ScriptProfile) -> None:
    functions = profile.functions
    page.output(tables(profile.printed), caption="The tables of pstats, first sorted by cumtime, then by tottime")
    whole_s = named(functions, "<module>").cumulative_s
    traced_s = max(each.cumulative_s for each in functions)
    page.say(
        f"In the first run, `cProfile.run` printed {units.seconds(profile.wall_s)} of wall-clock time, in whole",
        f"milliseconds. The second run, whose tables are shown above, took {units.seconds(traced_s)} of CPU time.",
        "Reading the CPU clock takes longer than reading the wall clock, so the second run has more work to do.",
    )
    main, fib = named(functions, "main"), named(functions, "fib")
    page.reveal(place_of_main(functions), f"The own time of `main` is {units.seconds(main.own_s)}.")
    page.settle(MAIN_HAS_ALL, main.cumulative_s / whole_s)
    page.settle(MAIN_DOES_NOTHING, main.own_s / main.cumulative_s)
    page.settle(OWN_ADDS_UP, sum(each.own_s for each in functions) / traced_s)
    page.settle(CUMULATIVE_DOES_NOT, sum(each.cumulative_s for each in functions) / whole_s)
    page.settle(RECURSION, fib.outer_calls, remark=f"ncalls {fib.ncalls}")
    page.say(
        "Sort by own time to find the functions that do the work. Sort by cumulative time to find the functions whose",
        "calls lead to the work. The cumulative time of a function contains the cumulative times of the functions that",
        "it calls. A sum of cumulative times therefore counts the same second several times.",
    )
    page.say(
        f"`fib` calls itself. Its ncalls, {fib.ncalls}, means {units.some(fib.calls, 'call')}, of which",
        f"{units.count(fib.outer_calls)} came from other functions. The cumulative time of `fib` is the time of only",
        "those calls. The first `percall` is the own time divided by all calls. The second `percall` is the cumulative",
        "time divided by the calls from other functions.",
    )


def place_of_main(functions: Sequence[ProfiledFunction]) -> str:
    """Return the letter of the option that names the orders in which `main` is near the top of the profile."""
    main, whole_s = named(functions, "main"), named(functions, "<module>").cumulative_s
    by_cumulative = sorted((each for each in functions if each.file != "~"), key=lambda each: -each.cumulative_s)
    if main not in by_cumulative[:2]:  # the first function is the script itself, `<module>`, which calls `main`
        return "c"
    return "b" if main.own_s < whole_s / 10 else "a"


def named(functions: Sequence[ProfiledFunction], name: str) -> ProfiledFunction:
    """Return the first function with the name `name`."""
    return next(each for each in functions if each.name == name)


def tables(printed: str) -> str:
    """Return the tables in the output of pstats, without the lines before and after them."""
    around = re.compile(r" *(\d+ function calls|Ordered by|Random listing|List reduced|.*\.prof$|$)")
    return "\n".join(line.rstrip() for line in printed.splitlines() if not around.match(line.rstrip()))


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Callers(NamedTuple):
    functions: tuple[ProfiledFunction, ...]
    printed: str


@lesson.step(
    "Which caller takes the time?",
    predict=Choice(
        "`load` calls `clean` thousands of times, and `report` calls `clean` once. Into which parts does a "
        "profile divide the time of `clean`?",
        {"a": "it contains only the sum of all calls", "b": "one part for each caller", "c": "one part for each call"},
    ),
    expected="b",
    wrong_reasoning="Students think that a profile keeps each call or only a sum. But `cProfile` keeps one sum for "
    "each pair of caller and function.",
    fast={"numbers": 5_000},
)
def who_called_it(
    numbers: int = 20_000,
) -> Callers:
    """A profile also contains the callers of each function, with the number and the time of their calls.

    `print_callers("clean")` prints the callers of all functions whose names contain `clean`. `print_callees("report")`
    prints the functions that are called by functions whose names contain `report`.
    """
    printed = io.StringIO()
    profile = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()):
        profile.run(script(numbers))
    stats = pstats.Stats(profile, stream=printed).strip_dirs()
    stats.print_callers("clean")
    stats.print_callees("report")
    return Callers(rows(stats), printed.getvalue())


CALLERS_ADD_UP = who_called_it.claim(
    "callers-add-up",
    "the times of `clean` for each of its callers add up to the cumulative time of `clean`",
    at_least=0.999,
    at_most=1.001,
    unit=units.percent,
)
ONE_CALL_COUNTS = who_called_it.claim(
    "one-call-counts",
    "the single call of `clean` from `report` takes longer than ten average calls from `load`",
    at_least=10,
    unit=units.ratio,
)


@who_called_it.explain
def _(page: Page, found: Callers) -> None:
    page.output(tables(found.printed), caption="The output of print_callers and print_callees")
    clean = named(found.functions, "clean")
    calls = [clean.callers.get(name, (0, 0.0)) for name in ("load", "report")]
    (often, often_s), (once, once_s) = ((times, seconds or 0.0) for times, seconds in calls)
    page.reveal(
        caller_option(clean),
        f"Calls from `load`: {units.seconds(often_s)}. Calls from `report`: {units.seconds(once_s)}.",
    )
    page.settle(CALLERS_ADD_UP, (often_s + once_s) / clean.cumulative_s)
    times = (once_s / max(once, 1)) / (often_s / max(often, 1))
    page.settle(ONE_CALL_COUNTS, times, remark="as long as an average call from `load`")
    page.say(
        "Each row of a profile adds up the calls from all callers, and `percall` is the mean time of these calls. A",
        "single call may take much longer than the mean. For example, `report` gives `clean` a word of thousands of",
        "digits. If a helper function is at the top of a profile, first find out which caller causes its time.",
    )


def caller_option(clean: ProfiledFunction) -> str:
    """Return the letter of the right option: "b" if the profile contains two callers of `clean`, else "a"."""
    return "b" if len(clean.callers) == 2 else "a"


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Tracers(NamedTuple):
    cprofile: ProfiledScript
    profile: ProfiledScript


@lesson.given
class CommandRuns(NamedTuple):
    sorted_by: ProfiledScript
    saved: list[Tracers]


@lesson.step(
    "The command line, and a profiler in pure Python",
    predict=Guess(
        "The module `profile` is a profiler written in Python. What is the time of a script under `profile` divided by "
        "its time under `cProfile`?",
        "times",
    ),
    expected="about 15 times",
    wrong_reasoning="Students think that two profilers with the same output cost the same. But `profile` runs Python "
    "code at each event, and `cProfile` runs C code.",
    fast={"turns": 1, "numbers": 5_000},
)
def from_the_command_line(
    turns: int = 3,
    numbers: int = 20_000,
) -> CommandRuns:
    """On the command line, you can profile a script without changing it: `python -m cProfile -s ncalls script.py`.

    `-s` sorts the printed table. `-o FILE` saves the profile in a file, and prints no table. The standard library has a
    second tracer, `profile`, with the same options. Like our counter of step 1, it runs a Python function at each call
    and return. We run the script under both tracers. The script prints its own CPU time.
    """
    source = script(numbers)
    sorted_by = run_script(source, "cProfile", "-s", "ncalls")
    saved = [
        Tracers(
            cprofile=run_script(source, "cProfile", "-o", "FILE"),
            profile=run_script(source, "profile", "-o", "FILE"),
        )
        for _ in range(turns)
    ]
    return CommandRuns(sorted_by, saved)


O_PRINTS_NOTHING = from_the_command_line.claim(
    "o-prints-nothing",
    "with `-o FILE`, the profilers do not print a table",
    equals=0,
    unit=followed("printed tables"),
)
S_SORTS = from_the_command_line.claim(
    "s-sorts", "with `-s ncalls`, the table is sorted by the number of calls", equals=True, unit=yes_no
)
SAME_CALLS = from_the_command_line.claim(
    "same-calls",
    "`profile` and `cProfile` count the same number of calls for each function of the script",
    equals=0,
    unit=followed("calls apart"),
)
PYTHON_IS_DEAR = from_the_command_line.claim(
    "python-is-dear",
    "the script takes more than twice as long under `profile` as under `cProfile`",
    at_least=2.0,
    unit=units.ratio,
)


@from_the_command_line.explain
def _(page: Page, runs: CommandRuns) -> None:
    beginning = "\n".join(tables(runs.sorted_by.printed).splitlines()[1:6])
    page.output(beginning, caption="The beginning of the output of python -m cProfile -s ncalls")
    last = runs.saved[-1]
    rows_of_both = [[named(ran.functions, name) for name in OWN_FUNCTIONS] for ran in last]
    page.table(both_tracers(*rows_of_both))
    slower = Interval.every(cpu_time(turn.profile) / cpu_time(turn.cprofile) for turn in runs.saved)
    page.reveal(slower)
    page.settle(O_PRINTS_NOTHING, sum("ncalls" in ran.printed for ran in last))
    counts = [int(line.split()[0].split("/")[0]) for line in table_rows(runs.sorted_by.printed)]
    page.settle(S_SORTS, counts == sorted(counts, reverse=True))
    page.settle(SAME_CALLS, sum(abs(c.calls - p.calls) for c, p in zip(*rows_of_both, strict=True)))
    page.settle(PYTHON_IS_DEAR, slower)
    page.say(
        "Python calls both profilers at each call and each return. `cProfile` then runs C code, and `profile` runs a",
        "Python function. Use `cProfile` to profile. To learn how a tracer works, read the source of `profile`.",
        "`profile` restarts its clock after each event, so its own work is not part of the own times in the table. The",
        "CPU time of the script includes this work.",
        "A saved profile is not sorted. The program that reads the file sorts the functions.",
    )
    page.say(future_of_profile(sys.version_info[:2]))


OWN_FUNCTIONS = ("fib", "clean", "load", "report", "main")
"""The functions that the script defines."""


def both_tracers(c_rows: Sequence[ProfiledFunction], python_rows: Sequence[ProfiledFunction]) -> Table:
    """Return a table of the script's functions, with their calls and own times under both tracers."""
    heads = {
        "function": None,
        "cProfile: ncalls": None,
        "own time": units.seconds,
        "profile: ncalls": None,
        "own time ": units.seconds,
    }
    lines = [(c.name, c.ncalls, c.own_s, p.ncalls, p.own_s) for c, p in zip(c_rows, python_rows, strict=True)]
    return Table.of("The functions of the script under both tracers", heads, lines)


def cpu_time(ran: ProfiledScript) -> float:
    """Return the CPU time that the profiled script has printed, in seconds."""
    return float(ran.printed.split()[0])


def future_of_profile(version: tuple[int, ...]) -> str:
    """Return sentences about the future of `cProfile` and `profile`, for a version of Python (PEP 799)."""
    if version >= (3, 15):
        return "Since Python 3.15, the code of `cProfile` is in `profiling.tracing`. Python 3.17 will remove `profile`."
    return "Python 3.15 moves the code of `cProfile` to `profiling.tracing`. The name `cProfile` still works."


def table_rows(printed: str) -> list[str]:
    """Return the lines of a table that pstats has printed, without its heading."""
    lines = printed.splitlines()
    first = next(place for place, line in enumerate(lines) if line.split()[:2] == ["ncalls", "tottime"])
    return [line for line in lines[first + 1 :] if line.strip()]


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def two_layers() -> nn.Sequential:
    first, second = nn.Linear(64, 128), nn.Linear(128, 10)
    return nn.Sequential(first, nn.ReLU(), second)


@lesson.given
def train(network: nn.Sequential, steps: int) -> list[float]:
    x = torch.randn(256, 64)
    y = (x @ torch.randn(64, 10)).argmax(1)
    weights = list(network.parameters())
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(network(x), y)
        slopes = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, slope in zip(weights, slopes, strict=True):
                weight.sub_(slope, alpha=0.5)
        losses.append(loss.item())
    return losses


@lesson.given
def profiled(steps: int) -> tuple[list[float], cProfile.Profile]:
    torch.manual_seed(9)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    train(two_layers(), 2)
    profile = cProfile.Profile()
    losses = profile.runcall(train, two_layers(), steps)
    torch.set_num_threads(threads)
    return losses, profile


@lesson.given
class Training(NamedTuple):
    losses: list[float]
    functions: tuple[ProfiledFunction, ...]
    others: BackgroundLoad


@lesson.step(
    "Train a network",
    predict=Choice(
        "We train a network of two layers under `cProfile`. Which function has the largest own time?",
        {
            "a": "`train`, which contains the training loop",
            "b": "the backward pass",
            "c": "the matrix product of a layer",
            "d": "another function",
        },
    ),
    expected="b",
    wrong_reasoning="Students choose the training loop, because everything happens in it. But the loop only calls "
    "other functions, so its own time is small.",
    fast={"steps": 100},
)
def a_network_trained(
    steps: int = 500,
) -> Training:
    """Now we trace a few hundred training steps of a real network. `runcall` profiles a single function call.

    Two training steps run before the profile starts. The profile therefore does not contain work that happens only in
    the first steps, such as imports and the allocation of buffers.

    `cProfile` records a function that is written in C++, but not the C++ functions that it calls. Their time belongs to
    the own time of the recorded function.
    """
    with watch_background_load() as others:
        losses, profile = profiled(steps)
    return Training(losses, rows(profile), others)


IT_LEARNED = a_network_trained.claim(
    "it-learned",
    "the loss of the last training step is less than half of the loss of the first training step",
    at_most=0.5,
    unit=units.percent,
)
MANY_CALLS = a_network_trained.claim(
    "many-calls", "one training step makes more than 50 function calls", at_least=50, unit=followed("calls")
)
BACKWARD_NEAR_TOP = a_network_trained.claim(
    "backward-near-the-top", "the backward pass is among the first three functions by own time", at_most=3
)
LOOP_HARDLY_WORKS = a_network_trained.claim(
    "loop-hardly-works",
    "the own time of `train` is less than a fifth of its cumulative time",
    at_most=0.2,
    unit=units.percent,
)


@a_network_trained.explain
def _(page: Page, trained: Training) -> None:
    losses, functions, others = trained
    show_functions(page, trained)
    train_ = named(functions, "train")
    ranked = [each.name.rpartition(".")[2] for each in functions]
    letters = {"train": "a", "run_backward": "b", "linear": "c"}
    page.reveal(
        letters.get(ranked[0], "d"), f"`{functions[0].name}` has an own time of {units.seconds(functions[0].own_s)}."
    )
    page.settle(IT_LEARNED, losses[-1] / losses[0])
    calls = sum(each.calls for each in functions)
    page.settle(MANY_CALLS, calls / len(losses), remark=f"{units.count(calls)} in total")
    # The profile contains wall-clock times, so other programs can lengthen the own time of any function.
    place, disturbed = ranked.index("run_backward") + 1, others.is_high
    page.settle(BACKWARD_NEAR_TOP, place, unit=followed(f"of {len(ranked)}"), disturbed=disturbed)
    page.settle(LOOP_HARDLY_WORKS, train_.own_s / train_.cumulative_s, disturbed=disturbed)
    page.say(
        "Functions such as `run_backward` and `linear` are written in C++. `cProfile` does not record the C++",
        "functions that they call. The whole backward pass is therefore one row, `run_backward`. The profiler of",
        "lesson 11 shows the operators of the backward pass.",
    )
    whole_s = sum(each.own_s for each in functions)
    python_s = sum(each.own_s for each in functions if each.file != "~")
    page.say(
        f"In this run, functions written in Python take {units.percent(python_s / whole_s)} of the time. They prepare",
        "the work of the C++ code. With larger layers, this preparation takes a smaller share of the time.",
    )
    page.say(
        "For comparison, a lecture on high-performance machine learning shows the profile of 500 training steps. These",
        "steps made 326 044 calls in 1.073 s, of which `run_backward` took 0.249 s and `addmm` 0.189 s.",
    )


def show_functions(page: Page, trained: Training) -> None:
    """Print a table of the functions with the largest own times, and save a bar chart of them."""
    first = trained.functions[:9]
    lines = [
        (
            *(bare(each.name), each.ncalls, each.own_s, each.own_s / each.calls),
            *(each.cumulative_s, each.cumulative_s / each.outer_calls),
        )
        for each in first
    ]
    page.table(Table.of(f"{len(trained.losses)} training steps: functions sorted by own time", PSTATS, lines))
    title = "Training a network of two layers: own time by function"
    bars = [(bare(each.name), each.own_s) for each in first]
    page.save("own-time", bar_chart_svg(bars, title=title, unit=units.seconds))


def bare(name: str, most: int = 32) -> str:
    """Return the name of a function without the prefix `torch._C.`, shortened to at most `most` characters."""
    name = re.sub(r" of type object at 0x[0-9a-f]+", "", name.removeprefix("torch._C."))
    return name if len(name) <= most else f"…{name[1 - most :]}"


PSTATS = {
    "function": None,
    "ncalls": None,
    "tottime": units.seconds,
    "percall": units.seconds,
    "cumtime": units.seconds,
    "percall ": units.seconds,
}
"""The columns of a table of pstats, with the formats of their numbers."""


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
def step(total: float, x: float) -> float:
    return total + x * x


@lesson.given
def with_calls(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total = step(total, x)
    return total


@lesson.given
def inlined(numbers: list[float]) -> float:
    total = 0.0
    for x in numbers:
        total += x * x
    return total


@lesson.given
def cpu_s(
    call: Callable[..., object],
    *arguments: object,
) -> float:
    began_s = time.process_time()
    call(*arguments)
    return time.process_time() - began_s


@lesson.given
class Turn(NamedTuple):
    with_calls: float
    with_calls_traced: float
    inlined: float
    inlined_traced: float


@lesson.step(
    "How profiling changes the times",
    predict=Guess(
        "A loop calls a small function in each iteration. What is the time of the loop under `cProfile` divided by its "
        "time without a profiler?",
        "times",
    ),
    expected="about 5 times",
    wrong_reasoning="Students think that a profiler slows each line equally. But it adds its cost at each call, so "
    "code with many small calls is slowed the most.",
    fast={"turns": 3, "n": 50_000},
)
def what_asking_changes(
    turns: int = 7,
    n: int = 100_000,
) -> list[Turn]:
    """Tracing takes time at each call and return, so it does not slow all code equally.

    We compute the same sum in two loops. The first loop calls a function in each iteration. In the second loop, the
    code of this function replaces the call (the function is inlined). We measure the CPU time of both loops, with and
    without tracing.
    """
    numbers = [float(x) for x in range(n)]
    found = []
    for _ in range(turns):
        first, second = cProfile.Profile(), cProfile.Profile()
        found.append(
            Turn(
                cpu_s(with_calls, numbers),
                cpu_s(first.runcall, with_calls, numbers),
                cpu_s(inlined, numbers),
                cpu_s(second.runcall, inlined, numbers),
            )
        )
    return found


CALLS_ARE_SLOWED = what_asking_changes.claim(
    "calls-are-slowed",
    "the loop with calls takes more than 1.5 times as long with tracing as without",
    at_least=1.5,
    unit=units.ratio,
)
INLINING_GAINS = what_asking_changes.claim(
    "inlining-gains",
    "without tracing, the loop with calls takes longer than the inlined loop",
    at_least=1.0,
    unit=units.ratio,
)
GAIN_LOOKS_LARGER = what_asking_changes.claim(
    "gain-looks-larger",
    "the speedup from inlining is larger with tracing than without",
    at_least=1.0,
    unit=units.ratio,
)


@what_asking_changes.explain
def _(page: Page, turns: list[Turn]) -> None:
    least = Turn(*map(min, zip(*turns, strict=True)))
    lines = [
        ("with calls", least.with_calls, least.with_calls_traced, least.with_calls_traced / least.with_calls),
        ("inlined", least.inlined, least.inlined_traced, least.inlined_traced / least.inlined),
    ]
    heads = {"loop": None, "not traced": units.seconds, "traced": units.seconds, "traced ÷ not traced": units.ratio}
    page.table(Table.of(f"CPU time: shortest of {len(turns)} repetitions", heads, lines))
    slowed = Interval.every(turn.with_calls_traced / turn.with_calls for turn in turns)
    page.reveal(slowed)
    page.settle(CALLS_ARE_SLOWED, slowed)
    gains = [turn.with_calls / turn.inlined for turn in turns]
    traced_gains = [turn.with_calls_traced / turn.inlined_traced for turn in turns]
    page.settle(INLINING_GAINS, Interval.every(gains))
    larger = Interval.every(traced / plain for traced, plain in zip(traced_gains, gains, strict=True))
    page.settle(GAIN_LOOKS_LARGER, larger, remark="as large with tracing as without")
    inlined_slowed = Interval.every(turn.inlined_traced / turn.inlined for turn in turns)
    page.say(
        inlined_slowed.compare(at_least=SLOWED).words(
            held=f"The inlined loop is slower with tracing too. {why_inlined_is_slower(sys.version_info[:2])}",
            refuted="The inlined loop makes no calls, so tracing hardly slows it.",
            unclear="This run does not show whether tracing also slows the inlined loop.",
        )
    )
    page.say(
        f"Without tracing, the loop with calls takes {units.ratio(median(gains))} as long as the inlined loop. With",
        f"tracing, it takes {units.ratio(median(traced_gains))} as long. These are medians over all repetitions.",
        GAIN_LOOKS_LARGER.words(
            held="If you trust the traced times, you expect too much from inlining.",
            refuted="In this run, tracing did not exaggerate the speedup from inlining. It often does.",
            unclear="The repetitions do not agree, so this run does not show that tracing exaggerates the speedup.",
        ),
        "Use a profiler to find the functions that take a long time. Measure the speedup of a change with a clock,",
        "without a profiler.",
    )


SLOWED = 1.3
"""The inlined loop counts as slower if its time with tracing divided by its time without is at least this ratio."""


def why_inlined_is_slower(version: tuple[int, ...]) -> str:
    """Return sentences about why tracing slows a loop without calls, for a version of Python."""
    if version < (3, 12):
        return (
            "While a profiler is active, Python 3.11 does not use its faster specialized instructions. From Python 3.12"
            " on, tracing slows only code that calls functions or returns from them."
        )
    return (
        "In this version of Python, tracing slows only code that calls functions or returns from them, so another cause"
        " slowed this loop."
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
@lesson.given
class Pictures(NamedTuple):
    functions: tuple[ProfiledFunction, ...]
    saved_page: Path
    page: str
    listens_on: tuple[str, ...]
    ended: bool


@lesson.step(
    "A profile as a picture: SnakeViz",
    predict=Choice(
        "SnakeViz draws each function as a box below its caller. Which time of a function decides the width of its "
        "box?",
        {"a": "own time", "b": "cumulative time", "c": "cumulative time per call"},
    ),
    expected="b",
    wrong_reasoning="Students think that a wide box does much work itself. But the width also contains the time of "
    "all functions that it calls.",
    fast={"steps": 50},
)
def in_pictures(
    steps: int = 200,
) -> Pictures:
    """`snakeviz FILE` starts a small web server and opens a browser, which shows the profile as a picture.

    There are two kinds of picture: an icicle (rows of boxes) and a sunburst (rings). In this step we start the server
    without a browser (`--server`), load its page, and save the page as a single file. Any browser can open this file
    later, without the server.
    """
    _, profile = profiled(steps)
    folder = state_folder() / "09_cprofile"
    folder.mkdir(parents=True, exist_ok=True)
    file, saved_page = folder / "train.prof", folder / "train.html"
    profile.dump_stats(file)
    with served(file) as server:
        saved_page.write_text(server.standalone(), encoding="utf-8")
        page, listens_on = server.page(), server.listens_on()
    ended = not server.runs()
    return Pictures(rows(file), saved_page, page, listens_on, ended)


PAGE_IS_SERVED = in_pictures.claim(
    "page-is-served",
    "the page of SnakeViz contains more than nine tenths of the functions in the profile",
    at_least=0.9,
    unit=units.percent,
)
BOTH_PICTURES = in_pictures.claim(
    "both-pictures",
    "the page of SnakeViz offers an icicle and a sunburst",
    equals=2,
    unit=followed("of 2"),
)
LOOPBACK_ONLY = in_pictures.claim(
    "loopback-only",
    "other computers cannot reach the server of SnakeViz: it listens only on 127.0.0.1",
    equals=0,
    unit=followed("other addresses"),
)
SAVED_PAGE_IS_WHOLE = in_pictures.claim(
    "kept-page-is-whole",
    "the saved page of SnakeViz loads no other file",
    equals=0,
    unit=followed("loaded files"),
)
SERVER_ENDED = in_pictures.claim(
    "server-ended", "at the end of the step, the server of SnakeViz no longer runs", equals=True, unit=yes_no
)


@in_pictures.explain
def _(page: Page, pictures: Pictures) -> None:
    page.output(icicle(pictures.functions), caption="The first two rows of the icicle")
    page.reveal(width_option(pictures.page), "The lesson found this rule in the code of SnakeViz's page.")
    drawn, functions = len(drawn_in(pictures.page)), len(pictures.functions)
    page.settle(PAGE_IS_SERVED, drawn / functions, remark=f"{drawn} of {functions}")
    page.settle(BOTH_PICTURES, sum(f'value="{style}"' in pictures.page for style in ("icicle", "sunburst")))
    if pictures.listens_on:
        page.settle(LOOPBACK_ONLY, sum(address != "127.0.0.1" for address in pictures.listens_on))
    else:
        page.skip(LOOPBACK_ONLY, "this system does not show on which addresses a process listens")
    whole = pictures.saved_page.read_text(encoding="utf-8")
    loaded = re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](?!data:)""", whole)
    page.settle(SAVED_PAGE_IS_WHOLE, len(loaded))
    page.settle(SERVER_ENDED, pictures.ended)
    profile = pictures.saved_page.with_suffix(".prof")
    page.say(f"Open {pictures.saved_page} in a browser, or run `snakeviz {profile}`.")
    show_recorded_page(page)
    page.say(
        "Follow the widest boxes downwards until you find a wide box without boxes below it. The function of this box",
        "does the work. SnakeViz draws the own time of a function as an additional box below the function. Click on a",
        "function to draw it at the top.",
    )
    page.say(
        "A profile contains pairs of a caller and a called function, but not longer chains of calls. Suppose that two",
        "functions call `clean`, and `clean` calls `strip`. The profile does not show how much time of `strip` belongs",
        "to each of the two callers. SnakeViz draws the whole time of `strip` below both callers, and makes the boxes",
        "below a function narrower if they do not fit.",
    )
    page.say(
        "The page of SnakeViz's server first tries to load two libraries from a public server. If that fails, it uses",
        "copies that SnakeViz contains. The saved page contains both libraries.",
    )


def show_recorded_page(page: Page) -> None:
    """Show a recorded picture of SnakeViz's page, for students who cannot open a browser."""
    recorded = RecordedRun.load(lesson.recorded).steps.get("in_pictures")
    picture, profile = (lesson.recorded / name for name in ("snakeviz.png", "train.prof"))
    if recorded is not None and picture.is_file():
        page.photo(picture, caption="A recorded picture of SnakeViz's page: the icicle of 200 training steps")
        page.say(
            f"The picture was recorded on {recorded.made_on.describe()}. If you can open a browser, run",
            f"`snakeviz {profile}` to see the same profile.",
        )


def icicle(functions: Sequence[ProfiledFunction]) -> str:
    """Return the first two rows of the icicle as bars: the first function, and the functions that it calls."""
    root = max(functions, key=lambda each: each.cumulative_s)
    below = [(each.name, each.callers[root.name][1] or 0.0) for each in functions if root.name in each.callers]
    ranked = sorted(below, key=lambda each: -each[1])[:6]
    wide = [(root.name, root.cumulative_s), *((f"  {bare(name)}", seconds) for name, seconds in ranked)]
    return plots.bars(wide, width=30, unit=units.seconds)


def width_option(page: str) -> str | None:
    """Return the letter of the time that decides the width of a box in SnakeViz's page, or None if it is unknown.

    The code of the page reads a field of a function's `stats`. Field 2 is the own time, and field 3 is the cumulative
    time.
    """
    width = re.search(r"node_time = stats\[node_name\]\['stats'\]\[(\d)\]", page)
    return {"2": "a", "3": "b"}.get(width[1]) if width else None


def drawn_in(page: str) -> dict[str, object]:
    """Return the functions that a page of SnakeViz contains. The result is empty if the page contains no profile."""
    data = re.search(r"var stats = (\{.*\});", page)
    return dict(ast.literal_eval(data[1])) if data else {}


def record_page(folder: Path) -> list[Path]:
    """Record the profile of a training and a picture of its page in SnakeViz. Return the written files."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only maintainers record, with fairclock[browser]

    file, picture = folder / "train.prof", folder / "snakeviz.png"
    pstats.Stats(profiled(200)[1]).strip_dirs().dump_stats(file)
    with served(file) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(server.url)
        page.wait_for_selector("#chart svg rect")
        page.screenshot(path=picture)
        browser.close()
    return [file, picture]


lesson.recorder = record_page

lesson.key_points = (
    "Own time shows which functions do the work. Cumulative time shows which calls lead to the work.",
    "Tracing takes time at each call. A function that makes many short calls therefore looks slower than it is.",
    "Find slow functions and their callers with a profiler. Measure the speedup of a change without a profiler.",
)
lesson.references = (
    "Python, “The Python Profilers”: docs.python.org/3/library/profile.html",
    "SnakeViz: jiffyclub.github.io/snakeviz",
    "Graham, Kessler, McKusick: gprof, a call graph execution profiler (SIGPLAN 1982), on the shares of callers",
)

if __name__ == "__main__":
    main(lesson)
