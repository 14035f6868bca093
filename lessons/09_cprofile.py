"""Lesson 09: where the time goes, and what asking does to it.

Read it top to bottom: it is the screen's own order. Two scripts and a network are profiled, and looked at from one side
after the other.
"""

import ast
import contextlib
import cProfile
import io
import pstats
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import FrameType
from typing import NamedTuple

import torch
from torch import nn

from harness import plots, units
from harness.bar_chart import bar_chart_svg
from harness.profiles import Function, Ran, of_one_thread, rows, run_script, served
from harness.state import state_folder
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, counted, every
from lessons.engine.words import followed, yes_no

lesson = Lesson(
    __file__,
    title="Where does the time go?",
    objective="Afterwards you can profile a program, tell own from cumulative time, and say what profiling changes.",
    minutes=20,
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


@lesson.step(
    "Three ways to look",
    predict=Choice(
        "`little` is called 10 000 times as often as `much`. Which way to look costs the program most time?",
        {"a": "counting each call", "b": "sampling, a look now and then", "c": "tracing with cProfile"},
    ),
    claims={
        "counts-know-no-time": "most samples are in a function that is called less than a thousandth as often",
        "tracing-costs": "tracing makes this program take more than 1.2 times as long",
        "sampling-costs-less": "sampling costs less than tracing",
        "tracing-blames-calls": "tracing gives that function a smaller part of the time than sampling does",
    },
    fast={"turns": 3, "calls": 200_000},
)
def three_ways_to_look(
    turns: int = 5,
    calls: int = 400_000,
) -> tuple[dict[str, Counter[str]], list[dict[str, float]]]:
    """A profiler can count what happens, look from time to time, or follow every call from beginning to end.

    Counting tells how often, sampling about how long, tracing both. All three fit on this page: the first two are
    written out, the third is `cProfile`. We measure the program's CPU time with each of them, and without.
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
    return found, seconds


@three_ways_to_look.observe
def explain_looks(page: Page, looks: tuple[dict[str, Counter[str]], list[dict[str, float]]]) -> None:
    found, turns = looks
    names = ("little", "much", "program")
    calls, samples, micros = (found[way] for way in ("counting", "sampling", "tracing"))
    whole = {way: sum(seen[name] for name in names) or 1 for way, seen in found.items()}
    shares = [(name, calls[name], samples[name] / whole["sampling"], micros[name] / whole["tracing"]) for name in names]
    heads = {"function": None, "calls counted": units.count, "of the samples": PART, "of the traced time": PART}
    page.table(Table.of(f"One program, three witnesses; {units.some(whole['sampling'], 'sample')}", heads, shares))
    ways = ("counting", "sampling", "tracing")
    costs = {way: median(turn[way] / turn["plain"] for turn in turns) for way in ways}
    bars = list(costs.items())
    page.output(plots.bars(bars, unit=units.ratio), caption="CPU time with it, as times the plain program's")
    dearest = max(ways, key=lambda way: costs[way])
    page.reveal("abc"[ways.index(dearest)], f"{units.ratio(costs[dearest])} the plain program's time.")
    sampled, traced = shares[1][2:]
    doubt = counted(sampled, whole["sampling"])
    often = calls["little"] / max(calls["much"], 1)
    rarely = f"{units.ratio(often)} fewer calls"
    page.claim("counts-know-no-time", sampled if often > 1000 else 0.0, low=0.5, error=doubt, unit=PART, remark=rarely)
    cost, error = every([turn["tracing"] / turn["plain"] for turn in turns])
    page.claim("tracing-costs", cost, low=1.2, error=error, unit=units.ratio)
    less, error = every([turn["sampling"] / turn["tracing"] for turn in turns])
    page.claim("sampling-costs-less", less, high=1.0, error=error, unit=units.ratio)
    blames = page.claim("tracing-blames-calls", sampled - traced, low=0.05, error=doubt, unit=PART, remark="less")
    least = min(ways, key=lambda way: costs[way]) == "sampling"
    page.say(
        "A count is exact and says nothing of time."
        + (" It is dear here, for a function of Python takes it at each call." if dearest == "counting" else ""),
        f"Samples {'cost the least' if least else 'were not cheap this time'}, and say about how much, of whatever",
        f"runs long enough to be met: who looks has to wait for Python's lock, up to {LOCK} here. Tracing knows it",
        "all, and is paid for by the call:",
        "a function that does little is made to look as if it did much."
        if blames.standing is Standing.HELD
        else "what that does to a function that does little could not be seen here.",
    )


LOCK = units.seconds(sys.getswitchinterval())
PART = units.percent
"""Shows a part of a whole."""


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.step(
    "Own time, cumulative time",
    predict=Choice(
        "`main` calls `load` and `report`, and returns. Where does it stand by `tottime`, where by `cumtime`?",
        {"a": "high in both", "b": "high by cumtime, low by tottime", "c": "low in both"},
    ),
    claims={
        "main-has-all": "the cumulative time of `main` is more than 90 % of the script's",
        "main-does-nothing": "its own time is less than a tenth of it",
        "own-adds-up": "own times add up to the whole, to 2 %",
        "cumulative-does-not": "cumulative times add up to more than twice the whole",
        "recursion-in-two-numbers": "of the calls of `fib`, one is an outer call",
    },
    fast={"numbers": 5_000},
)
def own_and_cumulative(
    numbers: int = 20_000,
) -> tuple[tuple[Function, ...], str, float]:
    """`cProfile` traces a statement, here a script, and `pstats` sorts what it has found and prints it.

    `ncalls` is how often a function was called; `tottime` its own time, without what it called; `cumtime` the time from
    its call to its return; and each `percall` is the time before it for one call.

    `cProfile.run(statement)` reads the wall clock. While another program has the core, that clock goes on, and the
    function that was running gets the time. So we give the profiler this thread's CPU clock.

    From Python 3.12 on, a profile also holds what other threads called meanwhile, as those of a notebook do, mixed with
    our calls. We drop such a profile and take another.
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
    return rows(stats), printed.getvalue(), wall_s


@own_and_cumulative.observe
def explain_own(page: Page, found: tuple[tuple[Function, ...], str, float]) -> None:
    functions, printed, wall_s = found
    page.output(tables(printed), caption="What pstats prints, by cumtime, and by tottime")
    whole_s = named(functions, "<module>").cumulative_s
    traced_s = max(each.cumulative_s for each in functions)
    page.say(
        f"`cProfile.run` printed {units.seconds(wall_s)} of wall time for this script, to the millisecond.",
        f"The second run took {units.seconds(traced_s)} of CPU time.",
    )
    main = named(functions, "main")
    by_cumulative = sorted((each for each in functions if each.file != "~"), key=lambda each: -each.cumulative_s)
    first = main in by_cumulative[:2]  # the script itself, `<module>`, is around it
    last = main.own_s < whole_s / 10
    page.reveal("b" if first and last else "a" if first else "c", f"Its own are {units.seconds(main.own_s)}.")
    page.claim("main-has-all", main.cumulative_s / whole_s, low=0.9, unit=PART)
    page.claim("main-does-nothing", main.own_s / main.cumulative_s, high=0.1, unit=PART)
    page.claim("own-adds-up", sum(each.own_s for each in functions) / traced_s, 0.98, 1.02, unit=PART)
    every_s = sum(each.cumulative_s for each in functions)
    page.claim("cumulative-does-not", every_s / whole_s, low=2.0, unit=units.ratio)
    fib = named(functions, "fib")
    page.claim("recursion-in-two-numbers", fib.outer_calls, 1, 1, unit=units.count, remark=f"ncalls {fib.ncalls}")
    page.say(
        "By cumulative time you find the way down: who asked for the work. By own time you find the work itself. A",
        "caller has the time of everything below it, so cumulative times count one second many times over.",
    )
    page.say(
        f"`fib` calls itself: {fib.ncalls} says that {units.count(fib.calls)} calls were made, and of these",
        f"{units.count(fib.outer_calls)} while no other was open. Only such calls count for its cumulative time. The",
        "first `percall` divides by all calls, the second by outer ones.",
    )


def named(functions: tuple[Function, ...], name: str) -> Function:
    """Return the function of that name."""
    return next(each for each in functions if each.name == name)


def tables(printed: str) -> str:
    """Return the tables of what pstats prints, without the lines around them."""
    around = re.compile(r" *(\d+ function calls|Ordered by|Random listing|List reduced|.*\.prof$|$)")
    return "\n".join(line.rstrip() for line in printed.splitlines() if not around.match(line.rstrip()))


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "Who called it?",
    predict=Choice(
        "`load` calls `clean` thousands of times, `report` once. Can a profile tell their shares of its time?",
        {"a": "no, it has one line for `clean`", "b": "yes, it keeps the time for each caller"},
    ),
    claims={
        "callers-add-up": "what `clean` took for each of its callers adds up to its cumulative time",
        "one-call-counts": "the single call from `report` takes longer than ten of those from `load`",
    },
    fast={"numbers": 5_000},
)
def who_called_it(
    numbers: int = 20_000,
) -> tuple[tuple[Function, ...], str]:
    """A profile also holds, for each function, who called it: how often, and how long these calls took.

    `print_callers` shows that for the functions whose names match, `print_callees` the same in the other direction.
    """
    printed = io.StringIO()
    profile = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()):
        profile.run(script(numbers))
    stats = pstats.Stats(profile, stream=printed).strip_dirs()
    stats.print_callers("clean")
    stats.print_callees("report")
    return rows(stats), printed.getvalue()


