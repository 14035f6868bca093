"""Lesson 12: one pass instead of five.

Read it top to bottom: it is the screen's own order. What takes long is compiled once and kept in your cache folder.
"""

import math
import operator
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from statistics import median
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx

from harness import plots, units
from harness.bar_chart import bar_chart_svg
from harness.compilers import (
    Captured,
    Pass,
    Start,
    Starts,
    build,
    cannot_compile,
    captured,
    deprecated,
    guards_of,
    kernel_of,
    lacking,
    prepare,
    refusal,
    starts,
    torchscript_support,
    traffic,
    unsupported,
)
from harness.duel import Duel, duel
from harness.others import Others, others_watched
from harness.tables import Table
from lessons.engine import Choice, Guess, Lesson, Page, Standing, middle
from lessons.engine.words import followed, things, yes_no

lesson = Lesson(
    __file__,
    title="One pass instead of five",
    objective="Afterwards you can say what a compiler does to your code, what its first call costs, and when it pays.",
    minutes=28,
    longest_s=(90, 30),
)

# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def collatz(n: int) -> int:
    steps = 0
    for start in range(1, n):
        value = start
        while value > 1:
            odd = value % 2
            value = 3 * value + 1 if odd else value // 2
            steps += 1
    return steps


@lesson.given
def in_c() -> str:
    return """
extern "C" long long collatz(long long n) {
  long long steps = 0;
  for (long long start = 1; start < n; start++)
    for (long long value = start; value > 1; steps++)
      value = value % 2 ? 3 * value + 1 : value / 2;
  return steps;
}
"""


@lesson.step(
    "Interpreted, ahead of time, just in time",
    predict=Choice(
        "The very first call of a function that is compiled just in time, against its first call interpreted:",
        {"a": "shorter", "b": "up to 10 times as long", "c": "more than 10 times as long"},
    ),
    claims={
        "first-pays": "the first call of what is compiled just in time takes more than 20 times as long as a later one",
        "machine-code-wins": "a later call is more than 5 times as fast as interpreting",
        "ahead-paid-before": "compiled ahead of time, a first call takes less than a fifth of numba's first",
    },
)
def three_ways_to_run(calls: int = 15) -> dict[str, list[float]]:
    """An interpreter looks at each instruction each time. A compiler translates the whole function beforehand.

    *Ahead of time*: a C compiler does it before the program starts. *Just in time*: numba waits for the first call,
    when it knows which types come. No vector operation helps with this loop, for each step needs the one before.
    """
    ways: dict[str, Callable[[], Any]] = {
        "interpreted": lambda: collatz,
        "just in time": lambda: numba.njit(collatz),
    }
    if not lacking():
        ways["ahead of time"] = lambda: build(in_c(), "collatz")
    times = {}
    for way, make in ways.items():
        stamps = [time.perf_counter()]
        function = make()
        stamps.append(time.perf_counter())
        for _ in range(calls):
            function(1000)
            stamps.append(time.perf_counter())
        times[way] = [end - start for start, end in pairwise(stamps)]
    return times


