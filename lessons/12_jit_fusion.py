"""Lesson 12: compilers and fusion. Results that take a long time to measure are kept in the user's cache folder."""

import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx

from harness.compilers.capture import OperationTraffic, guards_of, traffic
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
from harness.paired.duel import Duel, duel
from lessons.engine.api import Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main
from lessons.probes.collatz import compiled_ahead
from lessons.probes.programs import GELU_PROGRAM, NUMBA_PROGRAM, start_figures


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def collatz(n: int) -> int:
    steps = 0
    for start in range(1, n):
        value = start
        while value > 1:
            value = 3 * value + 1 if value % 2 else value // 2
            steps += 1
    return steps


def three_ways_to_run(calls: int = 15) -> dict[str, list[float]]:
    ways: dict[str, Callable[[], Any]] = {
        "interpreted": lambda: collatz,
        "just in time": lambda: numba.njit(collatz),
    }
    if not lacking():
        ways["ahead of time"] = compiled_ahead
    times = {}
    for way, make in ways.items():
        stamps = [perf_counter()]
        function = make()
        stamps.append(perf_counter())
        for _ in range(calls):
            function(1000)
            stamps.append(perf_counter())
        times[way] = [b - a for a, b in pairwise(stamps)]
    return times


def three_ways_to_run_figures(times: dict[str, list[float]]) -> Figures:
    plain, jit, *ahead = times.values()
    rows: list[tuple[float | None, ...]] = [(made, first, median(later)) for made, first, *later in times.values()]
    return {
        "ways": Rows(rows if ahead else [*rows, (None, None, None)]),
        "first_to_plain": jit[1] / plain[1],
        "first_to_later": jit[1] / median(jit[2:]),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def twice(x: Any) -> Any:
    return x + x


def once_for_each_type(measuring: int = 1) -> tuple[list[tuple[float, int]], Starts]:
    compiled = numba.njit(twice)
    arrays = np.ones(1), np.ones(3), np.ones(3, np.float32)
    calls = []
    for x in (1, 2, 2.0, *arrays):
        began = perf_counter()
        compiled(x)
        took = perf_counter() - began
        calls.append((took, len(compiled.signatures)))
    return calls, starts(NUMBA_PROGRAM, measuring=bool(measuring))


def once_for_each_type_figures(found: tuple[list[tuple[float, int]], Starts]) -> Figures:
    calls, cached = found
    return {
        "calls": Rows(calls),
        "letter": {1: "a", 4: "b", 6: "c"}.get(calls[-1][-1]),
        "filled_to_empty": start_figures(cached)["filled_to_empty"],
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def curve(x: Any) -> Any:
    return 1 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625)))


def fused(formula: Callable[[Any], Any]) -> Any:
    of_one = numba.njit(formula)

    @numba.njit
    def loop(x: NDArray[Any]) -> NDArray[Any]:
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = of_one(x[i])
        return out

    return loop


def eight_passes_made_one(budget_s: float = 0.8) -> Duel:
    x, loop = np.random.default_rng(0).random(1 << 18), fused(curve)
    loop(x)  # compiles before the measurement
    known = {"loop": loop, "curve": curve, "x": x}
    return duel("loop(x)", "curve(x)", globals=known, budget_s=budget_s)


def eight_passes_made_one_figures(found: Duel) -> Figures:
    return {"gain": Interval.duel(found)}


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def gelu(x: Tensor) -> Tensor:
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