@who_called_it.observe
def explain_callers(page: Page, found: tuple[tuple[Function, ...], str]) -> None:
    functions, printed = found
    page.output(tables(printed), caption="What print_callers and print_callees print")
    clean = named(functions, "clean")
    (often, often_s), (once, once_s) = (clean.callers.get(name, (0, 0.0)) for name in ("load", "report"))
    page.reveal("b" if len(clean.callers) == 2 else "a", f"{units.seconds(often_s)}, and {units.seconds(once_s)}.")
    page.claim("callers-add-up", (often_s + once_s) / clean.cumulative_s, 0.999, 1.001, unit=PART)
    each = (once_s / max(once, 1)) / (often_s / max(often, 1))
    page.claim("one-call-counts", each, low=10, unit=units.ratio, remark="a call's time")
    page.say(
        "A line of a profile is a mean over all callers. `percall` says what none of these calls took: a word of a few",
        "digits is nothing, one of thousands is. When a helper stands at the top, ask for whom before you change it.",
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "From the command line, and in pure Python",
    predict=Guess("`profile` is cProfile written in Python. How many times as long does the script take?", "times"),
    claims={
        "o-prints-nothing": "with `-o`, the table goes to the file and none is printed",
        "s-sorts": "with `-s ncalls`, the table begins with what was called most",
        "same-calls": "both profilers count the same calls of the script's functions",
        "python-is-dear": "the script takes more than twice as long under `profile` as under `cProfile`",
    },
    fast={"turns": 1, "numbers": 5_000},
)
def from_the_command_line(
    turns: int = 3,
    numbers: int = 20_000,
) -> tuple[Ran, list[dict[str, Ran]]]:
    """A whole script needs no change: `python -m cProfile -s ncalls script.py`, or `-o FILE` to save the profile.

    The standard library has a second tracer, `profile`, with the same options. The script prints its own CPU time.
    """
    source = script(numbers)
    sorted_by = run_script(source, "cProfile", "-s", "ncalls")
    saved = [
        {
            name: run_script(source, name, "-o", "FILE")
            for name in ("cProfile", "profile")
        }
        for _ in range(turns)
    ]  # fmt: skip
    return sorted_by, saved


