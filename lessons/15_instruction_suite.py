"""Lesson 15: a benchmark suite as data.

The steps appear on the screen in the order of this file. The lesson keeps compiled code in the user's cache folder, so
the first run takes the longest time.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from torch.utils.benchmark import Timer

from harness.charts import plots
from harness.charts.pictures import bar_chart_svg
from harness.machine import lanes
from harness.rendering import units
from harness.rendering.tables import Table
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
from harness.suite.results import SAME, Result, Suite, SuiteComparison, SuiteSettings, load, signed_percent, titled
from harness.suite.runner import measure
from lessons.engine import Choice, Guess, Interval, Lesson, Page
from lessons.engine.command import main
from lessons.engine.words import followed, things

lesson = Lesson(
    __file__,
    objective="You can define a benchmark once, run it in Python and C++, eager and compiled, and compare two runs.",
)


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
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


@lesson.given
class Definition(NamedTuple):
    benchmarks: tuple[Benchmark, ...]
    median_s: float


@lesson.step(
    "One definition",
    predict=Guess(
        "A statement has three versions: eager in Python, eager in C++, and compiled in Python. Each version runs with "
        "and without a backward pass, and on 1 and on 2 threads. How many benchmarks are there in total?",
        "benchmarks",
        near=1.01,
    ),
    expected="12 benchmarks",
    wrong_reasoning="Students add the numbers of choices. But each version is combined with each pass and each number "
    "of threads, so the numbers are multiplied.",
)
def one_definition() -> Definition:
    """PyTorch has a suite of benchmarks that count instructions. This kit has a suite with the same classes.

    A benchmark of these suites is data: a statement in Python, a statement in C++, a setup, and a signature. The
    signature names the inputs and the output, such as "f(x, w) -> loss". From these four parts, this kit's suite
    generates further versions of the benchmark: a function for `torch.compile`, and the statement followed by
    `loss.backward()`. `materialize` returns all versions as a flat list with one `TimerArgs` each, and runs no
    benchmark.
    """
    grouped = replace(one_weight(), num_threads=(1, 2))
    works = Benchmark.all_of(materialize({("one weight",): grouped}))
    args = works[0].args
    timer = Timer(
        args.stmt,
        args.setup,
        args.global_setup,
        num_threads=args.num_threads,
        language=args.language,
    )
    timed = timer.blocked_autorange(min_run_time=0.05)
    return Definition(works, timed.median)


PRODUCT = one_definition.claim(
    "a-product", "from one definition, the suite generates 3 × 2 × 2 benchmarks", equals=12, unit=things("benchmark")
)
ALL_DIFFER = one_definition.claim(
    "all-differ", "no two benchmarks have the same statement, language and number of threads", equals=12
)
SETUP_KEPT = one_definition.claim(
    "global-setup-kept",
    "each C++ benchmark contains the global setup, and no Python benchmark contains the global setup",
    equals=12,
    unit=followed("of 12 are right"),
)
TIMER_TAKES_IT = one_definition.claim(
    "timer-takes-it",
    "`Timer` accepts the arguments of the first benchmark without changes, and measures a time from 100 ns to 10 ms",
    at_least=1e-7,
    at_most=1e-2,
    unit=units.seconds,
)


@one_definition.explain
def _(page: Page, found: Definition) -> None:
    works, median_s = found
    rows = [
        (each.runtime, each.autograd, language(each.is_cpp), last_line(each.args.stmt))
        for each in works
        if each.args.num_threads == 1
    ]
    heads = dict.fromkeys(("runtime", "autograd", "language", "last line of the statement"))
    page.table(Table.of("The benchmarks on one thread", heads, rows))
    page.reveal(len(works))
    page.settle(PRODUCT, len(works))
    page.settle(ALL_DIFFER, len({(each.args.stmt, each.args.language, each.args.num_threads) for each in works}))
    page.settle(SETUP_KEPT, sum(("#include <numbers>" in each.args.global_setup) == each.is_cpp for each in works))
    page.settle(TIMER_TAKES_IT, median_s, remark="one run of the first benchmark")
    page.say(
        "The suite generates each version of the statement, so the author of a benchmark cannot forget a version. In",
        "one language, all versions come from the same text, so they measure the same computation.",
    )
    page.say(
        "PyTorch's suite is older than `torch.compile`. In PyTorch's suite, the option for a compiled version is "
        "`torchscript=True`, for Python and C++, which the exercise uses. In this kit, it means the same as "
        "`compiled=True`. PyTorch's suite does not have the option `compiled=True`.",
    )
    page.say(
        "PyTorch's `materialize` leaves out the global setup (`benchmarks/instruction_counts/core/expand.py`). Without "
        "the global setup, a C++ statement that needs its own `#include` does not compile.",
    )


def language(is_cpp: bool) -> str:
    return "C++" if is_cpp else "Python"


def last_line(statement: str) -> str:
    """Return the last line of a statement, shortened to at most 48 characters."""
    return shorten(statement.splitlines()[-1], 48, placeholder=" …")


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def ones() -> GroupedSetup:
    return GroupedSetup(
        "x = torch.ones(4)",
        "auto x = torch::ones({4});",
    )


@lesson.given
def relu() -> GroupedBenchmark:
    return GroupedModules(
        "model = torch.nn.ReLU()",
        "auto model = torch::nn::ReLU();",
        ones(),
        signature="f(x) -> y",
    )


@lesson.step(
    "Nested names",
    predict=Choice(
        "`GroupedVariants` gets a block of Python code: a setup, a label with one line below it, and a label with two"
        " lines below it. How many benchmarks does `GroupedVariants` make from this block?",
        {"a": "2, one per label", "b": "3, one per line", "c": "4 or more"},
        limits=(3, 4),
    ),
    expected="b",
    wrong_reasoning="Students think that the lines below a label belong together. But each line is a benchmark of its "
    "own.",
)
def names_within_names() -> dict[tuple[str, ...], tuple[Benchmark, ...]]:
    """A file of definitions contains a dict, whose values may also be dicts.

    The function `flatten` joins the nested names. A definition can have one of several kinds. For a torch module with
    the name `model`, `GroupedModules` writes the call of the module. `parse_stmts` reads Python code from one column of
    a text and C++ code from a second column. `GroupedVariants` makes a benchmark from each line of a block of code.
    `TimerArgs` is a single benchmark without further versions.
    """
    sides = r"""
    Python                                   | C++
    ---------------------------------------- | ---------------------
    z = x.neg()                              | auto z = x.neg();
    z.add_(1)                                | z.add_(1);
    """
    block = """
    # @setup
    x = torch.ones(4)
    # @one
    x.neg()
    # @two
    x[0]
    x[1:]
    """
    flat = flatten({
        "by hand": TimerArgs("torch.ones(2)"),
        ("View", "add"): GroupedStmts(*parse_stmts(sides), ones()),
        "Module": {"ReLU": relu()},
        "Variants": GroupedVariants(py_block=block),
    })  # fmt: skip
    return {
        label: Benchmark.all_of(materialize({label: each}))
        for label, each in flat.items()
    }  # fmt: skip


WHOLE_NAMES = names_within_names.claim(
    "names-are-whole", "`flatten` returns six definitions with different names", equals=6, unit=things("name")
)
CASE_PER_LINE = names_within_names.claim(
    "a-line-a-case",
    "from one label with two lines of code, the suite makes two definitions",
    equals=2,
    unit=things("definition"),
)
MODEL_CALLED = names_within_names.claim(
    "a-model-called",
    "in both languages, the suite calls a module with the inputs of the signature, and stores its output",
    equals=2,
    unit=followed("of 2 calls"),
)


@names_within_names.explain
def _(page: Page, flat: dict[tuple[str, ...], tuple[Benchmark, ...]]) -> None:
    rows = [(" · ".join(label), len(works), works[0].args.stmt.splitlines()[0]) for label, works in flat.items()]
    heads = {"name": None, "benchmarks": units.count, "first line of the first benchmark": None}
    page.table(Table.of("The definitions after `flatten`", heads, rows))
    variants = [label for label in flat if label[0] == "Variants"]
    page.reveal(len(variants), f"`GroupedVariants` made {units.some(len(variants), 'benchmark')}.")
    page.settle(WHOLE_NAMES, len(flat))
    page.settle(CASE_PER_LINE, sum(label[1] == "two" for label in variants))
    called = [each.args.stmt for each in flat["Module", "ReLU"]]
    page.settle(MODEL_CALLED, sum(stmt in {"y = model(x)", "auto y = model->forward(x);"} for stmt in called))
    page.say(
        "The Python classes of this kit have the same names and meanings as in PyTorch's suite (the folder"
        " `benchmarks/instruction_counts` in PyTorch's source). To run a file of PyTorch's definitions with this kit,"
        " change its imports.",
    )


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def troubled(
    threads: tuple[int, ...],
) -> dict[str, TimerArgs | GroupedBenchmark]:
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
        "also sound": TimerArgs("sum(range(9))"),
    }


@lesson.step(
    "Worker processes with their own cores",
    predict=Choice(
        "In a suite, one benchmark raises an exception, and a second benchmark ends its process. How many of the other"
        " benchmarks does the suite measure?",
        {"a": "none", "b": "some", "c": "all"},
        limits=(0.01, 1),
    ),
    expected="c",
    wrong_reasoning="Students think that a failed process ends the suite. But each benchmark runs in a process of its "
    "own.",
    fast={"most_threads": 1},
)
def workers_and_cores(most_threads: int = 2) -> Suite:
    """Each benchmark runs in its own process, forked from a worker that has already imported torch.

    While a worker measures, one core per thread is reserved for it. On Linux, the worker runs only on these cores. File
    locks prevent other processes of this kit from reserving the same cores. The output of a benchmark goes to a file,
    and its results go through a separate channel. The suite saves each result immediately. If a run is interrupted, the
    next run measures only the missing benchmarks.
    """
    threads = tuple(range(1, most_threads + 1))
    works = Benchmark.all_of(materialize(flatten(troubled(threads))))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "suite.json"
        settings = SuiteSettings(min_run_time_s=0.1)
        measure(works, out, settings, count=False)
        return load(out)


OTHERS_GO_ON = workers_and_cores.claim(
    "others-go-on", "a failed benchmark does not stop the measurement of the other benchmarks"
)
FAULTS_REPORTED = workers_and_cores.claim(
    "faults-are-told",
    "for each of the two failed benchmarks, the suite reports a reason",
    equals=2,
    unit=followed("of 2"),
)
CORE_PER_THREAD = workers_and_cores.claim(
    "a-core-a-thread",
    "the suite reserves one core per thread for each benchmark, or all cores if there are fewer cores than threads",
)


@workers_and_cores.explain
def _(page: Page, suite: Suite) -> None:
    show_suite(page, suite)
    sound = [each for each in suite.results if each.label[0] not in {"raises", "ends its process"}]
    measured = sum(bool(each.times_s) for each in sound)
    reported = sum(bool(each.failure) for each in suite.results if each not in sound)
    total = followed(f"of {len(sound)}")
    page.reveal(measured / len(sound), f"The suite measured {measured} of the {len(sound)} other benchmarks.")
    page.settle(OTHERS_GO_ON, measured, at_least=len(sound), at_most=len(sound), unit=total)
    page.settle(FAULTS_REPORTED, reported)
    cores = lanes.physical_cores()
    right = sum(len(set(each.cores)) == min(each.num_threads, cores) for each in sound)
    page.settle(CORE_PER_THREAD, right, at_least=len(sound), at_most=len(sound), unit=total)
    page.say(
        f"This process may use {units.some(cores, 'physical core')}. With a single core, benchmarks run one after"
        " another. With several cores, benchmarks on different cores can run at the same time.",
    )
    page.say(
        "PyTorch's suite has three limits (`execution/work.py` and `execution/runner.py` in its source). First, "
        "PyTorch's suite reads a worker's pipe only after the worker has ended. If a worker prints more than a pipe "
        "can hold, it therefore waits until its timeout. The benchmark `prints` of this step prints more than a pipe "
        "can hold. Second, one failed benchmark stops the whole run. Third, the default settings of PyTorch's suite "
        "need a machine with at least four logical cores.",
    )


def show_suite(page: Page, suite: Suite) -> None:
    """Print a table with the results of a suite."""
    rows = [
        (
            " · ".join(each.label),
            each.num_threads,
            each.median_s,
            " ".join(map(str, each.cores)),
            each.failure.partition(":")[0],
        )
        for each in suite.results
    ]
    heads = {"benchmark": None, "threads": units.count, "time": units.seconds, "cores": None, "failure": None}
    page.table(Table.of("The results in the JSON file", heads, rows))


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
def twice(whole: bool) -> tuple[Benchmark, ...]:
    once = one_weight(whole)
    both = {"first": once, "second": once}
    return Benchmark.all_of(materialize(flatten(both)))


@lesson.given
def short() -> SuiteSettings:
    return SuiteSettings(min_run_time_s=0.1, number=50, repeats=3)


@lesson.given
def results_file() -> Path:
    name = f"fairclock-lesson-15-{os.getpid()}.json"
    return Path(tempfile.gettempdir()) / name


@lesson.step(
    "Time and instructions of every version",
    predict=Choice(
        "Python code multiplies two 8 × 8 matrices and adds up the elements of the product. What is the time of this"
        " code with `torch.compile` divided by its time in eager mode?",
        {"a": "less than 0.9", "b": "0.9 to 1.1", "c": "more than 1.1"},
        limits=(0.9, 1.1),
    ),
    expected="c",
    wrong_reasoning="Students think that a compiled version is always faster. But with so few numbers, calling the "
    "compiled code costs more time than it saves.",
    fast={"whole": 0},
)
def every_form(whole: int = 1) -> Suite:
    """Now we run the definition of step 1 under two names, so that the suite measures each benchmark twice.

    The suite compiles several C++ statements into one library, because the compiler spends most of its time on torch's
    headers. Then worker processes measure wall times. `torch.compile` runs in the setup, which is not timed. But each
    call of a compiled function first checks its guards (lesson 12).

    Last, worker processes under valgrind count instructions. A worker imports torch once, and runs each benchmark in a
    forked process. The suite does not count the instructions of compiled versions, because valgrind may not support all
    instructions of this processor. If the counts of this code are in the cache folder from an earlier run, the suite
    uses them.

    The command for a file of definitions is `python -m harness.suite FILE.py --out FILE.json`.
    """
    return measure(
        twice(whole=bool(whole)),
        results_file(),
        short(),
        fresh=True,
    )


PYTHON_COSTS = every_form.claim(
    "python-has-a-price",
    "the forward pass executes more instructions if it is called from Python than from C++",
    at_least=1,
    unit=units.ratio,
)
BACKWARD_COSTS = every_form.claim(
    "backward-is-dear",
    "the forward and the backward pass together execute more than twice the instructions of the forward pass",
    at_least=2,
    unit=units.ratio,
)
COMPILED_SLOWER = every_form.claim(
    "compiled-is-no-gift",
    "on 8 × 8 matrices, the compiled version takes longer than the eager version",
    at_least=1,
    unit=units.ratio,
)

EAGER, COMPILED = ("Eager", "Forward", "Python"), ("Compiled", "Forward", "Python")
IN_CPP, BACKWARD = ("Eager", "Forward", "C++"), ("Eager", "Forward + Backward", "Python")


@every_form.explain
def _(page: Page, suite: Suite) -> None:
    forms = {form(each): each for each in suite.results if each.label == ("first",)}
    rows = [(*name, each.median_s, each.instructions_per_run) for name, each in forms.items()]
    heads = {"runtime": None, "autograd": None, "language": None, "time": units.seconds, "instructions": units.count}
    page.table(Table.of("One run of `x @ w` with a sum", heads, rows))
    known = {name: each.instructions_per_run for name, each in forms.items() if each.instructions_per_run}
    if known:
        show_counts(page, known)
    for claim, more, less in ((PYTHON_COSTS, EAGER, IN_CPP), (BACKWARD_COSTS, BACKWARD, EAGER)):
        absent = [name for name in (more, less) if name not in known]
        if absent:
            page.skip(claim, missing(suite, absent[0]))
        else:
            page.settle(claim, known[more] / known[less])
    explain_compiled(page, suite)


def show_counts(page: Page, known: dict[tuple[str, str, str], float]) -> None:
    """Print and save a bar chart of the instruction counts of the versions that were counted."""
    bars = [(" ".join(name), count) for name, count in known.items()]
    caption = "Instructions of one run of each version"
    page.drawing(
        plots.bars(bars, width=30, unit=units.count),
        bar_chart_svg(bars, title=caption, unit=units.count),
        name="forms",
        caption=caption,
    )


def explain_compiled(page: Page, suite: Suite) -> None:
    """Record whether the compiled version takes longer than the eager version, and explain this result."""
    eager, compiled = (
        [each.median_s for each in suite.results if form(each) == wanted and each.median_s]
        for wanted in (EAGER, COMPILED)
    )
    ratio = Interval.every(long / short for long in compiled for short in eager).with_noise(page.noise)
    if not eager or not compiled:
        page.reveal(ratio)
        page.skip(COMPILED_SLOWER, missing(suite, COMPILED))
        page.say(
            "If the suite has measured both versions, this step compares the compiled version with the eager version."
        )
        return
    page.settle(COMPILED_SLOWER, ratio)
    took = f"The compiled version takes {units.ratio(ratio.middle)} as long as the eager version."
    between = f"The measured ratios lie between {units.ratio(ratio.low)} and {units.ratio(ratio.high)}."
    page.reveal(ratio, COMPILED_SLOWER.words(held=took, refuted=took, unclear=between))
    page.say(
        COMPILED_SLOWER.words(
            held="Each call of a compiled function checks its guards first, and then runs wrapper functions. With "
            "large tensors, `torch.compile` can save more time than the guards and wrappers take, as lesson 12 shows. "
            "With small tensors as in this step, `torch.compile` saves less time than they take.",
            refuted="In this run the compiled version is faster even on small tensors. Compilation saves more time "
            "than the guards and wrappers take.",
            unclear="This run does not show whether the compiled or the eager version is faster.",
        )
    )


def form(result: Result) -> tuple[str, str, str]:
    """Return the runtime, the autograd mode and the language of a result."""
    return result.runtime, result.autograd, result.language


def missing(suite: Suite, wanted: tuple[str, str, str]) -> str:
    """Return the reason why the suite did not measure or count the version `wanted`."""
    mine = [each for each in suite.results if form(each) == wanted]
    if not mine:
        return "--fast leaves out the compiled version, so run the lesson once without --fast"
    reasons = (each.failure or each.left_out or each.uncounted for each in mine)
    return next(filter(None, reasons), "the suite has no result for this version")


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────


@lesson.given
class Compared(NamedTuple):
    written: Suite
    again: Suite
    halves: SuiteComparison


@lesson.step(
    "Two runs compared",
    predict=Choice(
        "The suite measured each version of a statement twice. Do the two instruction counts agree within 0.5 % for "
        "most versions (more than 80 %)? Do the two wall times agree within 0.5 %, too?",
        {
            "a": "the counts and the times agree for most versions",
            "b": "the counts agree for most versions, the times do not",
            "c": "the counts agree for at most 80 % of the versions",
        },
    ),
    expected="b",
    wrong_reasoning="Students think that counts and times are equally repeatable. But other programs change the "
    "times, and they do not change the instructions.",
    fast={"whole": 0},
    needs=every_form,
)
def two_runs_compared(whole: int = 1) -> Compared:
    """`python -m harness.suite compare A.json B.json` compares two runs.

    In this step, we compare two halves of one run of the suite. Each process that counts instructions starts in the
    same state: with a fixed hash seed and an unused heap. If the system allows it, the memory layout is fixed too. In a
    heap that was used before, the cost of an allocation depends on the memory that the program freed. The counts leave
    out the instructions of dict look-ups, which depend on hashes.
    """
    written = load(results_file())
    again = measure(
        twice(whole=bool(whole)),
        results_file(),
        short(),
    )
    results_file().unlink()
    halves = []
    for half in ("first", "second"):
        results = tuple(
            replace(each, label=("x @ w",))
            for each in again.results
            if each.label == (half,)
        )  # fmt: skip
        halves.append(replace(again, results=results))
    return Compared(written, again, SuiteComparison.of(*halves))


GOES_ON = two_runs_compared.claim(
    "goes-on",
    "if the suite runs a second time with the same file, it keeps all results and measures no benchmark again",
)
COUNTS_AGREE = two_runs_compared.claim(
    "counts-agree",
    "for each counted version of a statement, the two instruction counts agree within 0.5 %",
    at_most=SAME,
    unit=units.percent,
)
TIMES_DIFFER = two_runs_compared.claim(
    "times-do-not",
    "for at least one version of a statement, the two wall times differ by more than 0.5 %",
    at_least=SAME,
    unit=units.percent,
)


@two_runs_compared.explain
def _(page: Page, found: Compared) -> None:
    written, again, compared = found
    show_halves(page, compared)
    same = sum(each.times_s == other.times_s for each, other in zip(written.results, again.results, strict=True))
    whole = len(written.results)
    page.settle(GOES_ON, same, at_least=whole, at_most=whole, unit=followed(f"of {whole} unchanged"))
    times = [abs(pair.time_change) for pair in compared.changes if pair.time_change is not None]
    counts = [abs(pair.count_change) for pair in compared.changes if pair.count_change is not None]
    if counts:
        page.settle(COUNTS_AGREE, max(counts), remark="the largest difference")
    else:
        page.skip(COUNTS_AGREE, missing(again, form(again.results[0])))
    page.settle(TIMES_DIFFER, largest_of(times), remark="the largest difference")
    page.reveal(agreement(counts, times))
    page.say(
        COUNTS_AGREE.words(
            held=f"A change of more than {units.percent(SAME)} in a count is therefore probably not noise. To find the "
            "same change in the wall times, you need many runs and a quiet machine.",
            refuted="In this run, two instruction counts of the same version also differ. Find the cause before you "
            "compare counts. Common causes of different counts are hash seeds, heaps and caches.",
            unclear="This run has no instruction counts to compare.",
        ),
        "An instruction count does not include all costs, as lesson 08 shows. If a count changes, measure whether the"
        " time changes too.",
    )


def show_halves(page: Page, compared: SuiteComparison) -> None:
    """Print a table with both measurements of each version, and the relative change between the measurements."""
    rows = []
    for pair in compared.changes:
        timed = (pair.first.median_s, pair.second.median_s, pair.time_change)
        counted = (pair.first.instructions_per_run, pair.second.instructions_per_run, pair.count_change)
        rows.append((titled(pair.first)[1], *timed, *counted))
    heads: dict[str, Callable[[float], str] | None] = {"x @ w": None, "time": units.seconds, "again": units.seconds}
    heads |= {"change": signed_percent, "instructions": units.count, "again ": units.count, "change ": signed_percent}
    page.table(Table.of("Two measurements of each version", heads, rows))


def largest_of(changes: list[float]) -> Interval:
    """Return the largest of the changes as an interval. It is unknown if there are no changes."""
    return Interval.exact(max(changes)) if changes else Interval.unknown()


def agreement(counts: list[float], times: list[float]) -> str | None:
    """Return the letter of the right option, or None if the counts or the times are missing."""
    if not counts or not times:
        return None
    counts_agree, times_agree = (sum(each <= SAME for each in kind) > 0.8 * len(kind) for kind in (counts, times))
    if not counts_agree:
        return "c"
    return "a" if times_agree else "b"


lesson.key_points = (
    "Define each benchmark once. The suite generates a version of the benchmark for each runtime and language.",
    (
        "Run each benchmark in its own process on its own cores. The failure of one benchmark then does not affect the "
        "other benchmarks."
    ),
    "Save the raw samples and the environment in a file, and compare the files. Instruction counts show small changes.",
)
lesson.references = (
    "PyTorch's instruction-count suite: github.com/pytorch/pytorch, benchmarks/instruction_counts",
    "This kit's standard definitions: harness/suite/standard.py. Its workers: harness/suite/worker.py",
    "asv, airspeed velocity, runs a suite over the history of a project: asv.readthedocs.io",
)

if __name__ == "__main__":
    main(lesson)