@three_ways_to_run.observe
def explain_ways(page: Page, times: dict[str, list[float]]) -> None:
    rows = [(way, made, first, median(later)) for way, (made, first, *later) in times.items()]
    heads = {"": None, "made ready": units.seconds, "first call": units.seconds, "a later call": units.seconds}
    page.table(Table.of("The same loop, three ways", heads, rows))
    (_, plain_s, *plain), (_, jit_s, *jit) = times["interpreted"], times["just in time"]
    longer = jit_s / plain_s
    page.reveal("a" if longer < 1 else "b" if longer <= 10 else "c", f"{units.ratio(longer)}.")
    page.claim("first-pays", jit_s / median(jit), low=20, unit=units.ratio)
    gain, error = middle([one / other for one, other in zip(plain, jit, strict=True)])
    page.claim("machine-code-wins", gain, low=5, error=error, unit=units.ratio)
    if "ahead of time" in times:
        page.claim("ahead-paid-before", times["ahead of time"][1] / jit_s, high=0.2, unit=units.percent)
    else:
        page.skip("ahead-paid-before", lacking())
    page.say(
        "Both compilers make much the same machine code. They differ in who waits: whoever builds the program, or"
        " whoever calls it first. In exchange, the one that waits has seen the types, and needs none declared."
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def twice(x: Any) -> Any:
    return x + x


@lesson.given
def kept_by_numba() -> str:
    return """
import numba
import numpy as np
@numba.njit(cache=True)
def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.0447 * x**3)))
@numba.njit(cache=True)
def distances(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = np.abs(gelu(x[i]) - gelu(y[j])).sum()
    return out
x = np.ones((4, 4))
def call():
    distances(x, x)
"""


@lesson.step(
    "Once for each type, and kept",
    predict=Choice(
        "Called with 1, 2, 2.0, one number, three numbers, and three of float32: how many times does numba compile?",
        {"a": "once", "b": "4 times", "c": "6 times"},
    ),
    claims={
        "once-per-type": "there is a signature for each type that was met, and none for a value or a length",
        "kept-starts-sooner": "with `cache=True`, the first call of the next process takes less than 0.7 of the time",
    },
    fast={"measuring": 0},
)
def once_for_each_type(
    measuring: int = 1,
) -> tuple[
    list[tuple[str, float, int]],
    list[str],
    Starts,
]:
    """Machine code adds either whole numbers or floats, so numba compiles anew for each *signature*: types, no values.

    `cache=True` keeps the result in a file, under the source's and the processor's name. We start a program with it in
    two fresh processes: once with an empty cache, once with what the first has left.
    """
    compiled = numba.njit(twice)
    meets = {
        "1": 1,
        "2": 2,
        "2.0": 2.0,
        "one number": np.ones(1),
        "three numbers": np.ones(3),
        "three of float32": np.ones(3, np.float32),
    }
    calls = []
    for name, x in meets.items():
        began = time.perf_counter()
        compiled(x)
        took = time.perf_counter() - began
        calls.append((name, took, len(compiled.signatures)))
    signatures = [str(each[0]) for each in compiled.signatures]
    kept = starts(kept_by_numba(), measuring=bool(measuring))
    return calls, signatures, kept


@once_for_each_type.observe
def explain_types(page: Page, found: tuple[list[tuple[str, float, int]], list[str], Starts]) -> None:
    calls, signatures, kept = found
    heads = {"called with": None, "time": units.seconds, "signatures then": units.count}
    page.table(Table.of("Calls of one function, in order", heads, calls))
    page.output("\n".join(signatures), caption="Its signatures")
    compiled = calls[-1][2]
    page.reveal("a" if compiled == 1 else "b" if compiled == 4 else "c" if compiled == 6 else None)
    page.claim("once-per-type", compiled, 4, 4, unit=things("signature"))
    if kept.empty is None or kept.filled is None:
        page.skip("kept-starts-sooner", kept.reason)
        return
    page.table(kept.table())
    page.claim("kept-starts-sooner", kept.filled.first_s / kept.empty.first_s, high=0.7, unit=units.percent)
    page.say(
        "A benchmark that calls once measures the compiler. One that calls with a new type measures it again, in the"
        " middle of the run: warm up with every type that will come."
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def curve(x: Any) -> Any:
    return 1 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625)))


@lesson.given
def softened(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.0447 * x * x * x)))


@lesson.given
def fused(formula: Callable[[Any], Any]) -> Any:
    of_one = numba.njit(formula)

    @numba.njit
    def loop(x: NDArray[Any]) -> NDArray[Any]:
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = of_one(x[i])
        return out

    return loop


@lesson.step(
    "Eight passes made one",
    predict=Choice(
        "Two formulas on 262 144 numbers, by NumPy and as one loop by numba. Where does the loop gain more?",
        {"a": "sums and products", "b": "the one with a tanh", "c": "the same in both"},
    ),
    claims={
        "one-pass-wins": "one loop over sums and products is more than 1.5 times as fast as NumPy's passes",
        "gain-depends": "its gain there is more than 1.5 times that with the tanh",
    },
    fast={"budget_s": 0.3},
)
def eight_passes_made_one(budget_s: float = 0.8) -> dict[str, Duel]:
    """NumPy is compiled, too, ahead of time: but an operation at a time, and it does not know the next one.

    So each operation reads all numbers, does one sum or product, and writes all of them to a new array. *Fusion* is one
    loop that does everything to a number while it is at hand.
    """
    x = np.random.default_rng(0).random(1 << 18)
    duels = {}
    for formula in (curve, softened):
        loop = fused(formula)
        loop(x)  # compiles, before any clock runs
        duels[formula.__name__] = duel(
            "loop(x)",
            baseline="formula(x)",
            globals={"loop": loop, "formula": formula, "x": x},
            budget_s=budget_s,
        )
    return duels