@from_the_command_line.observe
def explain_commands(page: Page, found: tuple[Ran, list[dict[str, Ran]]]) -> None:
    sorted_by, turns = found
    page.output("\n".join(tables(sorted_by.printed).splitlines()[1:6]), caption=SHOWN)
    last = turns[-1]
    mine = ("fib", "clean", "load", "report", "main")
    pairs = [[named(last[name].functions, each) for each in mine] for name in ("cProfile", "profile")]
    heads = {
        "function": None,
        "cProfile: ncalls": None,
        "own time": units.seconds,
        "profile: ncalls": None,
        "own time ": units.seconds,
    }
    lines = [(c.name, c.ncalls, c.own_s, p.ncalls, p.own_s) for c, p in zip(*pairs, strict=True)]
    page.table(Table.of("One script, two tracers", heads, lines))
    times = [float(turn["profile"].printed.split()[0]) / float(turn["cProfile"].printed.split()[0]) for turn in turns]
    dearer, error = every(times)
    page.reveal(dearer)
    page.claim("o-prints-nothing", sum("ncalls" in ran.printed for ran in last.values()), 0, 0, unit=followed("tables"))
    counts = [int(line.split()[0].split("/")[0]) for line in table_rows(sorted_by.printed)]
    page.claim("s-sorts", int(counts == sorted(counts, reverse=True)), 1, 1, unit=yes_no)
    apart = sum(abs(c.calls - p.calls) for c, p in zip(*pairs, strict=True))
    page.claim("same-calls", apart, 0, 0, unit=followed("calls apart"))
    page.claim("python-is-dear", dearer, low=2.0, error=error, unit=units.ratio)
    page.say(
        "Both are called back at each call and return. In `cProfile` C code is, in `profile` a function of Python: so"
        " use the former, and the latter only to learn from or to derive from. `-s` sorts what is printed; a saved"
        " file is sorted by whoever reads it.",
        "Python 3.15 moved the code of `cProfile` to `profiling.tracing`, and Python 3.17 is to remove `profile`."
        if sys.version_info >= (3, 15)
        else "Python 3.15 moves the code of `cProfile` to `profiling.tracing`, and keeps the old name.",
    )


