"""Lesson 15: a benchmark suite as data.

The lesson keeps compiled code in the user's cache folder, so the first run takes the longest time.
"""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from harness.machine import lanes
from harness.suite import (
    GroupedBenchmark,
    GroupedModules,
    GroupedSetup,
    GroupedStmts,
    GroupedVariants,
    TimerArgs,
    flatten,
    materialize,
    parse_stmts,
)
from harness.suite.expand import Benchmark
from harness.suite.results import SAME, Result, Suite, SuiteComparison, SuiteSettings, load, titled
from harness.suite.runner import measure
from lessons.engine.api import Figures, Interval, Lacking, Rows, Run
from lessons.engine.api import load as load_lesson
from lessons.engine.command import main


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def one_weight(whole: bool = True) -> GroupedBenchmark:
    in_cpp = "auto loss = torch::matmul(x, w).sum();"
    return GroupedStmts(
        "loss = torch.matmul(x, w).sum()",
        in_cpp if whole else None,
        setup=GroupedSetup(
            py_setup="""
                x = torch.ones(8, 8)
                w = torch.ones(8, 8, requires_grad=True)
            """,
            cpp_setup="""
                auto x = torch::ones({8, 8});
                auto w = torch::ones({8, 8});
                w.set_requires_grad(true);
            """,
            global_setup="#include <numbers>",
        ),
        signature="f(x, w) -> loss",
        compiled=whole,
        autograd=True,
    )


def one_definition() -> tuple[Benchmark, ...]:
    grouped = replace(one_weight(), num_threads=(1, 2))
    return Benchmark.all_of(materialize({("one weight",): grouped}))