@eight_passes_made_one.observe
def explain_fused(page: Page, duels: dict[str, Duel]) -> None:
    rows = [(name, each.ratio, each.low, each.high) for name, each in duels.items()]
    heads = {"": None, "gain": units.ratio, "from": units.ratio, "to": units.ratio}
    page.table(Table.of("NumPy's time ÷ the loop's", heads, rows))
    plain, hard = duels["curve"], duels["softened"]
    told = math.isfinite(plain.high + hard.high)
    page.reveal("a" if plain.low > hard.high else "b" if hard.low > plain.high else "c" if told else None)
    page.claim_duel("one-pass-wins", plain, low=1.5)
    more, error = quotient(plain, hard)
    page.claim("gain-depends", more, low=1.5, error=error, unit=units.ratio)
    page.say(
        "With the tanh, the loop even lost. NumPy's own tanh works on several numbers at a time; numba calls one"
        " made for a single number, and that outweighs the passes saved. A compiler is no guarantee."
        if hard.high < 1
        else "With the tanh, most of the time goes into the tanh itself, whoever calls it. Fusion saves passes over"
        " memory, and no arithmetic."
    )


def quotient(one: Duel, other: Duel) -> tuple[float, float]:
    """Return how many times the gain of one duel is that of another, and the doubt, from both intervals."""
    low, high = one.low / other.high, one.high / other.low if other.low else math.inf
    ratio = one.ratio / other.ratio
    return ratio, max(ratio - low, high - ratio)


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def gelu(x: Tensor) -> Tensor:
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