SHOWN = "The beginning of what python -m cProfile -s ncalls prints"


def table_rows(printed: str) -> list[str]:
    """Return the rows of a table that pstats has printed."""
    lines = printed.splitlines()
    first = next(place for place, line in enumerate(lines) if line.split()[:2] == ["ncalls", "tottime"])
    return [line for line in lines[first + 1 :] if line.strip()]


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.step(
    "A network, trained",
    predict=Choice(
        "A network of two layers is trained. Which has the most time of its own?",
        {"a": "the loop in `train`", "b": "the backward pass", "c": "a layer's product", "d": "something else"},
    ),
    claims={
        "it-learned": "the loss at the end is less than half of the first",
        "many-calls": "one step is more than 50 calls",
        "backward-near-the-top": "the backward pass is among the first three by own time",
        "loop-hardly-works": "the loop, with nearly all of the cumulative time, does less than a fifth itself",
    },
    fast={"steps": 100},
)
def a_network_trained(
    steps: int = 500,
) -> tuple[list[float], tuple[Function, ...]]:
    """Now for real: a few hundred steps of training, traced. `runcall` profiles a single call.

    Two steps go before, so that what happens only once (imports, buffers) is not in the profile.
    """
    losses, profile = profiled(steps)
    return losses, rows(profile)


@a_network_trained.observe
def explain_network(page: Page, found: tuple[list[float], tuple[Function, ...]]) -> None:
    losses, functions = found
    lines = [
        (
            *(bare(each.name), each.ncalls, each.own_s, each.own_s / each.calls),
            *(each.cumulative_s, each.cumulative_s / each.outer_calls),
        )
        for each in functions[:9]
    ]
    page.table(Table.of(f"{len(losses)} steps, most own time first", PSTATS, lines))
    bars = [(bare(each.name), each.own_s) for each in functions[:9]]
    title = "Training a network of two layers: own time by function"
    page.save("own-time", bar_chart_svg(bars, title=title, unit=units.seconds))
    train_ = named(functions, "train")
    ranked = [each.name.rpartition(".")[2] for each in functions]
    letters = {"train": "a", "run_backward": "b", "linear": "c"}
    page.reveal(letters.get(ranked[0], "d"), f"`{functions[0].name}`, {units.seconds(functions[0].own_s)}.")
    page.claim("it-learned", losses[-1] / losses[0], high=0.5, unit=PART)
    calls = sum(each.calls for each in functions)
    page.claim("many-calls", calls / len(losses), low=50, unit=units.count, remark=f"{units.count(calls)} in all")
    place = ranked.index("run_backward") + 1
    page.claim("backward-near-the-top", place, high=3, unit=followed(f"of {len(ranked)}"))
    page.claim("loop-hardly-works", train_.own_s / train_.cumulative_s, high=0.2, unit=PART)
    page.say(
        "What stands at the top are builtins: doors through which Python goes to C++ and waits. The profile cannot",
        "look behind them; `run_backward` is one line, whatever the layers are. Lesson 11 has the profiler that can.",
    )
    page.say(
        "A lecture on high-performance machine learning shows the same for 500 steps of its own network: 326 044 calls",
        "in 1.073 s, of which `run_backward` took 0.249 s and `addmm` 0.189 s. Hundreds of calls for one step: for",
        "small layers, what Python does around them is a good part of the time.",
    )