def one_definition_figures(works: tuple[Benchmark, ...]) -> Figures:
    rows = [
        (each.runtime, each.autograd, "C++" if each.is_cpp else "Python", each.args.stmt.splitlines()[-1])
        for each in works
        if each.args.num_threads == 1
    ]
    return {
        "works": Rows(rows),
        "total": len(works),
        "kept": sum(("#include <numbers>" in each.args.global_setup) == each.is_cpp for each in works),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
Named = dict[tuple[str, ...], tuple[Benchmark, ...]]


def names_within_names() -> Named:
    ones = GroupedSetup("x = torch.ones(4)", "auto x = torch::ones(4);")
    py = "model = torch.nn.ReLU()"
    cpp = "auto model = torch::nn::ReLU();"
    relu = GroupedModules(py, cpp, ones, signature="f(x) -> y")
    sides = r"""
    Python                                   | C++
    ---------------------------------------- | ---------------------
    z = x.neg()                              | auto z = x.neg();
    """
    block = """
    # @one
    torch.ones(2)
    # @two
    torch.zeros(2)
    torch.arange(2)
    """
    flat = flatten({
        "by hand": TimerArgs("torch.ones(2)"),
        ("View", "neg"): GroupedStmts(*parse_stmts(sides), ones),
        "Module": {"ReLU": relu},
        "Variants": GroupedVariants(py_block=block),
    })  # fmt: skip
    return {
        label: Benchmark.all_of(materialize({label: each}))
        for label, each in flat.items()
    }  # fmt: skip


def names_within_names_figures(flat: Named) -> Figures:
    called = [each.args.stmt for each in flat["Module", "ReLU"]]
    return {
        "names": Rows(
            [(" · ".join(label), len(works), works[0].args.stmt.splitlines()[0]) for label, works in flat.items()]
        ),
        "variants": sum(label[0] == "Variants" for label in flat),
        "calls": sum(stmt in {"y = model(x)", "auto y = model->forward(x);"} for stmt in called),
    }


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def troubled(threads: tuple[int, ...]) -> dict[str, TimerArgs | GroupedBenchmark]:
    sound = GroupedStmts(
        "x @ x",
        setup=GroupedSetup("x = torch.ones(256, 256)"),
        num_threads=threads,
    )
    return {
        "sound": sound,
        "prints": TimerArgs("x += 1", "x = 0; print('-' * 200_000)"),
        "raises": TimerArgs("x + 1"),
        "ends its process": TimerArgs("os._exit(3)", "import os"),
    }


def workers_and_cores(most_threads: int = 2) -> Suite:
    threads = tuple(range(1, most_threads + 1))
    works = Benchmark.all_of(materialize(flatten(troubled(threads))))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "suite.json"
        settings = SuiteSettings(min_run_time_s=0.1)
        measure(works, out, settings, count=False)
        return load(out)


def workers_and_cores_figures(suite: Suite) -> Figures:
    rows = [
        (each.label[0], each.num_threads, each.median_s, " ".join(map(str, each.cores)), each.failure.partition(":")[0])
        for each in suite.results
    ]
    sound = [each for each in suite.results if each.label[0] not in {"raises", "ends its process"}]
    measured, cores = sum(bool(each.times_s) for each in sound), lanes.physical_cores()
    return {
        "results": Rows(rows),
        "sound": len(sound),
        "share": "a" if not measured else "b" if measured < len(sound) else "c",
        "right_cores": sum(len(set(each.cores)) == min(each.num_threads, cores) for each in sound),
        "cores": cores,
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def results_file() -> Path:
    name = f"fairclock-lesson-15-{os.getpid()}.json"
    return Path(tempfile.gettempdir()) / name


def every_form(whole: int = 1) -> Suite:
    once = one_weight(whole=bool(whole))
    both = {"first": once, "second": once}
    return measure(
        Benchmark.all_of(materialize(flatten(both))),
        results_file(),
        SuiteSettings(min_run_time_s=0.1, number=50, repeats=3),
        fresh=True,
    )


Form = tuple[str, str, str]
EAGER, COMPILED = ("Eager", "Forward", "Python"), ("Compiled", "Forward", "Python")


def every_form_figures(suite: Suite, run: Run) -> Figures:
    forms = {form(each): each for each in suite.results if each.label == ("first",)}
    eager, compiled = (
        [each.median_s for each in suite.results if form(each) == wanted and each.median_s]
        for wanted in (EAGER, COMPILED)
    )
    slower = Interval.every(long / short for long in compiled for short in eager).with_factor(run.noise)
    return {
        "forms": Rows([(*name, each.median_s, each.instructions_per_run) for name, each in forms.items()]),
        "compiled_to_eager": slower if eager and compiled else Lacking(missing(suite, COMPILED)),
    }


def form(result: Result) -> Form:
    """Return the runtime, the autograd mode and the language of a result."""
    return result.runtime, result.autograd, result.language


def missing(suite: Suite, wanted: Form) -> str:
    """Return the reason why the suite did not measure or count the version `wanted`."""
    mine = [each for each in suite.results if form(each) == wanted]
    if not mine:
        return "--fast leaves out this version, so run the lesson once without --fast"
    reasons = (each.failure or each.left_out or each.uncounted for each in mine)
    return next(filter(None, reasons), "the suite has no result for this version")


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def two_runs_compared() -> SuiteComparison:
    whole = load(results_file())
    results_file().unlink()
    halves = []
    for half in ("first", "second"):
        results = tuple(
            replace(each, label=("x @ w",))
            for each in whole.results
            if each.label == (half,)
        )  # fmt: skip
        halves.append(replace(whole, results=results))
    return SuiteComparison.of(*halves)


def two_runs_compared_figures(compared: SuiteComparison, run: Run) -> Figures:
    rows = []
    for pair in compared.changes:
        timed = (pair.first.median_s, pair.second.median_s, pair.time_change)
        counted = (pair.first.instructions_per_run, pair.second.instructions_per_run, pair.count_change)
        rows.append((titled(pair.first)[1], *timed, *counted))
    times = [abs(pair.time_change) for pair in compared.changes if pair.time_change is not None]
    counts = [abs(pair.count_change) for pair in compared.changes if pair.count_change is not None]
    uncounted = Lacking(missing(run.result(every_form), EAGER))
    return {
        "pairs": Rows(rows),
        "most_by_count": max(counts) if counts else uncounted,
        "agreement": agreement(counts, times),
        "same": SAME,
    }


def agreement(counts: list[float], times: list[float]) -> str | None:
    """Return the letter of the right option, or None if the counts or the times are missing."""
    if not counts or not times:
        return None
    counts_agree, times_agree = (sum(each <= SAME for each in kind) > 0.8 * len(kind) for kind in (counts, times))
    if not counts_agree:
        return "c"
    return "a" if times_agree else "b"


lesson = load_lesson(__name__)

if __name__ == "__main__":
    main(lesson)