@lesson.given
def brighten(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


@lesson.step(
    "Declare first, or run as you go",
    predict=Choice(
        "`torch.fx` captures a function as a graph. How many sums and products of tensors are done meanwhile?",
        {"a": "none", "b": "all, once", "c": "all, twice"},
    ),
    claims={
        "nothing-done": "capturing a graph runs no operation on any tensor",
        "graph-is-whole": "the graph has a node for every operation that a call would run",
        "branch-refused": "a branch that depends on the numbers cannot be captured so",
    },
)
def declare_or_run() -> tuple[str, list[int], list[str]]:
    """Torch runs as you go: each line is done when it is reached, and any Python may stand between two lines.

    The other way is to declare everything first, as a *graph*, and to run that. `torch.fx` makes one by calling your
    function with stand-ins that note what is done to them. It is the small tool that torch's compilers are built on.
    """
    x = torch.rand(64)
    done = len(traffic(fx.symbolic_trace, gelu))
    graph = fx.symbolic_trace(gelu).graph
    nodes = sum(each.op == "call_function" for each in graph.nodes)
    called = len(traffic(gelu, x))
    refusals = []
    try:
        fx.symbolic_trace(brighten)
    except ValueError as refused:
        refusals.append(str(refused))
    return str(graph), [done, nodes, called], refusals


@declare_or_run.observe
def explain_graph(page: Page, found: tuple[str, list[int], list[str]]) -> None:
    graph, (done, nodes, called), refusals = found
    page.output(narrowed(graph), caption="What torch.fx captured of gelu")
    page.reveal("a" if not done else "b" if done <= called else "c")
    page.claim("nothing-done", done, 0, 0, unit=things("operation"))
    page.claim("graph-is-whole", nodes - called, 0, 0, unit=followed("apart"), remark=f"{called} operations")
    page.claim("branch-refused", len(refusals), 1, 1, unit=things("refusal"))
    if refusals:
        page.output(narrowed(refusals[0].splitlines()[0]), caption="What torch.fx says of `brighten`")
    page.say(
        "A graph can be looked at as a whole: fused, put in another order, sent elsewhere, run without any Python.",
        "It cannot contain a question whose answer is in the numbers. Running as you go can: it is easy to write, to"
        " print from and to debug, and sees one operation at a time.",
    )


def narrowed(text: str, width: int = 76) -> str:
    """Return a text with its long lines cut."""
    return "\n".join(line if len(line) <= width else f"{line[: width - 1]}…" for line in text.strip().splitlines())


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Gelu(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return gelu(x)


@lesson.given
class Brighten(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return brighten(x)


@lesson.step(
    "torch.export: the whole graph, or none",
    predict=Choice(
        "`torch.export` is given `brighten`, which has a branch on the numbers, and one example. What does it do?",
        {"a": "it keeps both sides", "b": "it keeps the side of the example", "c": "it refuses"},
    ),
    claims={
        "export-is-whole": "the exported graph has a node for every operation that a call runs",
        "export-answers": "the exported program gives the same numbers as the function",
        "export-refuses": "a branch on the numbers is refused when the function is exported",
        "export-keeps-size": "exported with one size, the program refuses another; with a free size, it takes both",
    },
)
def whole_graph_or_none() -> tuple[str, list[int], float, list[str]]:
    """`torch.export` captures a module before anybody calls it: one graph of torch's own operators, and no Python.

    Such a program can be saved and run where there is no Python. So it must be complete, and whatever it takes for
    granted is checked: here the size of x, unless `Dim` declares it free.
    """
    prepare()  # imports torch's compilers, which takes seconds
    x, longer = torch.rand(64), torch.rand(65)
    program = torch.export.export(Gelu(), (x,))
    nodes = [each.op for each in program.graph.nodes]
    counted = [nodes.count("call_function"), len(traffic(gelu, x))]
    run = program.module()
    apart = float((run(x) - gelu(x)).abs().max())
    size = ({0: torch.export.Dim("size")},)
    free = torch.export.export(Gelu(), (x,), dynamic_shapes=size)
    refusals = [
        refusal(lambda: torch.export.export(Brighten(), (x,))),
        refusal(lambda: run(longer)),
        refusal(lambda: free.module()(longer)),
    ]
    return program.graph_module.code, counted, apart, refusals


@whole_graph_or_none.observe
def explain_export(page: Page, found: tuple[str, list[int], float, list[str]]) -> None:
    code, (nodes, called), apart, (branch, other_size, free_size) = found
    page.output(narrowed(code), caption="What torch.export captured of gelu, as Python")
    page.reveal("c" if branch else None)
    page.claim("export-is-whole", nodes - called, 0, 0, unit=followed("apart"), remark=f"{called} operations")
    page.claim("export-answers", apart, high=1e-6, unit=followed("apart at most", units.number))
    page.claim("export-refuses", bool(branch), 1, 1, unit=yes_no)
    refused = [bool(other_size), bool(free_size)]
    page.claim("export-keeps-size", refused == [True, False], 1, 1, unit=yes_no)
    said = {"brighten, exported": branch, "64 numbers exported, 65 given": other_size}
    page.output(
        "\n".join(narrowed(f"{what}: {words}") for what, words in said.items() if words), caption="What it refuses"
    )
    page.say(
        "Rewrite such a branch with `torch.where` or `torch.cond`, which are operators and stay in the graph.",
        "`torch.compile`, next, does not refuse: it leaves to Python what it cannot capture.",
    )


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


Guarded = tuple[list[tuple[int, str, int]], str, tuple[str, ...], Captured]
"""Calls by size, dtype and graphs so far; the first graph as Python; the guards; what a branch does to a capture."""


@lesson.step(
    "torch.compile: graphs behind guards",
    predict=Choice(
        "Called with 64, 64, 65 and 1000 numbers of float32, then 64 of float64: how many graphs are compiled?",
        {"a": "1", "b": "3", "c": "4"},
    ),
    claims={
        "same-again": "a call like the one before compiles nothing",
        "any-size-then": "the second size compiles anew, and the third does not",
        "dtype-anew": "another dtype compiles anew",
        "branch-breaks": "a branch on the numbers breaks the graph in two or more",
    },
)
def graphs_behind_guards() -> "Guarded | None":
    """`torch.compile` does both: you run as you go, and it watches Python's bytecode and gathers graphs on its way.

    With each graph it notes what it has taken for granted, its *guards*. They are checked at each call; where one
    fails, it compiles again. What makes machine code of a graph is a *backend*: ours only keeps the graph, and runs it
    as it is.
    """
    if unsupported():
        return None
    graphs: list[fx.GraphModule] = []

    def keep(
        graph: fx.GraphModule,
        _: list[Tensor],
    ) -> Callable[..., object]:
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(gelu, backend=keep)
    calls = []
    for size in (64, 64, 65, 1000):
        compiled(torch.ones(size))
        calls.append((size, "float32", len(graphs)))
    compiled(torch.ones(64, dtype=torch.float64))
    calls.append((64, "float64", len(graphs)))
    guards = guards_of(gelu)
    broken = captured(brighten, torch.ones(64))
    return calls, graphs[0].code, guards, broken


@graphs_behind_guards.observe
def explain_guards(page: Page, found: Guarded | None) -> None:
    if found is None:
        page.without(unsupported(), "the graphs and guards of one function, called with several sizes and types")
        return
    calls, code, guards, broken = found
    heads = {"numbers": units.count, "of": None, "graphs then": units.count}
    page.table(Table.of("Calls of one compiled function, in order", heads, calls))
    page.output(narrowed(code), caption="The first graph, as Python")
    page.output(narrowed("\n".join(guards)), caption="What each version asks of x, among others")
    first, again, _, third, dtype = (graphs for _, _, graphs in calls)
    page.reveal({1: "a", 3: "b", 4: "c"}.get(dtype))
    page.claim("same-again", again - first, 0, 0, unit=things("graph"))
    sizes = page.claim("any-size-then", third - again, 1, 1, unit=things("graph"), remark="for both")
    page.claim("dtype-anew", dtype - third, 1, 1, unit=things("graph"))
    page.claim("branch-breaks", broken.graphs, low=2, unit=things("graph"))
    page.say(
        "After the second size, torch no longer takes the size for granted: the third one fits."
        if sizes.standing is Standing.HELD
        else "Sizes are guarded too, and how often a new one compiles anew is a setting of torch's.",
        "At a branch it compiles what is before, lets Python decide, and goes on behind: right, and with less to fuse.",
    )
    if broken.breaks:
        page.output(narrowed(broken.breaks[0].strip().splitlines()[0]), caption="Why the graph of `brighten` breaks")


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "The loop that was written",
    predict=Guess("How many times fewer bytes does a fused gelu move than one operation after the other?", "times"),
    claims={
        "less-moved": "one pass moves less than a fifth of the bytes",
        "one-kernel": "the compiler has written a single function for all operations",
        "fused-is-faster": "on a million numbers it is more than 1.3 times as fast",
    },
    fast={"budget_s": 0.3},
)
def the_loop_that_was_written(
    budget_s: float = 0.8,
) -> tuple[tuple[Pass, ...], str, Duel | None]:
    """Torch's own backend is called Inductor. For a CPU it writes C++, one loop for as many operations as will go in.

    We note every operation of a plain call with its bytes, and then read the C++; `dynamic=True` makes it for any size.
    """
    torch.set_num_threads(1)
    x = torch.rand(1 << 20)
    passes = traffic(gelu, x)
    if cannot_compile():
        return passes, "", None
    prepare()
    fast = torch.compile(gelu, dynamic=True)
    written = kernel_of(fast, x)
    given = {"fast": fast, "gelu": gelu, "x": x}
    found = duel(
        "fast(x)",
        baseline="gelu(x)",
        globals=given,
        budget_s=budget_s,
    )
    return passes, written, found


@the_loop_that_was_written.observe
def explain_loop(page: Page, run: tuple[tuple[Pass, ...], str, Duel | None]) -> None:
    passes, written, found = run
    moved, once = sum(each.moved_bytes for each in passes), 2 * passes[-1].written_bytes
    bars = [(each.name.removeprefix("aten."), float(each.moved_bytes)) for each in passes]
    bars.append(("fused: all of them", float(once)))
    caption = "Bytes read and written by each operation"
    drawn = bar_chart_svg(bars, title=caption, unit=units.size)
    page.drawing(plots.bars(bars, width=30, unit=units.size), drawn, name="traffic", caption=caption)
    page.reveal(moved / once, f"{units.size(moved)} in {len(passes)} passes, and {units.size(once)} in one.")
    page.claim("less-moved", once / moved, high=0.2, unit=units.percent)
    if found is None:
        for id_ in ("one-kernel", "fused-is-faster"):
            page.skip(id_, cannot_compile())
        page.say("With it, this step shows the C++ that torch writes for gelu, and what it gains.")
        return
    page.output(narrowed(body_of(written)), caption="What Inductor wrote, from its first loop on")
    page.claim("one-kernel", written.count('extern "C"'), 1, 1, unit=things("function"))
    faster = page.claim_duel("fused-is-faster", found, low=1.3)
    bytes_and_speed = f"{units.ratio(moved / once)} fewer bytes, and {units.ratio(found.ratio)} the speed"
    said = {
        Standing.HELD: ": the arithmetic is the same, and part of those bytes never went further than a cache.",
        Standing.REFUTED: ". Here bytes are not what takes the time: the arithmetic is, and it is the same.",
    }
    page.say(bytes_and_speed + said.get(faster.standing, ", with a doubt as large as that."))


def body_of(written: str, most: int = 22) -> str:
    """Return the first lines of C++ from its first loop on."""
    lines = written.splitlines()
    first = next((n for n, line in enumerate(lines) if "for(" in line), 0)
    return "\n".join(lines[first : first + most])


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def kept_by_inductor() -> str:
    return """
import torch, torch._inductor.compile_fx
torch.set_num_threads(1)
x = torch.rand(1 << 20)
@torch.compile(dynamic=False)
def gelu(x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))
def call():
    gelu(x)
"""


@lesson.step(
    "When it has paid",
    predict=Guess(
        "After how many calls with a million numbers has compiling, cache empty, paid for itself?", "calls", 3
    ),
    claims={
        "small-gains-less": "at 1 024 numbers the gain is less than at a million",
        "cold-is-long": "with an empty cache the first call takes more than 100 times as long as a plain one",
        "cache-helps": "with a filled one it takes less than 0.7 of that",
        "small-needs-more": "at 1 024 numbers it takes more than 10 times as many calls to pay",
    },
    fast={"budget_s": 0.3, "measuring": 0},
)
def when_it_has_paid(
    budget_s: float = 0.8,
    measuring: int = 1,
) -> tuple[dict[int, Duel], Starts] | None:
    """Compiling is a price paid once, and each call earns a little of it back. Below the break-even, it was a loss.

    We take the first call of a fresh process, once with an empty cache and once with a filled one, as above; and the
    gain at three sizes, with one graph for any size.
    """
    if cannot_compile():
        return None
    prepare()
    fast = torch.compile(gelu, dynamic=True)
    duels = {}
    for size in (1 << 10, 1 << 15, 1 << 20):
        x = torch.rand(size)
        fast(x)
        given = {"fast": fast, "gelu": gelu, "x": x}
        duels[size] = duel(
            "fast(x)",
            baseline="gelu(x)",
            globals=given,
            budget_s=budget_s,
        )
    return duels, starts(kept_by_inductor(), measuring=bool(measuring))


@when_it_has_paid.observe
def explain_paid(page: Page, run: tuple[dict[int, Duel], Starts] | None) -> None:
    if run is None:
        page.without(
            cannot_compile(), "the price of compiling gelu, and the calls after which it has paid, at three sizes"
        )
        return
    duels, kept = run
    small, large = duels[min(duels)], duels[max(duels)]
    times = {n: (each.baseline_s, each.candidate_s) for n, each in duels.items()}
    empty, filled = kept.empty, kept.filled
    heads: dict[str, Callable[[float], str]] = {"numbers": units.count, "plain": units.seconds}
    heads |= {"compiled": units.seconds, "gain": units.ratio}
    heads |= {"pays, cache empty": calls_in_words, "pays, filled": calls_in_words}
    rows = [
        (n, slow, quick, duels[n].ratio, needed(empty, slow, quick), needed(filled, slow, quick))
        for n, (slow, quick) in times.items()
    ]
    page.table(Table.of("Calls after which compiling has paid", heads, rows))
    slow, quick = times[max(times)]
    calls = needed(empty, slow, quick)
    if not kept.reason:
        page.table(kept.table())
    page.reveal(calls if math.isfinite(calls) else None)
    less, error = quotient(large, small)
    page.claim("small-gains-less", less, low=1, error=error, unit=units.ratio)
    if empty is None or filled is None:
        for id_ in ("cold-is-long", "cache-helps", "small-needs-more"):
            page.skip(id_, kept.reason)
        return
    page.claim("cold-is-long", empty.first_s / slow, low=100, unit=units.ratio)
    page.claim("cache-helps", filled.first_s / empty.first_s, high=0.7, unit=units.percent)
    page.claim("small-needs-more", needed(empty, *times[min(times)]) / calls, low=10, unit=units.ratio)
    page.say(
        "At 1 024 numbers a call is mostly the way in and out: Python, an output to be made, and guards on top."
        + (" Here that loses." if small.high < 1 else " There is less to fuse away."),
        f"With a million, compiling is worth {units.seconds(calls * slow)} of plain calls: whatever ends sooner is"
        " quicker without."
        if math.isfinite(calls)
        else "With a million numbers it never pays here: this processor computes more slowly than it reads.",
    )


def needed(start: Start | None, slow_s: float, fast_s: float) -> float:
    """Return the calls after which a start has paid; infinite where it never does, NaN without one."""
    if start is None:
        return math.nan
    return max(1, math.ceil(start.first_s / (slow_s - fast_s))) if slow_s > fast_s else math.inf


def calls_in_words(calls: float) -> str:
    """Return a number of calls, or that there is none."""
    return "never" if math.isinf(calls) else units.count(calls)


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def attend(x: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (x @ q) @ (x @ k).t() @ (x @ v)


@lesson.given
def ready_at(graph: fx.Graph) -> dict[int, list[str]]:
    level: dict[fx.Node, int] = {}
    ready: dict[int, list[str]] = {}
    for node in graph.nodes:
        inputs = [level[each] for each in node.all_input_nodes]
        level[node] = 1 + max(inputs) if inputs else 0
        if node.target is operator.matmul:
            ready.setdefault(level[node], []).append(node.name)
    return ready


@lesson.step(
    "What does not wait for each other",
    predict=Choice(
        "Five products, as in attention. How many of them could begin at once?",
        {"a": "one", "b": "two", "c": "three"},
    ),
    claims={
        "three-at-once": "in the graph, three of the five products wait for no other one",
        "same-answer": "three products made one give the same numbers",
        "one-call-saves": "for one row, the one product takes less time than the three",
        "two-cores": "two products at once, on two cores, take less wall time than one after the other",
    },
    fast={"budget_s": 0.3},
)
def what_does_not_wait(
    budget_s: float = 0.6,
) -> tuple[
    dict[int, list[str]],
    float,
    Duel,
    list[tuple[float, float]],
    Others,
]:
    """Line by line, the three projections of x come one after the other. A graph shows that none waits for another.

    Whoever sees that may put them side by side: as one product with a matrix three times as wide, or on two cores.
    """
    graph = fx.symbolic_trace(attend).graph
    torch.set_num_threads(1)
    x, (q, k, v) = torch.rand(1, 64), torch.rand(3, 64, 64)
    wide = torch.cat([q, k, v], 1)
    apart = torch.cat([x @ q, x @ k, x @ v], 1) - x @ wide
    given = {"x": x, "q": q, "k": k, "v": v, "wide": wide}
    three = "x @ q; x @ k; x @ v"
    one = duel("x @ wide", three, globals=given, budget_s=budget_s)
    a, turns = torch.rand(1024, 1024), []
    with others_watched() as others, ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            began = time.perf_counter()
            _ = a @ a, a @ a
            between = time.perf_counter()
            list(pool.map(torch.mm, [a, a], [a, a]))
            ended = time.perf_counter()
            turns.append((between - began, ended - between))
    return ready_at(graph), float(apart.abs().max()), one, turns, others


@what_does_not_wait.observe
def explain_waiting(
    page: Page, found: tuple[dict[int, list[str]], float, Duel, list[tuple[float, float]], Others]
) -> None:
    ready, apart, one, turns, others = found
    rows = [(units.count(n), ", ".join(names)) for n, (_, names) in enumerate(sorted(ready.items()), start=1)]
    page.table(Table.of("Products by what they wait for", {"in turn": None, "products": None}, rows))
    one_by_one, both = (median(turn[place] for turn in turns) for place in (0, 1))
    rows_s = [("the three products", one.baseline_s), ("one, three times as wide", one.candidate_s)]
    rows_s += [("two of 1024 × 1024, in turn", one_by_one), ("two of them at once", both)]
    page.table(Table.of("What that takes", {"": None, "time": units.seconds}, rows_s))
    first = len(ready[min(ready)])
    page.reveal({1: "a", 2: "b", 3: "c"}.get(first))
    page.claim("three-at-once", first, 3, 3, unit=followed("of 5"))
    page.claim("same-answer", apart, high=1e-3, unit=followed("apart at most", units.number))
    page.claim_duel("one-call-saves", one, low=1.05)
    two_cores(page, turns, others)
    page.say(
        "This is what a declared graph tells to whoever runs it. Run as you go, only you know that the lines do not",
        "need each other: then write the wide product yourself, as libraries do for attention.",
    )


def two_cores(page: Page, turns: list[tuple[float, float]], others: Others) -> None:
    """Settle whether two products at once were quicker; on a machine whose cores others use, nothing can be told."""
    if (os.cpu_count() or 1) < 2:
        page.skip("two-cores", "it takes a second core")
        return
    gain, error = middle([wall / both for wall, both in turns[1:]])  # the first one starts the threads
    page.claim("two-cores", gain, low=1, error=error, noise=math.inf if others.crowd else 0.0, unit=units.ratio)


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "For history: TorchScript",
    predict=Choice(
        "`torch.jit.trace` records one call of a function with a branch. What does it do when the other side is due?",
        {"a": "it takes the other side", "b": "it takes the recorded side", "c": "it raises"},
    ),
    claims={
        "trace-forgets": "a trace takes the recorded side of a branch, whatever the numbers are",
        "script-keeps": "a script takes the right side",
        "little-gain": "scripted, gelu is less than 1.5 times as fast as plain on this CPU",
    },
    fast={"budget_s": 0.3},
)
def for_history(budget_s: float = 0.6) -> tuple[bool, bool, Duel] | None:
    """TorchScript was torch's compiler before `torch.compile`, and gave a graph that ran without Python.

    `trace` recorded one call of a function, and `script` read its source. TorchScript is deprecated since torch 2.5,
    says torch's documentation. Each use warns since 2.10, and from Python 3.14 on torch does not support it.
    `torch.compile` replaces it for speed, and `torch.export` for programs without Python.
    """
    if torchscript_support().reason:
        return None
    light, dark = torch.ones(4), torch.full((4,), -3.0)
    with deprecated():  # hides torch's warnings, here and nowhere else
        scripted = torch.jit.script(brighten)
        recorded = torch.jit.trace(brighten, light, check_trace=False)
        fast = torch.jit.script(gelu)
    right = brighten(dark)
    x = torch.rand(1 << 18)
    for _ in range(4):
        fast(x)  # watches its first calls, and then optimises
    found = duel(
        "fast(x)",
        baseline="gelu(x)",
        globals={"fast": fast, "gelu": gelu, "x": x},
        budget_s=budget_s,
    )
    traced_right = torch.equal(recorded(dark), right)
    return traced_right, torch.equal(scripted(dark), right), found


@for_history.observe
def explain_history(page: Page, found: tuple[bool, bool, Duel] | None) -> None:
    if found is None:
        page.reveal(None)
        for id_ in page.sentences:
            page.skip(id_, torchscript_support().reason)
        page.say(
            "Nothing is lost: what TorchScript did, the steps before this one do with its successors. Where torch"
            " supports it, this step shows that a trace keeps the recorded side of a branch, and warns only once."
        )
        return
    traced, scripted, script = found
    page.reveal("a" if traced else "b", "It warns of this while it records, and then never again.")
    page.claim("trace-forgets", float(not traced), 1, 1, unit=right_or_wrong)
    page.claim("script-keeps", float(scripted), 1, 1, unit=lambda value: right_or_wrong(1 - value))
    little = page.claim_duel("little-gain", script, high=1.5)
    gained = {
        Standing.HELD: "Scripting fuses nothing here: it runs the same operations, without Python between them, and"
        " Python was a small part of the time.",
        Standing.REFUTED: "Here scripting does gain: this torch fuses some operations of a script.",
    }
    page.say(
        gained.get(little.standing, ""),
        "You will meet TorchScript in older code, and in C++ programs that load a model. `torch.export` refuses the"
        " branch that a trace silently forgets.",
    )


def right_or_wrong(value: float) -> str:
    """Return what an answer was."""
    return "wrong" if value else "right"


lesson.take_along(
    "Fusion saves passes over memory, not arithmetic: count the bytes of each operation before you hope for more.",
    "The first call compiles, and so does the first of each new type, and of each new kind of shape. Time it apart.",
    "Break-even = what compiling took ÷ what a call saves. Small inputs and short runs may never get there.",
)
lesson.read_on(
    "numba, A 5 minute guide, and Notes on caching: numba.readthedocs.io",
    "PyTorch, torch.compiler, and its pages on recompilation: docs.pytorch.org/docs/stable/torch.compiler.html",
    "PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode Transformation and Graph Compilation (2024)",
)

if __name__ == "__main__":
    lesson.main()