def bare(name: str, most: int = 32) -> str:
    """Return a function's name, that of a builtin without the module that torch's have in common."""
    name = name.removeprefix("torch._C.")
    return name if len(name) <= most else f"…{name[1 - most :]}"


PSTATS = {
    "function": None,
    "ncalls": None,
    "tottime": units.seconds,
    "percall": units.seconds,
    "cumtime": units.seconds,
    "percall ": units.seconds,
}


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.step(
    "What asking changes",
    predict=Guess(
        "A loop that calls a small function in each round: how many times as long does it take, traced?", "times"
    ),
    claims={
        "calls-are-slowed": "traced, the loop with calls takes more than 1.5 times as long",
        "inlining-gains": "without the profiler, the loop without calls takes less time",
        "gain-looks-larger": "inlining seems to gain more under the profiler than it does",
    },
    fast={"turns": 3, "n": 50_000},
)
def what_asking_changes(
    turns: int = 7,
    n: int = 100_000,
) -> list[dict[str, float]]:
    """Tracing is paid for at each call and return, so it slows different code by different amounts.

    The same sum, with a call in each round and without, plain and
    traced, in CPU seconds.
    """
    numbers = [float(x) for x in range(n)]
    found = []
    for _ in range(turns):
        seconds = {}
        for loop in (with_calls, inlined):
            name, profile = loop.__name__, cProfile.Profile()
            began_s = time.process_time()
            loop(numbers)
            plain_s = time.process_time()
            profile.runcall(loop, numbers)
            seconds[f"traced {name}"] = time.process_time() - plain_s
            seconds[name] = plain_s - began_s
        found.append(seconds)
    return found


@what_asking_changes.observe
def explain_asking(page: Page, turns: list[dict[str, float]]) -> None:
    least = {name: min(turn[name] for turn in turns) for name in turns[0]}
    lines = [
        (name, least[name], least[f"traced {name}"], least[f"traced {name}"] / least[name])
        for name in ("with_calls", "inlined")
    ]
    heads = {"loop": None, "plain": units.seconds, "traced": units.seconds, "times": units.ratio}
    page.table(Table.of(f"The shortest of {len(turns)} turns", heads, lines))
    slowed, error = every([turn["traced with_calls"] / turn["with_calls"] for turn in turns])
    page.reveal(slowed)
    page.claim("calls-are-slowed", slowed, low=1.5, error=error, unit=units.ratio)
    gains = [turn["with_calls"] / turn["inlined"] for turn in turns]
    gain, error = every(gains)
    page.claim("inlining-gains", gain, low=1.0, error=error, unit=units.ratio)
    seeming = [turn["traced with_calls"] / turn["traced inlined"] for turn in turns]
    more, error = every([traced / plain for traced, plain in zip(seeming, gains, strict=True)])
    larger = page.claim("gain-looks-larger", more, low=1.0, error=error, unit=units.ratio, remark="as much")
    page.say(
        "The loop without calls is slower as well: while it is traced, Python 3.11 takes each instruction by the long"
        " way, without the short cuts that it has learnt. From 3.12 on only calls and returns are watched."
        if lines[1][3] > 1.3 and sys.version_info < (3, 12)
        else "The loop without calls is slower as well, though nothing in it is traced: something else came between."
        if lines[1][3] > 1.3
        else "Within a function nothing is traced, and little is slowed.",
    )
    page.say(
        f"Inlining gains {units.ratio(median(gains))}; under the profiler it seems to gain",
        f"{units.ratio(median(seeming))}.",
        "Who believes the profile inlines what is called most, and is disappointed."
        if larger.standing is Standing.HELD
        else "On this machine, and with this Python, that is hardly a difference; elsewhere it has been.",
        "Let the profiler say where to look, and a clock, without it, what the change was worth.",
    )


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Shown(NamedTuple):
    page: str
    listens_on: tuple[str, ...]
    ended: bool