def brighten(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else x - 1


def declare_or_run() -> tuple[str, int, int, bool]:
    done = len(traffic(fx.symbolic_trace, gelu))
    called = len(traffic(gelu, torch.rand(64)))
    graph, refused = str(fx.symbolic_trace(gelu).graph), False
    try:
        fx.symbolic_trace(brighten)
    except ValueError:
        refused = True
    return graph, done, called, refused


def declare_or_run_figures(found: tuple[str, int, int, bool]) -> Figures:
    graph, done, called, refused = found
    return {
        "graph": narrowed(graph),
        "called": called,
        "done_share": done / called,
        "is_refused": refused,
    }


def narrowed(text: str, width: int = 76) -> str:
    """Return `text` with each line cut to at most `width` characters. A cut line ends in an ellipsis."""
    return "\n".join(line if len(line) <= width else f"{line[: width - 1]}…" for line in text.strip().splitlines())


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def graphs_behind_guards() -> tuple[list[tuple[int, str, int]], tuple[str, ...]] | None:
    if unsupported():
        return None
    graphs: list[fx.GraphModule] = []

    def keep(graph: fx.GraphModule, _: object) -> Callable[..., object]:
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
    return calls, guards_of(gelu)


def graphs_behind_guards_figures(found: tuple[list[tuple[int, str, int]], tuple[str, ...]] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(unsupported())
    calls, guards = found
    return {
        "calls": Rows(calls),
        "guards": "\n".join(guards),
        "letter": {1: "a", 3: "b", 4: "c"}.get(calls[-1][-1]),
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def the_loop_that_was_written(budget_s: float = 0.8) -> tuple[tuple[OperationTraffic, ...], str, Duel | None]:
    torch.set_num_threads(1)
    x = torch.rand(1 << 20)
    passes = traffic(gelu, x)
    if cannot_compile():
        return passes, "", None
    prepare()
    fast = torch.compile(gelu, dynamic=True)
    code = kernel_of(fast, x)
    known = {"fast": fast, "gelu": gelu, "x": x}
    race = partial(duel, "fast(x)", "gelu(x)", budget_s=budget_s)
    return passes, code, race(globals=known)


def the_loop_that_was_written_figures(found: tuple[tuple[OperationTraffic, ...], str, Duel | None]) -> Figures:
    passes, code, contest = found
    moved, once = sum(each.moved_bytes for each in passes), 2 * passes[-1].written_bytes
    reason = Lacking(cannot_compile() or "torch wrote no code: run the lesson again")
    return {
        "operations": len(passes),
        "moved": moved,
        "once": once,
        "moved_to_once": moved / once,
        "code": narrowed(body_of(code)) if code else reason,
        "gain": Interval.duel(contest) if contest else reason,
    }


def body_of(written: str, most: int = 8) -> str:
    """Return the first lines of the first loop in C++ code that compute something. "…" stands for the other lines."""
    body = (written + "for(").partition("for(")[2]
    lines = [line.strip() for line in f"for({body}".splitlines() if "for(" in line or "tmp" in line]
    return "\n".join([*lines[:most], *(["…"] if len(lines) > most else [])])


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def when_it_has_paid(budget_s: float = 0.8, measuring: int = 1) -> tuple[dict[int, Duel], Starts] | None:
    if cannot_compile():
        return None
    prepare()
    fast, duels = torch.compile(gelu, dynamic=True), {}
    race = partial(duel, "fast(x)", "gelu(x)", budget_s=budget_s)
    for size in (1 << 10, 1 << 15, 1 << 20):
        x = torch.rand(size)
        fast(x)
        duels[size] = race(globals={"fast": fast, "gelu": gelu, "x": x})
    return duels, starts(GELU_PROGRAM, measuring=bool(measuring))


def when_it_has_paid_figures(found: tuple[dict[int, Duel], Starts] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(cannot_compile())
    duels, cached = found
    small, *_, large = map(Interval.duel, duels.values())
    calls = {size: paid_after(cached.empty, each) for size, each in duels.items()}
    most = calls[max(duels)]
    rows = [
        (size, each.baseline_s, each.candidate_s, each.ratio, clear(calls[size]))
        for size, each in duels.items()
    ]  # fmt: skip
    return {
        "sizes": Rows(rows),
        "calls": most if math.isfinite(most.high) else None,
        "large_to_small": quotient(large, small),
        **start_figures(cached),
    }


def quotient(one: Interval, other: Interval) -> Interval:
    """Return the interval of `one` ÷ `other`, two positive values. It is unknown if both can be infinite."""
    pairs = ((one.middle, other.middle), (one.lowest, other.highest), (one.highest, other.lowest))
    ends = [a / b if b else math.inf for a, b in pairs]
    return Interval.unknown() if any(map(math.isnan, ends)) else Interval(*ends)


def paid_after(start: Start | None, contest: Duel) -> Interval:
    """Return the number of calls after which compiling pays off: infinite if never, unknown if `start` is None.

    The time for compiling is the time of the first call minus the time of the second call.
    """
    if start is None:
        return Interval.unknown()
    compile_s, slow_s = start.first_s - start.again_s, contest.baseline_s
    ratios = Interval.duel(contest).inverse()
    return ratios.mapped(lambda ratio: calls_to_break_even(compile_s, slow_s, slow_s * ratio))


def clear(calls: Interval) -> float | None:
    """Return the middle of an interval, or None if only one of its ends is infinite, so that noise decides."""
    return None if math.isinf(calls.high) and math.isfinite(calls.low) else calls.middle


# ── 8 ─────────────────────────────────────────────────────────────────────────────────────────
def attend(x: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (x @ q) @ (x @ k).t() @ (x @ v)


def ready_at(graph: fx.Graph) -> dict[int, list[str]]:
    level: dict[fx.Node, int] = {}
    ready: dict[int, list[str]] = {}
    for node in graph.nodes:
        before = [level[each] + 1 for each in node.all_input_nodes]
        level[node] = max(before, default=0)
        if node.target is operator.matmul:
            ready.setdefault(level[node], []).append(node.name)
    return ready


def what_does_not_wait(budget_s: float = 0.6) -> tuple[dict[int, list[str]], Duel]:
    torch.set_num_threads(1)
    ready = ready_at(fx.symbolic_trace(attend).graph)
    x, (q, k, v) = torch.rand(1, 64), torch.rand(3, 64, 64)
    qkv = torch.cat([q, k, v], 1)
    known = {"x": x, "q": q, "k": k, "v": v, "wide": qkv}
    three = "x @ q; x @ k; x @ v"
    wide = duel("x @ wide", three, globals=known, budget_s=budget_s)
    return ready, wide


def what_does_not_wait_figures(found: tuple[dict[int, list[str]], Duel]) -> Figures:
    ready, wide = found
    return {
        "first": len(ready[min(ready)]),
        "wide_gain": Interval.duel(wide),
    }


# ── 9 ─────────────────────────────────────────────────────────────────────────────────────────
def for_history() -> tuple[bool, bool] | None:
    if torchscript_support().reason:
        return None
    light, dark = torch.ones(4), torch.full((4,), -3.0)
    with torchscript_warnings_hidden():  # hides torch's warnings
        scripted = torch.jit.script(brighten)
        traced = torch.jit.trace(brighten, light, check_trace=False)
    scripted_right = torch.equal(scripted(dark), brighten(dark))
    return scripted_right, torch.equal(traced(dark), brighten(dark))


def for_history_figures(found: tuple[bool, bool] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(torchscript_support().reason)
    scripted_right, traced_right = found
    return {"letter": "a" if traced_right else "b", "differ": scripted_right and not traced_right}


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
