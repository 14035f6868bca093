"""Lesson 12: compilers and fusion.

The steps appear on the screen in the order of this file. The lesson keeps results that take a long time to measure in
the user's cache folder.
"""

import math
import operator
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.compilers.capture import Captured, OperationTraffic, captured, guards_of, refusal, traffic
from harness.compilers.inductor import (
    cannot_compile,
    kernel_of,
    lacking,
    prepare,
    torchscript_support,
    torchscript_warnings_hidden,
    unsupported,
)
from harness.compilers.new_processes import Start, Starts, calls_to_break_even, starts
from harness.machine.clocks import BackgroundLoad, watch_background_load
from harness.paired.duel import Duel, duel
from harness.rendering import units
from harness.rendering.tables import Row, Table
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.words import followed, things, yes_no
from lessons.probes.implementations import ImplementationTimes, compiled_ahead, times_under_each

lesson = Lesson(
    __file__,
    objective="You can explain what a compiler does to code, what its first call costs, and when compiling pays off.",
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


@lesson.given
class Times(NamedTuple):
    ready_s: float
    first_s: float
    later_s: list[float]


@lesson.step(
    "Interpreted, ahead of time, just in time",
    predict=Choice(
        "What is the time of the first call of a numba function divided by the time of the first call in plain Python?",
        {"a": "less than 1", "b": "1 to 10", "c": "more than 10"},
        limits=(1, 10),
    ),
    expected="c",
    wrong_reasoning="Students think that a compiler makes each call faster. But the first call contains the "
    "compilation itself.",
)
def three_ways_to_run(calls: int = 15) -> dict[str, Times]:
    """An interpreter decodes an instruction each time it runs the instruction. A compiler translates a function once.

    *Ahead of time*: a C compiler translates the function before the program calls it. *Just in time* (JIT): numba
    translates the function at its first call, because only then the types of the arguments are known. No NumPy
    operation replaces this `while` loop: each iteration needs the value of the previous iteration, and decides whether
    the loop ends.
    """
    ways: dict[str, Callable[[], Any]] = {
        "interpreted": lambda: collatz,
        "just in time": lambda: numba.njit(collatz),
    }
    if not lacking():
        ways["ahead of time"] = lambda: compiled_ahead(in_c())
    times = {}
    for way, make in ways.items():
        stamps = [time.perf_counter()]
        function = make()
        stamps.append(time.perf_counter())
        for _ in range(calls):
            function(1000)
            stamps.append(time.perf_counter())
        ready, first, *later = [b - a for a, b in pairwise(stamps)]
        times[way] = Times(ready, first, later)
    return times


FIRST_PAYS = three_ways_to_run.claim(
    "first-pays",
    "the first call of a numba function takes more than 20 times as long as a later call",
    at_least=20,
    unit=units.ratio,
)
MACHINE_CODE_WINS = three_ways_to_run.claim(
    "machine-code-wins",
    "a later call of a numba function is more than 5 times as fast as a call in plain Python",
    at_least=5,
    unit=units.ratio,
)
AHEAD_PAID_BEFORE = three_ways_to_run.claim(
    "ahead-paid-before",
    "the first call of a C function takes less than 20 % of the time of numba's first call",
    at_most=0.2,
    unit=units.percent,
)


@three_ways_to_run.explain
def explain_ways(page: Page, times: dict[str, Times]) -> None:
    rows = [(way, each.ready_s, each.first_s, median(each.later_s)) for way, each in times.items()]
    heads = {"the loop": None, "preparation": units.seconds, "first call": units.seconds, "a later call": units.seconds}
    page.table(Table.of("One loop, interpreted and compiled", heads, rows))
    plain, jit, ahead = times["interpreted"], times["just in time"], times.get("ahead of time")
    longer = jit.first_s / plain.first_s
    page.reveal(longer, f"numba's first call takes {units.ratio(longer)} as long as the first call in plain Python.")
    page.settle(FIRST_PAYS, jit.first_s / median(jit.later_s))
    page.settle(
        MACHINE_CODE_WINS, Interval.median(one / other for one, other in zip(plain.later_s, jit.later_s, strict=True))
    )
    if ahead is None:
        page.skip(AHEAD_PAID_BEFORE, lacking())
    else:
        page.settle(AHEAD_PAID_BEFORE, ahead.first_s / jit.first_s)
        page.say(f"The C compiler runs during the preparation, which takes {units.seconds(ahead.ready_s)}.")
    page.say(
        "Both compilers produce machine code, at different times. At the first call, numba knows the types of the",
        "arguments, so the Python code does not declare these types. C code declares each type.",
        FIRST_PAYS.words(
            held="If you time only the first call of a numba function, you measure mostly the compiler.",
            refuted="In this run, compiling takes a smaller part of the first call than we expected.",
            unclear="This run does not show clearly how much time numba's compiler takes.",
        ),
    )


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.step(
    "PyPy, Cython and Nuitka",
    predict=Choice.ranges(
        "Cython translates `collatz` to C. We declare no types for its variables. What is the time of a call in CPython"
        " divided by the time of a call of the translated function?",
        (1, 10),
        units.ratio,
    ),
    expected="b",
    wrong_reasoning="Students think that C code is always many times as fast. But without types, the C code still "
    "works with Python objects.",
    fast={"building": 0},
)
def other_ways_to_run(
    building: int = 1,
) -> list[ImplementationTimes]:
    """CPython is one implementation of the language Python. There are others, and there are compilers for modules.

    *PyPy* is an interpreter with a just-in-time compiler for all code, not only for decorated functions. *Cython* and
    *Nuitka* translate a module to C code, and a C compiler turns it into an extension for CPython.

    We run `collatz` in a new process for each of them that is installed, and measure the CPU time.
    """
    return times_under_each(collatz, building=bool(building))


UNTYPED_GAINS_LITTLE = other_ways_to_run.claim(
    "untyped-gains-little",
    "without declared types, Cython makes `collatz` at most 5 times as fast as CPython",
    at_most=5,
    unit=units.ratio,
)
PYPY_WINS = other_ways_to_run.claim(
    "pypy-wins", "a later call in PyPy is more than 2 times as fast as in CPython", at_least=2, unit=units.ratio
)


RECORDED = (
    ("CPython 3.11.7", 2.82e-3, 2.56e-3),
    ("PyPy 7.3.11 (Python 3.9)", 2.39e-3, 78.7e-6),
    ("Cython 3.3.1", 1.28e-3, 1.21e-3),
    ("Nuitka 4.3.3", 1.58e-3, 1.48e-3),
)
"""The times of the first call and of a later call of `collatz(1000)`, recorded with `times_under_each`.

The step shows these times if one of the four programs is missing.
"""


@other_ways_to_run.explain
def explain_others(page: Page, found: list[ImplementationTimes]) -> None:
    measured = {each.name: each for each in found if each.calls_s}
    heads: dict[str, Callable[[float], str] | None] = {
        "collatz": None,
        "first call": units.seconds,
        "a later call": units.seconds,
    }
    rows: list[Row] = [(name, each.calls_s[0], each.later_s) for name, each in measured.items()]
    if any(each.build_s for each in measured.values()):
        heads["compiler"] = None
        built = (units.seconds(each.build_s) if each.build_s else "" for each in measured.values())
        rows = [(*row, build) for row, build in zip(rows, built, strict=True)]
    page.table(Table.of("The same Python code in new processes", heads, rows))
    gains = {name: measured["CPython"].later_s / each.later_s for name, each in measured.items()}
    page.reveal(gains.get("Cython"), "" if "Cython" in gains else "The answer needs Cython.")
    reasons = {each.name: each.reason for each in found}
    for name, claim in (("Cython", UNTYPED_GAINS_LITTLE), ("PyPy", PYPY_WINS)):
        if name in gains:
            page.settle(claim, gains[name])
        else:
            page.skip(claim, reasons[name])
    if reasons["Nuitka"] != reasons["Cython"]:
        page.say(f"{reasons['Nuitka']}.")
    if len(gains) < len(found):
        heads = {"collatz": None, "first call": units.seconds, "a later call": units.seconds}
        page.table(Table.of("CPU times recorded on an AMD EPYC in November 2026, not on this machine", heads, RECORDED))
    page.say(
        "Cython and Nuitka save the interpreter loop. Without declared types, an operand can be any object. So their C",
        "code checks types at each `+` and `%`, and most results are Python objects. With types (in Cython",
        "`cdef long long value`), the C compiler can use machine instructions for them.",
    )
    page.say(
        PYPY_WINS.words(
            held="PyPy observes the types while the program runs, and compiles the loops that run often. It needs no"
            " decorators, but torch does not support it.",
            refuted="In this run, PyPy is not much faster than CPython.",
            unclear="This run does not show how fast PyPy is.",
        )
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.given
class Call(NamedTuple):
    argument: str
    time_s: float
    signatures: int


@lesson.given
class ByType(NamedTuple):
    calls: list[Call]
    signatures: list[str]
    cached: Starts


@lesson.step(
    "Compiled once per type, and cached in a file",
    predict=Choice(
        "We call a numba function with 1, 2, 2.0, and arrays of one float64, three float64 and three float32. How "
        "many times does numba compile the function?",
        {"a": "once", "b": "4 times", "c": "6 times"},
    ),
    expected="b",
    wrong_reasoning="Students count the calls or the values. But numba compiles once for each combination of types, "
    "and the length of an array is not part of its type.",
    fast={"measuring": 0},
)
def once_for_each_type(measuring: int = 1) -> ByType:
    """An addition of integers and an addition of floats are different machine instructions.

    So numba compiles a function once for each *signature*: the types of the arguments, without their values.

    With `cache=True`, numba also writes the machine code to a file. A later process uses this file if the source file,
    the types, the processor and the version of numba are the same. We start a program in two new processes. The first
    process starts with an empty cache, and the second process uses the file that the first process has written.
    """
    compiled = numba.njit(twice)
    arguments = {
        "1": 1,
        "2": 2,
        "2.0": 2.0,
        "one float64": np.ones(1),
        "three float64": np.ones(3),
        "three float32": np.ones(3, np.float32),
    }
    calls = []
    for name, x in arguments.items():
        began = time.perf_counter()
        compiled(x)
        took = time.perf_counter() - began
        calls.append(Call(name, took, len(compiled.signatures)))
    signatures = [str(each[0]) for each in compiled.signatures]
    cached = starts(kept_by_numba(), measuring=bool(measuring))
    return ByType(calls, signatures, cached)


ONCE_PER_TYPE = once_for_each_type.claim(
    "once-per-type",
    "numba compiles `twice` once for each of the 4 types, not for each value or length",
    equals=4,
    unit=things("signature"),
)
KEPT_STARTS_SOONER = once_for_each_type.claim(
    "kept-starts-sooner",
    "with a filled cache of numba, the first call in a process takes less than 70 % of the time with an empty cache",
    at_most=0.7,
    unit=units.percent,
)


@once_for_each_type.explain
def explain_types(page: Page, found: ByType) -> None:
    heads = {"argument": None, "time": units.seconds, "signatures afterwards": units.count}
    page.table(Table.of("The calls of `twice`, in order", heads, found.calls))
    page.output("\n".join(found.signatures), caption="The signatures of `twice`")
    compiled = found.calls[-1].signatures
    page.reveal({1: "a", 4: "b", 6: "c"}.get(compiled), f"`twice` has {units.some(compiled, 'signature')}.")
    page.settle(ONCE_PER_TYPE, compiled)
    empty, filled = found.cached.empty, found.cached.filled
    if empty is None or filled is None:
        page.skip(KEPT_STARTS_SOONER, found.cached.reason)
    else:
        page.table(found.cached.table())
        page.settle(KEPT_STARTS_SOONER, filled.first_s / empty.first_s)
    page.say(
        "A benchmark with a single call measures mostly the compiler. A call with a new type starts the compiler",
        "again, even in the middle of a benchmark. So call the function once with each type before you measure.",
        KEPT_STARTS_SOONER.words(
            held="The cache shortens the first call of later processes.",
            refuted="In this run, the cache does not shorten the first call of a later process much.",
            unclear="This run does not show clearly how much time the cache saves.",
        ),
    )


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Loaded(NamedTuple):
    lazy_s: float
    lazy_first_s: float
    signed_s: float
    signed_first_s: float


@lesson.given
class Signed(NamedTuple):
    turns: list[Loaded]
    of_a_float: float
    refused: str
    signatures: int


@lesson.step(
    "Explicit signatures and the import",
    predict=Choice(
        "A module decorates four functions with numba. A program imports the module and calls one function. What is the"
        " time of the import and the call with explicit signatures, divided by their time without signatures?",
        {"a": "less than 0.5", "b": "0.5 to 2", "c": "more than 2"},
        limits=(0.5, 2),
    ),
    expected="c",
    wrong_reasoning="Students think that explicit signatures save time. But all four functions are then compiled at "
    "the import, even those that are never called.",
    fast={"turns": 2},
)
def signatures_in_advance(turns: int = 5) -> Signed:
    """With an *explicit signature*, such as `njit("int64(int64)")`, you declare the types. numba then compiles at once.

    A decorator runs during the import of a module. Without a signature, numba compiles each function at its first call.
    We decorate `twice` four times, as if it were four functions of a module, and call one of the four.
    """
    sign = numba.njit("int64(int64)")
    sign(twice)  # numba's first compilation takes longer
    found = []
    for _ in range(turns):
        stamps = [time.perf_counter()]
        lazy = [numba.njit(twice) for _ in range(4)]
        stamps.append(time.perf_counter())
        lazy[0](3)
        stamps.append(time.perf_counter())
        signed = [sign(twice) for _ in range(4)]
        stamps.append(time.perf_counter())
        signed[0](3)
        stamps.append(time.perf_counter())
        found.append(Loaded(*(b - a for a, b in pairwise(stamps))))
    of_a_float = signed[0](2.9)
    try:
        refused = f"returned {signed[0](2j)}"
    except TypeError as error:
        refused = str(error)
    return Signed(found, of_a_float, refused, len(signed[0].signatures))


IMPORT_COMPILES = signatures_in_advance.claim(
    "import-compiles",
    "with explicit signatures, an import and one call take more than 2 times as long as without signatures",
    at_least=2,
    unit=units.ratio,
)
FIRST_CALL_IS_SHORT = signatures_in_advance.claim(
    "first-call-is-short",
    "with an explicit signature, the first call takes less than 20 % of the time without a signature",
    at_most=0.2,
    unit=units.percent,
)
FLOAT_IS_CUT = signatures_in_advance.claim(
    "float-is-cut",
    "with the signature `int64(int64)`, `twice(2.9)` returns 4 without an error",
    equals=4,
    unit=lambda value: f"returned {units.number(value)}",
)


@signatures_in_advance.explain
def explain_signed(page: Page, found: Signed) -> None:
    lazy_s, lazy_first_s, signed_s, signed_first_s = (median(times) for times in zip(*found.turns, strict=True))
    rows = [("no signature", lazy_s, lazy_first_s), ("explicit signature", signed_s, signed_first_s)]
    heads = {"four functions": None, "import": units.seconds, "first call of one": units.seconds}
    page.table(Table.of("The median times of the import and of the first call", heads, rows))
    whole = Interval.every((t.signed_s + t.signed_first_s) / (t.lazy_s + t.lazy_first_s) for t in found.turns)
    page.reveal(whole)
    page.settle(IMPORT_COMPILES, whole)
    page.settle(FIRST_CALL_IS_SHORT, Interval.every(t.signed_first_s / t.lazy_first_s for t in found.turns))
    page.settle(FLOAT_IS_CUT, found.of_a_float)
    page.say(
        IMPORT_COMPILES.words(
            held="With signatures, the import compiles all four functions, also the three that the program never calls."
            " With `cache=True`, only the first import compiles them.",
            refuted="In this run, compiling the other functions took little time.",
            unclear="This run does not show clearly how much time the other functions take.",
        ),
        FLOAT_IS_CUT.words(
            held=f"`twice` has {units.some(found.signatures, 'signature')}. numba compiles no other signature, but"
            " converts 2.9 to the integer 2.",
            refuted=f"`twice(2.9)` returned {units.number(found.of_a_float)}.",
            unclear="This run does not show how numba converts 2.9.",
        ),
        "Use explicit signatures if the first call must be fast, and if you are sure of the types.",
    )
    page.output(narrowed(found.refused), caption="The error of numba for a complex number")


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.given
class Gains(NamedTuple):
    curve: Duel
    softened: Duel


@lesson.step(
    "One pass instead of eight",
    predict=Choice(
        "A numba loop replaces NumPy's operations on 262 144 numbers. For which formula is the gain (NumPy's time ÷ "
        "the loop's time) larger?",
        {
            "a": "`softened`, with a tanh",
            "b": "both the same, within 10 %",
            "c": "`curve`, with only sums and products",
        },
        limits=(1 / 1.1, 1.1),
    ),
    expected="c",
    wrong_reasoning="Students think that fusion gains the same for each formula. But a `tanh` takes most of the time "
    "in both versions, so fewer passes save little.",
    fast={"budget_s": 0.3},
)
def eight_passes_made_one(budget_s: float = 0.8) -> Gains:
    """Each operation of NumPy was compiled ahead of time, separately from all other operations.

    So each operation reads whole arrays, computes one result per number, and writes a whole array. *Fusion*
    merges the operations into one loop. The loop reads each number once, computes the whole formula, and writes the
    result.
    """
    x = np.random.default_rng(0).random(1 << 18)
    duels = []
    for formula in (curve, softened):
        loop = fused(formula)
        loop(x)  # compiles before the measurement
        found = duel(
            "loop(x)",
            baseline="formula(x)",
            globals={"loop": loop, "formula": formula, "x": x},
            budget_s=budget_s,
        )
        duels.append(found)
    return Gains(*duels)


ONE_PASS_WINS = eight_passes_made_one.claim(
    "one-pass-wins",
    "one loop computes `curve` more than 1.5 times as fast as NumPy's eight operations",
    at_least=1.5,
    unit=units.ratio,
)
GAIN_DEPENDS = eight_passes_made_one.claim(
    "gain-depends",
    "the gain of the loop is more than 1.5 times as large for `curve` as for `softened`, which has a tanh",
    at_least=1.5,
    unit=units.ratio,
)


@eight_passes_made_one.explain
def explain_fused(page: Page, found: Gains) -> None:
    rows = [(name, each.ratio, each.low, each.high) for name, each in found._asdict().items()]
    heads = {"formula": None, "gain": units.ratio, "from": units.ratio, "to": units.ratio}
    page.table(Table.of("Gain of the loop: NumPy's time ÷ the loop's time", heads, rows))
    more = quotient(Interval.duel(found.curve), Interval.duel(found.softened))
    page.reveal(more)
    page.settle(ONE_PASS_WINS, Interval.duel(found.curve))
    page.settle(GAIN_DEPENDS, more)
    page.say(
        tanh_in_words(found.softened),
        "Fusion saves passes over memory, but it does not save arithmetic. The loop computes as many values of tanh as",
        "NumPy.",
        GAIN_DEPENDS.words(
            held="So the gain of fusion depends on the formula.",
            refuted="In this run, the gain is not much larger for `curve` than for `softened`.",
            unclear="This run does not show clearly whether the gain is much larger for `curve` than for `softened`.",
        ),
    )


def tanh_in_words(contest: Duel) -> str:
    """Return a text about which is faster for the formula with a tanh: the loop or NumPy's operations."""
    return (
        Interval.duel(contest)
        .compare(at_least=1)
        .words(
            held="With the tanh, the loop is faster than NumPy's operations.",
            refuted="With the tanh, the loop is slower than NumPy's operations. On many processors, NumPy's tanh"
            " computes several numbers at a time. numba's tanh computes one number at a time, unless numba finds"
            " Intel's library SVML.",
            unclear="This run does not show clearly whether the loop with the tanh is faster.",
        )
    )


def quotient(one: Interval, other: Interval) -> Interval:
    """Return the interval of `one` ÷ `other`, two positive values. It is unknown if both can be infinite."""
    pairs = ((one.middle, other.middle), (one.lowest, other.highest), (one.highest, other.lowest))
    ends = [a / b if b else math.inf for a, b in pairs]
    return Interval.unknown() if any(map(math.isnan, ends)) else Interval(*ends)


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def gelu(x: Tensor) -> Tensor:
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


@lesson.given
def brighten(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


@lesson.given
class Traced(NamedTuple):
    graph: str
    done: int
    nodes: int
    called: int
    refusals: list[str]
    unused: tuple[int, int]
    met: list[str]


@lesson.step(
    "Capturing a graph before the run",
    predict=Choice(
        "`torch.fx` captures the function `gelu` as a graph. How many of gelu's operations does torch run during the "
        "capture?",
        {"a": "none", "b": "all, once", "c": "all, twice"},
        limits=(0.5, 1.5),
    ),
    expected="a",
    wrong_reasoning="Students think that torch must run a function to learn its operations. But `torch.fx` calls it "
    "with placeholders, which only record the operations.",
)
def declare_or_run() -> Traced:
    """By default, torch is *eager*: it runs each operation as soon as Python reaches its line (*imperative* style).

    In the *declarative* style, a program first records all operations as a *graph*, and runs the graph later.
    `torch.fx` calls your function with a proxy instead of a tensor. The proxy records each operation. torch's compilers
    use these graphs. The function `wasteful` computes a result that it does not use.
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
    met = []

    def wasteful(x: Tensor) -> Tensor:
        met.append(type(x).__name__)
        torch.exp(x)  # the result is not used
        return x + 1

    eager = len(traffic(wasteful, x))
    smaller = fx.symbolic_trace(wasteful).graph
    smaller.eliminate_dead_code()
    kept = sum(each.op == "call_function" for each in smaller.nodes)
    unused = (eager, kept)
    return Traced(str(graph), done, nodes, called, refusals, unused, met)


NOTHING_DONE = declare_or_run.claim(
    "nothing-done", "while `torch.fx` captures a graph, torch runs no operation", equals=0, unit=things("operation")
)
GRAPH_IS_WHOLE = declare_or_run.claim(
    "graph-is-whole",
    "the graph of `torch.fx` contains as many operations as torch runs in a call of `gelu`",
    equals=0,
    unit=followed("apart"),
)
BRANCH_REFUSED = declare_or_run.claim(
    "branch-refused",
    "`torch.fx` refuses to capture `brighten`, because its branch depends on the numbers in the tensor",
    equals=1,
    unit=things("refusal"),
)
UNUSED_DROPPED = declare_or_run.claim(
    "unused-dropped",
    "the graph of `wasteful` can leave out the operation whose result is not used, but eager torch runs it",
    equals=1,
    unit=followed("operation less"),
)


@declare_or_run.explain
def explain_graph(page: Page, found: Traced) -> None:
    page.output(narrowed(found.graph), caption="The graph that `torch.fx` captured from `gelu`")
    page.reveal(found.done / found.called, f"A call of `gelu` runs {units.some(found.called, 'operation')}.")
    page.settle(NOTHING_DONE, found.done)
    page.settle(GRAPH_IS_WHOLE, found.nodes - found.called, remark=units.some(found.called, "operation"))
    page.settle(BRANCH_REFUSED, len(found.refusals))
    ran, kept = found.unused
    page.settle(UNUSED_DROPPED, ran - kept)
    rows: list[Row] = [
        ("operations that run while Python runs the lines of gelu", str(found.called), str(found.done)),
        ("operations in a call of wasteful", str(ran), str(kept)),
        ("the argument that wasteful gets", found.met[0], found.met[-1]),
        ("a branch that depends on numbers", "runs", "an error" if found.refusals else "runs"),
    ]
    page.table(Table.of("Two styles", dict.fromkeys(("", "imperative: eager", "declarative: graph")), rows))
    if found.refusals:
        page.output(narrowed(found.refusals[0].splitlines()[0]), caption="The error of `torch.fx` for `brighten`")
    page.say(
        "A program can analyse a graph as a whole. It can fuse operations, reorder them, move them to another device,",
        "or run them without Python.",
        BRANCH_REFUSED.words(
            held="`torch.fx` cannot decide an `if` that depends on the numbers in a tensor, because a proxy contains no"
            " numbers.",
            refuted="In this run, `torch.fx` also captures the branch.",
            unclear="This run does not show whether `torch.fx` can capture a branch.",
        ),
        "Eager code can contain any branch, and it is easy to write, print and debug. But eager torch runs one",
        "operation at a time, so it cannot fuse operations.",
    )


def narrowed(text: str, width: int = 76) -> str:
    """Return `text` with each line cut to at most `width` characters. A cut line ends in an ellipsis."""
    return "\n".join(line if len(line) <= width else f"{line[: width - 1]}…" for line in text.strip().splitlines())


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Gelu(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return gelu(x)


@lesson.given
class Brighten(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return brighten(x)


@lesson.given
class Exported(NamedTuple):
    code: str
    nodes: int
    called: int
    apart: float
    branch: str
    other_size: str
    free_size: str


@lesson.step(
    "torch.export: the whole graph or an error",
    predict=Choice(
        "We give `torch.export` one example input and `brighten`, whose branch depends on the numbers in the input. "
        "What does `torch.export` do?",
        {"a": "keep both sides", "b": "keep only the side that the example needs", "c": "raise an error"},
    ),
    expected="c",
    wrong_reasoning="Students think that the export keeps the side of the example, as a trace does. But "
    "`torch.export` guarantees the whole function, so it refuses this branch.",
)
def whole_graph_or_none() -> Exported:
    """`torch.export` captures a module before its first call. The result is one graph of torch's own operators.

    The exported program can be saved, and other tools can run it without Python. So the graph must be complete.
    `torch.export` assumes that later inputs have the size of the example. The program checks the size at each call,
    unless `Dim` allows other sizes.
    """
    prepare()  # imports torch's compilers, which takes seconds
    x, longer = torch.rand(64), torch.rand(65)
    program = torch.export.export(Gelu(), (x,))
    nodes = [each.op for each in program.graph.nodes]
    run = program.module()
    size = ({0: torch.export.Dim("size")},)
    free = torch.export.export(Gelu(), (x,), dynamic_shapes=size)
    return Exported(
        program.graph_module.code,
        nodes.count("call_function"),
        len(traffic(gelu, x)),
        float((run(x) - gelu(x)).abs().max()),
        refusal(lambda: torch.export.export(Brighten(), (x,))),
        refusal(lambda: run(longer)),
        refusal(lambda: free.module()(longer)),
    )


EXPORT_IS_WHOLE = whole_graph_or_none.claim(
    "export-is-whole",
    "the graph of `torch.export` contains as many operations as torch runs in a call of `gelu`",
    equals=0,
    unit=followed("apart"),
)
EXPORT_ANSWERS = whole_graph_or_none.claim(
    "export-answers",
    "the exported program returns the same numbers as `gelu`, within 0.000001",
    at_most=1e-6,
    unit=followed("apart", units.number),
)
EXPORT_REFUSES = whole_graph_or_none.claim(
    "export-refuses",
    "`torch.export` raises an error for `brighten`, because its branch depends on the numbers in the tensor",
    equals=True,
    unit=yes_no,
)
EXPORT_KEEPS_SIZE = whole_graph_or_none.claim(
    "export-keeps-size",
    "a program exported with a fixed size raises an error for a longer input, but with a free size it does not",
    equals=True,
    unit=yes_no,
)


@whole_graph_or_none.explain
def explain_export(page: Page, found: Exported) -> None:
    page.output(narrowed(found.code), caption="The graph that `torch.export` captured from `gelu`, as Python code")
    page.settle(EXPORT_IS_WHOLE, found.nodes - found.called, remark=units.some(found.called, "operation"))
    page.settle(EXPORT_ANSWERS, found.apart)
    page.settle(EXPORT_REFUSES, bool(found.branch))
    page.settle(EXPORT_KEEPS_SIZE, bool(found.other_size) and not found.free_size)
    page.reveal(EXPORT_REFUSES.answer(held="c", refuted=""))
    errors = {"brighten, exported": found.branch, "exported for 64 numbers, called with 65": found.other_size}
    page.output(
        "\n".join(narrowed(f"{case}: {error}") for case, error in errors.items() if error),
        caption="Errors of `torch.export`",
    )
    page.say(
        "Rewrite a branch that depends on numbers with `torch.where` or `torch.cond`. A graph can contain these two",
        "operators. `torch.compile` raises no error for `brighten`: Python runs the code that `torch.compile` cannot",
        "capture, as the next step shows.",
    )


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class SizedCall(NamedTuple):
    size: int
    dtype: str
    graphs: int


@lesson.given
class Guarded(NamedTuple):
    calls: list[SizedCall]
    code: str
    guards: tuple[str, ...]
    branch: Captured


@lesson.step(
    "torch.compile: graphs and guards",
    predict=Choice(
        "We call a compiled function with 64, 64, 65 and 1000 numbers of float32, and then with 64 numbers of "
        "float64. How many graphs does torch compile?",
        {"a": "1", "b": "3", "c": "4"},
    ),
    expected="b",
    wrong_reasoning="Students think that each size needs a graph, or that one graph is enough. But after the second "
    "size, torch compiles one graph for all sizes.",
)
def graphs_behind_guards() -> Guarded | None:
    """`torch.compile` reads the bytecode of your function and collects torch's operations in graphs.

    With each graph, torch stores its *guards*: the conditions under which the graph is right. torch checks the guards
    at each call. If no graph fits, torch compiles the function again (*recompilation*). If only a size has changed, the
    new graph usually fits other sizes too.

    A *backend* turns a graph into a function, which can contain machine code. The backend of this step only stores the
    graph, and runs its operations unchanged.
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
        calls.append(SizedCall(size, "float32", len(graphs)))
    compiled(torch.ones(64, dtype=torch.float64))
    calls.append(SizedCall(64, "float64", len(graphs)))
    guards = guards_of(gelu)
    branch = captured(brighten, torch.ones(64))
    return Guarded(calls, graphs[0].code, guards, branch)


SAME_AGAIN = graphs_behind_guards.claim(
    "same-again",
    "`torch.compile` compiles no graph for a second call with the same size and dtype",
    equals=0,
    unit=things("graph"),
)
ANY_SIZE_THEN = graphs_behind_guards.claim(
    "any-size-then",
    "`torch.compile` compiles one more graph for the second size, and no further graph for the third size",
    equals=True,
    unit=yes_no,
)
DTYPE_ANEW = graphs_behind_guards.claim(
    "dtype-anew", "`torch.compile` compiles one more graph for a new dtype", equals=1, unit=things("graph")
)
BRANCH_BREAKS = graphs_behind_guards.claim(
    "branch-breaks",
    "`torch.compile` splits `brighten` into two or more graphs, because its branch depends on the numbers",
    at_least=2,
    unit=things("graph"),
)


@graphs_behind_guards.explain
def explain_guards(page: Page, found: Guarded | None) -> None:
    if found is None:
        page.skip_step(
            unsupported(), shows="the graphs and guards of one function, called with several sizes and dtypes"
        )
        return
    heads = {"numbers": units.count, "dtype": None, "graphs afterwards": units.count}
    page.table(Table.of("The calls of one compiled function, in order", heads, found.calls))
    page.output(narrowed(found.code), caption="The first graph, as Python code")
    page.output(narrowed("\n".join(found.guards)), caption="Some of the guards on the argument x, one line per graph")
    first, again, second, third, dtype = (call.graphs for call in found.calls)
    page.reveal({1: "a", 3: "b", 4: "c"}.get(dtype), f"torch compiles {units.some(dtype, 'graph')}.")
    page.settle(SAME_AGAIN, again - first)
    page.settle(
        ANY_SIZE_THEN,
        (second - again, third - second) == (1, 0),
        remark=f"graphs: {second - again} for the second size, {third - second} for the third",
    )
    page.settle(DTYPE_ANEW, dtype - third)
    page.settle(BRANCH_BREAKS, found.branch.graphs)
    page.say(
        ANY_SIZE_THEN.words(
            held="The graph of the second size has no guard on a single size, so it also fits the third size.",
            refuted="Settings of torch decide whether torch compiles another graph for a new size.",
            unclear="This run does not show when torch compiles another graph for a new size.",
        ),
        BRANCH_BREAKS.words(
            held="At the branch, `torch.compile` ends a graph (a *graph break*). Python decides the branch, and a new"
            " graph begins. The result is right, but the compiler can fuse less.",
            refuted="In this run, the branch does not end a graph.",
            unclear="This run does not show what `torch.compile` does at a branch.",
        ),
    )
    if found.branch.breaks:
        page.output(narrowed(found.branch.breaks[0].strip().splitlines()[0]), caption="The reason for the graph break")


# ── 9 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Written(NamedTuple):
    passes: tuple[OperationTraffic, ...]
    code: str
    contest: Duel | None


@lesson.step(
    "The loop that the compiler writes",
    predict=Guess(
        "What is the number of bytes that the separate operations of `gelu` move, divided by the number of bytes that "
        "one fused loop moves?",
        "times",
    ),
    expected="11 times",
    wrong_reasoning="Students think that the fused loop saves only a little, because it computes the same. But each "
    "separate operation reads and writes whole tensors.",
    fast={"budget_s": 0.3},
)
def the_loop_that_was_written(budget_s: float = 0.8) -> Written:
    """Inductor is the default backend of `torch.compile`. For a CPU, it writes a C++ loop that fuses many operations.

    We record how many bytes each operation of a plain (not compiled) call reads and writes, in memory or in a cache. We
    also print the C++ code. With `dynamic=True`, the code works for different sizes.
    """
    torch.set_num_threads(1)
    x = torch.rand(1 << 20)
    passes = traffic(gelu, x)
    if cannot_compile():
        return Written(passes, "", None)
    prepare()
    fast = torch.compile(gelu, dynamic=True)
    code = kernel_of(fast, x)
    contest = duel(
        "fast(x)",
        baseline="gelu(x)",
        globals={"fast": fast, "gelu": gelu, "x": x},
        budget_s=budget_s,
    )
    return Written(passes, code, contest)


LESS_MOVED = the_loop_that_was_written.claim(
    "less-moved",
    "one fused loop reads and writes less than 20 % of the bytes that the separate operations of `gelu` read and write",
    at_most=0.2,
    unit=units.percent,
)
ONE_KERNEL = the_loop_that_was_written.claim(
    "one-kernel",
    "Inductor writes a single C++ function for all operations of `gelu`",
    equals=1,
    unit=things("function"),
)
FUSED_IS_FASTER = the_loop_that_was_written.claim(
    "fused-is-faster",
    "on a million numbers, the compiled `gelu` is more than 1.3 times as fast as the plain `gelu`",
    at_least=1.3,
    unit=units.ratio,
)


@the_loop_that_was_written.explain
def explain_loop(page: Page, found: Written) -> None:
    moved, once = sum(each.moved_bytes for each in found.passes), 2 * found.passes[-1].written_bytes
    bars = [(each.name.removeprefix("aten."), float(each.moved_bytes)) for each in found.passes]
    bars.append(("one fused loop", float(once)))
    caption = "Bytes that each operation reads and writes"
    drawn = bar_chart_svg(bars, title=caption, unit=units.size)
    page.drawing(plots.bars(bars, width=30, unit=units.size), drawn, name="traffic", caption=caption)
    page.reveal(
        moved / once,
        f"The {len(found.passes)} operations read and write {units.size(moved)}. A fused loop reads x once and writes"
        f" the result once, which is {units.size(once)}.",
    )
    page.settle(LESS_MOVED, once / moved)
    if found.contest is None:
        page.skip(ONE_KERNEL, cannot_compile())
        page.skip(FUSED_IS_FASTER, cannot_compile())
        page.say(
            "On a machine where torch can compile, this step shows the C++ code that torch writes for `gelu`, and"
            " measures how much faster it is."
        )
        return
    page.output(narrowed(body_of(found.code)), caption="The C++ code of Inductor, from its first loop on")
    page.settle(ONE_KERNEL, found.code.count('extern "C"'))
    page.settle(FUSED_IS_FASTER, Interval.duel(found.contest))
    page.say(
        f"The separate operations move {units.ratio(moved / once)} as many bytes as the fused loop. The compiled call",
        f"is {units.ratio(found.contest.ratio)} as fast as the plain call.",
        FUSED_IS_FASTER.words(
            held="Fusion does not save arithmetic, so do not expect that the speedup is as large as the saving in"
            " bytes.",
            refuted="In this run, moving fewer bytes saves little time. Fusion does not save arithmetic.",
            unclear="This run does not show clearly how much time the fused loop saves.",
        ),
    )


def body_of(written: str, most: int = 22) -> str:
    """Return at most `most` lines of C++ code, from its first loop on. "…" stands for the other lines."""
    lines = written.splitlines()
    first = next((n for n, line in enumerate(lines) if "for(" in line), 0)
    return "\n".join([*lines[first : first + most], *(["…"] if len(lines) > first + most else [])])


# ── 10 ─────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def kept_by_inductor() -> str:
    return """
import torch, torch._inductor.compile_fx
torch.set_num_threads(1)
x = torch.rand(1 << 20)
@torch.compile(dynamic=True)
def gelu(x):
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))
def call():
    gelu(x)
"""


@lesson.given
class Prices(NamedTuple):
    duels: dict[int, Duel]
    cached: Starts


@lesson.step(
    "When compiling pays off",
    predict=Guess(
        "We compile `gelu` with an empty cache, and call it with a million numbers. After how many calls has "
        "compiling saved more time than it took?",
        "calls",
        3,
    ),
    expected="about 10 000 calls",
    depends_on="the time that the compiler needs, and on the number of cores",
    wrong_reasoning="Students look only at the faster calls. But the compilation takes seconds, and each call saves "
    "only a few milliseconds.",
    fast={"budget_s": 0.3, "measuring": 0},
)
def when_it_has_paid(budget_s: float = 0.8, measuring: int = 1) -> Prices | None:
    """Compiling takes time once, and each later call saves a little time. With few calls, compiling is slower.

    We time the first and the second call in a new process, once with an empty cache and once with a filled cache. The
    time of the first call minus the time of the second call is the time for compiling. The lesson keeps these times,
    and shows them again in later runs. Then we measure the gain at three sizes. With `dynamic=True`, torch compiles one
    graph for all three sizes, so the time for compiling is the same for each size.
    """
    if cannot_compile():
        return None
    prepare()
    fast = torch.compile(gelu, dynamic=True)
    duels = {}
    for size in (1 << 10, 1 << 15, 1 << 20):
        x = torch.rand(size)
        fast(x)
        duels[size] = duel(
            "fast(x)",
            baseline="gelu(x)",
            globals={"fast": fast, "gelu": gelu, "x": x},
            budget_s=budget_s,
        )
    cached = starts(kept_by_inductor(), measuring=bool(measuring))
    return Prices(duels, cached)


SMALL_GAINS_LESS = when_it_has_paid.claim(
    "small-gains-less",
    "the gain (plain time ÷ compiled time) of `gelu` is larger with a million numbers than with 1 024 numbers",
    at_least=1,
    unit=units.ratio,
)
COLD_IS_LONG = when_it_has_paid.claim(
    "cold-is-long",
    "with an empty cache and a million numbers, the first call of the compiled `gelu` takes more than 100 times as long"
    " as a plain call",
    at_least=100,
    unit=units.ratio,
)
CACHE_HELPS = when_it_has_paid.claim(
    "cache-helps",
    "with a filled cache, the first call of the compiled `gelu` takes less than 70 % of the time with an empty cache",
    at_most=0.7,
    unit=units.percent,
)
SMALL_NEEDS_MORE = when_it_has_paid.claim(
    "small-needs-more",
    "with 1 024 numbers, compiling `gelu` pays off after more than 10 times as many calls as with a million numbers",
    at_least=10,
    unit=units.ratio,
)


@when_it_has_paid.explain
def explain_paid(page: Page, found: Prices | None) -> None:
    if found is None:
        page.skip_step(
            cannot_compile(), shows="what compiling `gelu` costs, and after how many calls it pays off at three sizes"
        )
        return
    show_break_even(page, found)
    empty, filled = found.cached.empty, found.cached.filled
    small, large = found.duels[min(found.duels)], found.duels[max(found.duels)]
    calls = paid_after(empty, large)
    page.reveal(calls if math.isfinite(calls.high) else None)
    page.settle(SMALL_GAINS_LESS, quotient(Interval.duel(large), Interval.duel(small)))
    if empty is None or filled is None:
        for claim in (COLD_IS_LONG, CACHE_HELPS, SMALL_NEEDS_MORE):
            page.skip(claim, found.cached.reason)
    else:
        page.settle(COLD_IS_LONG, empty.first_s / large.baseline_s)
        page.settle(CACHE_HELPS, filled.first_s / empty.first_s)
        more = quotient(paid_after(empty, small), calls)
        page.settle(SMALL_NEEDS_MORE, more, shown=more_in_words(more))
        page.say(
            pays_in_words(large, calls.middle * large.baseline_s),
            "The time for compiling was measured once, so its own error is not part of these numbers.",
        )
    page.say(
        f"A plain call with 1 024 numbers takes {units.seconds(small.baseline_s)}. A plain call with a million numbers",
        f"takes {units.seconds(large.baseline_s / 1024)} for each 1 024 of its numbers.",
        "Each call also has fixed costs: Python, the start of each operation and new output tensors. A compiled call",
        "also checks the guards.",
        SMALL_GAINS_LESS.words(
            held="In this run, compiling gains less with 1 024 numbers than with a million.",
            refuted="In this run, compiling gains more with 1 024 numbers than with a million.",
            unclear="This run does not show clearly which size gains more.",
        ),
        loses_in_words(small),
    )


def show_break_even(page: Page, found: Prices) -> None:
    """Print the gain at each size, the first calls with an empty and a filled cache, and when compiling pays off."""
    heads: dict[str, Callable[[float], str] | None] = {"numbers": units.count, "plain": units.seconds}
    heads |= {"compiled": units.seconds, "gain": units.ratio}
    rows: list[Row] = [(n, each.baseline_s, each.candidate_s, each.ratio) for n, each in found.duels.items()]
    page.table(Table.of("One call of `gelu`, plain and compiled", heads, rows))
    empty, filled = found.cached.empty, found.cached.filled
    if empty is None or filled is None:
        return
    page.table(found.cached.table())
    rows = [
        (n, calls_in_words(paid_after(empty, each)), calls_in_words(paid_after(filled, each)))
        for n, each in found.duels.items()
    ]
    heads = {"numbers": units.count, "empty cache": None, "filled cache": None}
    page.table(Table.of("The number of calls after which compiling pays off", heads, rows))


def pays_in_words(large: Duel, plain_s: float) -> str:
    """Return a sentence about whether compiling pays off with a million numbers.

    `plain_s` is the time of the plain calls after which it pays off, in seconds.
    """
    return (
        Interval.duel(large)
        .compare(at_least=1)
        .words(
            held="With a million numbers, compiling pays off if all plain calls together take more than about"
            f" {units.seconds(plain_s)}. With fewer calls, a program is faster without compiling.",
            refuted="With a million numbers, the compiled call is slower in this run, so compiling never pays off.",
            unclear="With a million numbers, this run does not show clearly whether the compiled call is faster.",
        )
    )


def loses_in_words(small: Duel) -> str:
    """Return a sentence if the compiled call is slower with 1 024 numbers, or "" if this is not clear."""
    loses = "With 1 024 numbers, the compiled call is slower than the plain call."
    return Interval.duel(small).compare(at_least=1).words(held="", refuted=loses, unclear="")


def paid_after(start: Start | None, contest: Duel) -> Interval:
    """Return the number of calls after which compiling pays off: infinite if never, unknown if `start` is None."""
    if start is None:
        return Interval.unknown()
    slow_s = contest.baseline_s
    fast = Interval.duel(contest).inverse().mapped(lambda ratio: slow_s * ratio)
    return fast.mapped(lambda fast_s: needed(start, slow_s, fast_s))


def needed(start: Start, slow_s: float, fast_s: float) -> float:
    """Return the number of calls after which compiling pays off, infinite if a compiled call is not faster.

    The time for compiling is the time of the first call minus the time of the second call.
    """
    return calls_to_break_even(start.first_s - start.again_s, slow_s, fast_s)


def more_in_words(more: Interval) -> str:
    """Return the text for a ratio of two numbers of calls that has no upper limit, or "" if it has one."""
    if math.isfinite(more.high) or math.isnan(more.high):
        return ""
    return "never with 1 024 numbers" if math.isinf(more.low) else f"at least {units.ratio(more.low)}"


def calls_in_words(calls: Interval) -> str:
    """Return a range of numbers of calls as text, or "never" if the number is infinite."""
    if math.isinf(calls.low):
        return "never"
    if math.isinf(calls.high):
        return f"at least {units.count(calls.low)}"
    return " to ".join(dict.fromkeys((units.count(calls.low), units.count(calls.high))))


# ── 11 ─────────────────────────────────────────────────────────────────────────────────────────


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


@lesson.given
class Turn(NamedTuple):
    in_turn_s: float
    at_once_s: float


@lesson.given
class Independent(NamedTuple):
    ready: dict[int, list[str]]
    apart: float
    wide: Duel
    turns: list[Turn]
    load: BackgroundLoad


@lesson.step(
    "Operations that do not depend on each other",
    predict=Choice(
        "`attend` computes five matrix products. How many of these products could begin at the same time?",
        {"a": "one", "b": "two", "c": "three"},
        limits=(2, 3),
    ),
    expected="c",
    wrong_reasoning="Students follow the order of the lines. But only the data decides: a product can begin when its "
    "inputs are known.",
    fast={"budget_s": 0.3},
)
def what_does_not_wait(budget_s: float = 0.6) -> Independent:
    """Eager torch computes one product after the other. A product could begin as soon as its two factors are known.

    The graph shows which products need the result of another product. The others can run at the same time on several
    cores. If they have the same first factor, one product with a wider matrix can replace them. We measure both ways.
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
    with watch_background_load() as load, ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            began = time.perf_counter()
            _ = a @ a, a @ a
            between = time.perf_counter()
            list(pool.map(torch.mm, [a, a], [a, a]))
            ended = time.perf_counter()
            turns.append(Turn(between - began, ended - between))
    furthest = float(apart.abs().max())
    return Independent(ready_at(graph), furthest, one, turns, load)


THREE_AT_ONCE = what_does_not_wait.claim(
    "three-at-once",
    "in the graph of `attend`, three of the five products need no result of another product",
    equals=3,
    unit=followed("of 5"),
)
SAME_ANSWER = what_does_not_wait.claim(
    "same-answer",
    "the product with the wide matrix returns the numbers of the three separate products, within 0.001",
    at_most=1e-3,
    unit=followed("apart", units.number),
)
ONE_CALL_SAVES = what_does_not_wait.claim(
    "one-call-saves",
    "if `x` has one row, the product with the wide matrix is more than 1.05 times as fast as the three products",
    at_least=1.05,
    unit=units.ratio,
)
TWO_CORES = what_does_not_wait.claim(
    "two-cores",
    "two products at the same time, on two cores, take less wall time than two products one after the other",
    at_least=1,
    unit=units.ratio,
)


@what_does_not_wait.explain
def explain_waiting(page: Page, found: Independent) -> None:
    rows: list[Row] = [
        (units.count(n), ", ".join(names)) for n, (_, names) in enumerate(sorted(found.ready.items()), start=1)
    ]
    page.table(Table.of("The products in the order in which they can begin", {"order": None, "products": None}, rows))
    in_turn_s, at_once_s = (median(times) for times in zip(*found.turns, strict=True))
    rows = [
        ("three products of one row", found.wide.baseline_s),
        ("one product of the row with the wide matrix", found.wide.candidate_s),
        ("two products of 1024 × 1024, one after the other", in_turn_s),
        ("two products of 1024 × 1024, at the same time", at_once_s),
    ]
    page.table(Table.of("Times of the products", {"products": None, "time": units.seconds}, rows))
    first = len(found.ready[min(found.ready)])
    page.reveal(first)
    page.settle(THREE_AT_ONCE, first)
    page.settle(SAME_ANSWER, found.apart)
    page.settle(ONE_CALL_SAVES, Interval.duel(found.wide))
    if (os.cpu_count() or 1) < 2:
        page.skip(TWO_CORES, "this claim needs a second core")
    else:
        later = found.turns[1:]  # the first repetition starts the threads
        gain = Interval.median(turn.in_turn_s / turn.at_once_s for turn in later)
        page.settle(TWO_CORES, gain.void_if(found.load.is_high))
    page.say(
        "With a graph, a compiler can find operations that do not depend on each other. Eager torch runs one operation",
        "at a time, so you must find independent operations yourself.",
        ONE_CALL_SAVES.words(
            held="If several products have the same first factor, write one wide product, as"
            " `torch.nn.MultiheadAttention` does.",
            refuted="In this run, one wide product saves hardly any time.",
            unclear="This run does not show clearly whether one wide product saves time.",
        ),
    )
    page.say(
        TWO_CORES.words(
            held="In this run, two products at the same time took less time than one after the other.",
            refuted="In this run, two products at the same time took no less time than one after the other.",
            unclear="This run does not show whether two products at the same time take less time than one after the"
            " other.",
        ),
    )


# ── 12 ─────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class History(NamedTuple):
    traced_right: bool
    scripted_right: bool
    contest: Duel


@lesson.step(
    "For history: TorchScript",
    predict=Choice(
        "`torch.jit.trace` records one call of `brighten`. What does the trace do with numbers that need the other side"
        " of the branch?",
        {"a": "it runs the other side", "b": "it runs the recorded side", "c": "it raises an error"},
    ),
    expected="b",
    wrong_reasoning="Students think that a trace contains the branch. But a trace contains only the operations of the "
    "recorded call.",
    fast={"budget_s": 0.3},
)
def for_history(budget_s: float = 0.6) -> History | None:
    """TorchScript was torch's compiler before `torch.compile`. Its graphs run without Python.

    `torch.jit.trace` records one call of a function, and `torch.jit.script` translates its source code. TorchScript is
    deprecated since torch 2.5, according to torch's documentation. Since version 2.10, each use causes a warning, which
    Python may hide. Python 3.14 and newer versions are not supported. `torch.compile` replaces TorchScript for speed,
    and `torch.export` for programs without Python.
    """
    if torchscript_support().reason:
        return None
    light, dark = torch.ones(4), torch.full((4,), -3.0)
    with torchscript_warnings_hidden():  # hides torch's warnings
        scripted = torch.jit.script(brighten)
        recorded = torch.jit.trace(brighten, light, check_trace=False)
        fast = torch.jit.script(gelu)
    right = brighten(dark)
    x = torch.rand(1 << 18)
    for _ in range(4):
        fast(x)  # TorchScript optimises after its first calls
    found = duel(
        "fast(x)",
        baseline="gelu(x)",
        globals={"fast": fast, "gelu": gelu, "x": x},
        budget_s=budget_s,
    )
    traced_right = torch.equal(recorded(dark), right)
    scripted_right = torch.equal(scripted(dark), right)
    return History(traced_right, scripted_right, found)


TRACE_FORGETS = for_history.claim(
    "trace-forgets",
    "a trace of `brighten` returns wrong numbers if the input needs the side that was not recorded",
    equals=False,
    unit=lambda right: right_or_wrong(bool(right)),
)
SCRIPT_KEEPS = for_history.claim(
    "script-keeps",
    "a script of `brighten` returns right numbers",
    equals=True,
    unit=lambda right: right_or_wrong(bool(right)),
)
LITTLE_GAIN = for_history.claim(
    "little-gain",
    "on this CPU, a script of `gelu` is at most 1.5 times as fast as plain `gelu`",
    at_most=1.5,
    unit=units.ratio,
)


@for_history.explain
def explain_history(page: Page, found: History | None) -> None:
    if found is None:
        page.reveal(None)
        for claim in page.declared.values():
            page.skip(claim, torchscript_support().reason)
        page.say(
            "Steps 7 to 10 show the successors of TorchScript: `torch.export` and `torch.compile`. Where torch supports"
            " TorchScript, this step shows that a trace keeps only the recorded side of a branch."
        )
        return
    page.settle(TRACE_FORGETS, found.traced_right)
    page.settle(SCRIPT_KEEPS, found.scripted_right)
    page.settle(LITTLE_GAIN, Interval.duel(found.contest))
    page.reveal(
        TRACE_FORGETS.answer(held="b", refuted="a"),
        "torch prints a warning while it records the call, but not in later calls of the trace.",
    )
    page.say(
        LITTLE_GAIN.words(
            held="A script runs the same operations without Python between them. In this run, plain `gelu` takes"
            f" {units.ratio(found.contest.ratio)} as long as the script.",
            refuted="In this run, scripting saves much time. A possible reason is that torch fuses some operations of"
            " a script.",
            unclear="This run does not show clearly how much faster scripting makes the function.",
        ),
        "You will meet TorchScript in older code, and in C++ programs that load a model. A trace drops a side of a",
        "branch without an error. `torch.export` raises an error instead.",
    )


def right_or_wrong(right: bool) -> str:
    """Return "right" or "wrong"."""
    return "right" if right else "wrong"


lesson.key_points = (
    "Fusion saves passes over memory, not arithmetic. Count the bytes of each operation before you expect a gain.",
    "The first call compiles the function, and a new dtype can compile it again. Time such calls separately.",
    "Break-even = time for compiling ÷ time that one call saves. Small inputs and short runs may never reach it.",
)
lesson.references = (
    "numba, A 5 minute guide, and Notes on caching: numba.readthedocs.io",
    "PyTorch, torch.compiler, and its pages on recompilation: docs.pytorch.org/docs/stable/torch.compiler.html",
    "PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode Transformation and Graph Compilation (2024)",
)

if __name__ == "__main__":
    main(lesson)