@lesson.step(
    "As a picture: SnakeViz",
    predict=Choice(
        "SnakeViz draws each function as wide as its time, below its caller. Which time is that?",
        {"a": "own time", "b": "cumulative time"},
    ),
    claims={
        "page-is-served": "its page holds the profile: more than nine tenths of its functions",
        "both-pictures": "the page offers an icicle and a sunburst",
        "loopback-only": "its server listens on this machine's own address and no other",
        "kept-page-is-whole": "the page that is kept loads nothing from anywhere",
        "server-ended": "the server is gone when the step is over",
    },
    fast={"steps": 50},
)
def in_pictures(
    steps: int = 200,
) -> tuple[tuple[Function, ...], Path, Shown]:
    """`snakeviz FILE` starts a small web server and opens a browser. It draws an icicle, or a sunburst: a ring.

    Here it is started without the browser (`--server`), on a free port, and asked for its page. We keep that as one
    file with everything in it, which any browser shows at any time.
    """
    _, profile = profiled(steps)
    folder = state_folder() / "09_cprofile"
    folder.mkdir(parents=True, exist_ok=True)
    file, kept = folder / "train.prof", folder / "train.html"
    profile.dump_stats(file)
    with served(file) as server:
        kept.write_text(server.standalone(), encoding="utf-8")
        page, listens_on = server.page(), server.listens_on()
    ended = not server.runs()
    return rows(file), kept, Shown(page, listens_on, ended)


@in_pictures.observe
def explain_pictures(page: Page, found: tuple[tuple[Function, ...], Path, Shown]) -> None:
    functions, kept, shown = found
    root = max(functions, key=lambda each: each.cumulative_s)
    below = [
        (each.name, calls_s) for each in functions for name, (_, calls_s) in each.callers.items() if name == root.name
    ]
    ranked = sorted(below, key=lambda each: -each[1])[:6]
    wide = [(root.name, root.cumulative_s), *((f"  {bare(name)}", seconds) for name, seconds in ranked)]
    page.output(plots.bars(wide, width=30, unit=units.seconds), caption="The first two rows of the icicle")
    width = re.search(r"node_time = stats\[node_name\]\['stats'\]\[(\d)\]", shown.page)
    page.reveal({"2": "a", "3": "b"}.get(width[1] if width else ""), "So says the code within its page.")
    drawn = len(drawn_in(shown.page))
    page.claim("page-is-served", drawn / len(functions), low=0.9, unit=PART, remark=f"{drawn} of {len(functions)}")
    styles = sum(f'value="{style}"' in shown.page for style in ("icicle", "sunburst"))
    page.claim("both-pictures", styles, 2, 2, unit=followed("of 2"))
    if shown.listens_on:
        elsewhere = [address for address in shown.listens_on if address != "127.0.0.1"]
        page.claim("loopback-only", len(elsewhere), 0, 0, unit=followed("other addresses"))
    else:
        page.skip("loopback-only", "this system does not tell where a process listens")
    whole = kept.read_text(encoding="utf-8")
    loaded = re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](?!data:)""", whole)
    page.claim("kept-page-is-whole", len(loaded), 0, 0, unit=followed("loaded"))
    page.claim("server-ended", int(shown.ended), 1, 1, unit=yes_no)
    page.say(f"Open {kept} in a browser, or start SnakeViz on the profile beside it: `snakeviz train.prof`.")
    page.say(
        "Go down the widest boxes: where one has nothing below it, there is work; what a function does itself hangs",
        "below it as a box of its own colour. A click makes a function the top. Mind that a profile keeps pairs of",
        "callers and called, and no paths: below a function that is called from two places, SnakeViz draws what both",
        "calls took together, and scales it to fit.",
    )
    page.say(
        "The served page first asks a public host for two libraries and takes its own where it cannot; the kept page",
        "has them within, and asks nobody.",
    )


def drawn_in(page: str) -> dict[str, object]:
    """Return the functions that a page of SnakeViz has within it, none where it has no profile."""
    data = re.search(r"var stats = (\{.*\});", page)
    return dict(ast.literal_eval(data[1])) if data else {}


lesson.take_along(
    "Cumulative time shows the way down, own time the work. Only own times add up.",
    "A tracer is paid for by the call: small functions look worse than they are, and so does calling them.",
    "Profile to learn where, time without the profiler to learn how much; and ask who called before you change it.",
)
lesson.read_on(
    "Python, “The Python Profilers”: docs.python.org/3/library/profile.html",
    "SnakeViz: jiffyclub.github.io/snakeviz",
    "Graham, Kessler, McKusick: gprof, a call graph execution profiler (SIGPLAN 1982), on shares of callers",
)

if __name__ == "__main__":
    lesson.main()
