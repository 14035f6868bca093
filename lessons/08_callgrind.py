"""Lesson 08: count instructions where times are too uncertain.

Step 3 makes the counts of torch that take a long time, and keeps them in the user's cache folder. The later steps read
these counts.
"""

from pathlib import Path
from time import thread_time

import torch
from torch.utils.benchmark import CallgrindStats, FunctionCounts, Timer

from harness.callgrind.collect import Snippet, SnippetCounts, collect, collect_all
from harness.callgrind.lookups import denoise, picture
from harness.callgrind.script import ScriptCounts, count_scripts
from harness.callgrind.tools import lacking
from harness.charts import plots
from harness.rendering import units
from lessons.engine.api import Drawing, Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def squares(n: int) -> str:
    return f"""
def squares():
    total = 0
    for i in range({n}):
        total += i * i
squares()
"""


def counted_twice(
    n: int = 20_000,
) -> tuple[list[ScriptCounts], list[ScriptCounts]] | None:
    if lacking():
        return None
    twice = [squares(n)] * 2
    fixed = count_scripts(twice)
    by_chance = count_scripts(twice, hash_seed="random")
    return fixed, by_chance


def counted_twice_figures(found: tuple[list[ScriptCounts], list[ScriptCounts]] | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking())
    fixed, by_chance = ([each.instructions for each in some] for some in found)
    return {
        "counts": Rows([fixed, by_chance]),
        "share": Interval.exact(abs(fixed[1] - fixed[0]) / fixed[0]),
        "values": len({fixed[0], *by_chance}),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
def two_orders(n: int) -> str:
    return f"""
in_order = list(range({n}))
jumping = []
for k in range(1_000):
    jumping += in_order[k * 389 % 1_000::1_000]

def visit(numbers):
    for number in numbers:
        pass
"""


Orders = tuple[list[int], list[float], list[float], int]


def a_count_is_no_time(turns: int = 5, n: int = 1_000_000) -> Orders | None:
    if lacking():
        return None
    setup = two_orders(n)
    first, second = "visit(in_order)", "visit(jumping)"
    counts = count_scripts([f"{setup}{first}\n", f"{setup}{second}\n"])
    in_order = Timer(first, setup, timer=thread_time)
    jumping = Timer(second, setup, timer=thread_time)
    in_order_s, jumping_s = [], []
    for _ in range(turns):
        in_order_s.append(in_order.timeit(3).median)
        jumping_s.append(jumping.timeit(3).median)
    count, other = (each.instructions for each in counts)
    return [count, other], in_order_s, jumping_s, n


def a_count_is_no_time_figures(found: Orders | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking())
    (first, second), in_order_s, jumping_s, n = found
    return {
        "orders": Rows([(first, min(in_order_s)), (second, min(jumping_s))]),
        "n": n,
        "slower": Interval.every(b / a for a, b in zip(in_order_s, jumping_s, strict=True)),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def in_python() -> Snippet:
    return Snippet("x * y", setup="x, y = torch.ones(2, 128)", repeats=3)


def in_cpp(numbers: int, runs: int = 1) -> Snippet:
    setup = """
        auto x = torch::ones({128});
        auto y = torch::ones({std::atol(std::getenv("NUMBERS"))});
    """
    return Snippet(
        "x * y;",
        setup,
        language="cpp",
        runs=runs,
        environment={"NUMBERS": str(numbers)},
    )


def a_statement_of_torch(compiling: int = 1) -> dict[str, SnippetCounts]:
    return collect_all(
        {
            "Python": in_python(),
            "C++": in_cpp(numbers=128, runs=2),
            "C++, broadcast": in_cpp(numbers=1),
        },
        compiling=bool(compiling),
    )


def a_statement_of_torch_figures(counted: dict[str, SnippetCounts]) -> Figures | Lacking:
    python = counted["Python"]
    if python.reason:
        return Lacking(python.reason)
    stats = python.stats
    return {
        "repeats": Rows(
            [
                (n, each.counts(), each.counts(denoise=True), denoise(each.stats()).sum())
                for n, each in enumerate(python.all, start=1)
            ]
        ),
        "runs": stats.number_per_run,
        "per_run": stats.counts() / stats.number_per_run,
        "different": len({each.counts() for each in python.all}),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def function_name(function: str) -> str:
    name = function.partition(":")[2].partition(" [")[0]
    name = name.replace("(anonymous namespace)::", "")
    return name.partition("(")[0] or name


def group_by_file(function: str) -> str:
    file, _, rest = function.partition(":")
    if file == "???" and rest.endswith("]"):
        return "[" + rest.rpartition("/")[2]
    return "/".join(Path(file).parts[-2:])


def without_file(function: str) -> bool:
    return function.startswith("???")


Places = tuple[CallgrindStats, FunctionCounts, FunctionCounts, FunctionCounts, str]


def where_it_is() -> Places | str:
    python = collect(in_python())
    if python.reason:
        return python.reason
    short = python.stats.as_standardized().stats()
    torch.set_printoptions(linewidth=76)
    printed = repr(short[:9])
    torch.set_printoptions(profile="default")
    own = python.stats.stats()
    names = own.transform(function_name)
    files = own.transform(group_by_file)
    unknown = own.filter(without_file)
    return python.stats, names, files, unknown, printed


def where_it_is_figures(found: Places | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    stats, names, files, unknown, printed = found
    own, total = stats.stats(), stats.counts()
    bars = [(shortened(each.function, 36), float(each.count)) for each in list(names)[:6]]
    return {
        "printed": "\n".join(printed.splitlines()[1:]),
        "functions": Drawing(
            plots.bars(bars, width=24, unit=units.count),
            picture(names, title="x * y from Python: instructions by function"),
        ),
        "files": Rows([(shortened(each.function), each.count, each.count / total) for each in list(files)[:6]]),
        "largest": max(each.count for each in own) / total,
        "inclusive": stats.stats(inclusive=True).sum() / total,
        "unknown_files": unknown.sum() / total,
    }


def shortened(name: str, most: int = 46) -> str:
    """Return a name with at most `most` characters. An ellipsis replaces the beginning of a longer name."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def the_same_in_cpp(
    compiling: int = 1,
) -> tuple[SnippetCounts, SnippetCounts, list[float]]:
    cpp = collect(in_cpp(numbers=128, runs=2), compiling=bool(compiling))
    statement = Timer("x * y", setup="x, y = torch.ones(2, 128)")
    times = [
        statement.blocked_autorange(min_run_time=0.05).median
        for _ in range(5)
    ]  # fmt: skip
    return cpp, collect(in_python()), times


def the_same_in_cpp_figures(found: tuple[SnippetCounts, SnippetCounts, list[float]]) -> Figures | Lacking:
    cpp, python, times = found
    if reason := cpp.reason or python.reason:
        return Lacking(reason)
    first, second = (each.counts() for each in cpp.all[:2])
    runs = cpp.stats.number_per_run
    return {
        "counts": Rows([(count / runs,) for count in (first, second, python.stats.counts())]),
        "apart": abs(second / first - 1),
        "times_apart": max(times) / min(times) - 1,
        "whole": first,
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
Difference = tuple[FunctionCounts, FunctionCounts, FunctionCounts, FunctionCounts]


def what_a_broadcast_costs(compiling: int = 1) -> Difference | str:
    may_compile = bool(compiling)
    plain = collect(in_cpp(numbers=128, runs=2), compiling=may_compile)
    broadcast = collect(in_cpp(numbers=1), compiling=may_compile)
    if plain.reason or broadcast.reason:
        return plain.reason or broadcast.reason
    delta = broadcast.stats.delta(plain.stats)
    left = plain.stats.stats() + delta - broadcast.stats.stats()
    new = broadcast.stats.as_standardized()
    old = plain.stats.as_standardized()
    chain = new.delta(old).denoise().transform(function_name)
    return plain.stats.stats(), delta, left, chain


def what_a_broadcast_costs_figures(found: Difference | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    plain, delta, left, chain = found
    ranked = sorted(chain, key=lambda each: -each.count)
    return {
        "chain": Rows([(shortened(each.function), each.count) for each in [*ranked[:5], *ranked[-3:]]]),
        "more": delta.sum(),
        "more_per_run": delta.sum() / 100,
        "more_share": delta.sum() / plain.sum(),
        "left": sum(abs(each.count) for each in left),
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def two_loops() -> str:
    return """
        using at::Tensor;
        [[gnu::noinline]]
        long value(Tensor x) { return x.dim(); }
        [[gnu::noinline]]
        long reference(const Tensor& x) { return x.dim(); }
        void by_value(const Tensor& x, long calls) {
          while (calls--) value(x);
        }
        void by_reference(const Tensor& x, long calls) {
          while (calls--) reference(x);
        }
    """


def by_value_by_reference(compiling: int = 1) -> tuple[FunctionCounts, int] | str:
    loops = ("by_value", "by_reference")
    snippet = Snippet(
        "; ".join(f"extension.{loop}(x, 100)" for loop in loops),
        setup="x = torch.ones(4, 32)",
        number=10,
        extension=two_loops(),
        functions=loops,
    )
    found = collect(snippet, compiling=bool(compiling))
    if found.reason:
        return found.reason
    counts = found.stats.stats(inclusive=True)
    return counts, 100 * found.stats.number_per_run


def by_value_by_reference_figures(found: tuple[FunctionCounts, int] | str) -> Figures | Lacking:
    if isinstance(found, str):
        return Lacking(found)
    counts, calls = found
    value, reference = (per_call(counts, calls, name) for name in ("by_value", "by_reference"))
    return {
        "calls": Rows([("Tensor", value), ("const Tensor&", reference)]),
        "more": max(value - reference, 0.1),
        "times": Interval.exact(value / reference) if reference else Interval.unknown(),
    }


def per_call(counts: FunctionCounts, calls: int, name: str) -> float:
    """Return the instructions per call in the loop `name`. Return 0 if the counts do not contain this loop."""
    return max((each.count for each in counts if function_name(each.function) == name), default=0) / calls


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
